use crate::passes::testing::{after, count};

/// Assignments to variables that differ in a way.
fn assigned(text: &str, way: &str) -> usize {
    let assignments = text.lines().filter_map(|line| line.trim_start().strip_prefix('$'));
    assignments.filter(|line| line.contains(&format!("{way} = Copy"))).count()
}

#[test]
fn loads_differ_as_their_addresses_do() {
    let text = after("uniformity", "o[l] = i[g] + i[l / 4u] + i[l * 3u];");
    let loads: Vec<&str> = text.lines().filter(|line| line.contains("LoadI32")).collect();
    let kinds: Vec<&str> =
        loads.iter().filter_map(|line| line.split([':', ' ']).find(|word| word.len() == 1)).collect();
    assert_eq!(kinds, ["w", "g", "v"], "{text}");
    assert_eq!(count(&text, ":+3 ="), 1, "{text}");
    // What the kernel writes may have changed between two invocations' loads.
    let text = after("uniformity", "o[l] = o[g];");
    assert_eq!((count(&text, ":w = LoadI32"), count(&text, ":g = LoadI32")), (0, 1), "{text}");
}

#[test]
fn a_variable_differs_if_what_is_assigned_does_or_where_it_is() {
    let kinds = |condition: &str, value: &str| {
        let text = after("uniformity", &format!("var k = i[g]; if {condition} {{ k = {value}; }} o[l] = k;"));
        (assigned(&text, ":w"), assigned(&text, ":g"), assigned(&text, ":v"))
    };
    assert_eq!(kinds("g > 3u", "i[g + 1u]"), (2, 0, 0));
    assert_eq!(kinds("g > 3u", "i[l * l]"), (0, 0, 2));
    assert_eq!(kinds("l > 3u", "i[g + 1u]"), (0, 0, 2));
    assert_eq!(kinds("l / 4u > 3u", "i[g + 1u]"), (0, 2, 0));
}

#[test]
fn a_counter_of_rounds_that_are_taken_together_is_one_for_all() {
    let rounds = |jump: &str| {
        let text = after("uniformity", &format!("for (var n = g; n < i[0]; n++) {{ {jump} o[n] = l; }}"));
        assigned(&text, ":w")
    };
    assert_eq!(rounds(""), 2);
    assert_eq!(rounds("if i[n] == 1u { break; }"), 2);
    // Invocations leave it one by one, so that those of two gangs are not in the same round.
    assert_eq!(rounds("if i[l] == 1u { break; }"), 0);
}

use crate::passes::testing::{after, count};

fn loops(body: &str) -> (usize, usize) {
    (count(&after("lower", body), "loop"), count(&after("fold", body), "loop"))
}

#[test]
fn constants_go_through_variables() {
    let body = "var k = 2u; k = k * 3u; if g == 1u { k = k + 1u; } else { k = 7u; } o[l] = k;";
    assert_eq!(count(&after("lower", body), "Mul"), 1);
    let folded = after("fold", body);
    // In both parts it is known, and behind them it is the same.
    assert_eq!((count(&folded, "Mul"), count(&folded, "Add")), (0, 0), "{folded}");
    assert_eq!(count(&folded, "Copy 7"), 2, "{folded}");
}

#[test]
fn a_condition_that_is_known_leaves_one_of_its_parts() {
    let body = "var k = 2u; if k > 1u { o[l] = 5u; } else { o[l] = 6u; }";
    assert_eq!(count(&after("lower", body), "StoreI32"), 2);
    let folded = after("fold", body);
    assert!(count(&folded, "if ") == 0 && count(&folded, ", 5") == 1 && count(&folded, ", 6") == 0, "{folded}");
}

#[test]
fn short_loops_become_their_rounds() {
    assert_eq!(loops("for (var n = 0u; n < 4u; n++) { o[n] = l; }"), (1, 0));
    let folded = after("fold", "for (var n = 0u; n < 4u; n++) { o[n] = l; }");
    assert_eq!(count(&folded, "StoreI32"), 4, "{folded}");
    assert_eq!(loops("for (var n = 0u; n < 17u; n++) { o[n] = l; }"), (1, 1), "too many rounds");
    assert_eq!(loops("for (var n = 0u; n < g; n++) { o[n] = l; }"), (1, 1), "nobody knows how many rounds");
}

#[test]
fn a_loop_that_changes_a_variable_does_not_keep_what_was_known_of_it() {
    let folded = after("fold", "var k = 2u; for (var n = 0u; n < g; n++) { o[n] = k; k = k + n; } o[l] = k;");
    assert!(count(&folded, ", 2") == 0, "{folded}");
}

#[test]
fn what_is_multiplied_by_nothing_is_nothing_on_either_side() {
    for body in ["o[g] = i[l * u32()];", "o[g] = i[u32() * l];", "o[g] = i[l & u32()];", "o[g] = i[u32() & l];"] {
        let text = after("fold", body);
        assert_eq!(count(&text, "LoadI32 (binding 0 + 0)"), 1, "{body}\n{text}");
    }
}

#[test]
fn loops_that_pick_elements_become_more_rounds() {
    // Each round is some seventy statements.
    let sums: String = (1..24).map(|at| format!("sum += i[n * {at}u + l];")).collect();
    let plain = format!("var sum = 0u; for (var n = 0u; n < 8u; n++) {{ {sums} }} o[l] = sum;");
    assert_eq!(loops(&plain), (1, 1));
    let picking = format!(
        "var a: array<u32, 8>; for (var n = 0u; n < 8u; n++) {{ var sum = 0u; {sums} a[n] = sum; }} o[l] = a[1];"
    );
    assert_eq!(loops(&picking), (1, 0));
    // A loop inside of another picks for itself.
    let inside = format!(
        "var a: array<u32, 4>; for (var n = 0u; n < 8u; n++) {{
            for (var m = 0u; m < 4u; m++) {{ a[m] += n; }}
            var sum = 0u; {sums} o[n] = sum + a[1];
        }}"
    );
    assert_eq!(loops(&inside), (2, 1));
}

#[test]
fn divisions_by_powers_of_two_are_something_cheaper() {
    let folded = after("fold", "o[l] = i[l] / 8u + i[l + 1u] % 16u + i[l + 2u] / 6u;");
    assert_eq!(["DivU", "RemU", "ShrU", "And"].map(|op| count(&folded, op)), [1, 0, 1, 1], "{folded}");
    // A third is no number, and the reciprocal of 2^127 not a normal one.
    let floats = "floats[l] = floats[l] / 8.0 + floats[l + 1u] / 3.0 + floats[l + 2u] / 0x1p127;";
    let folded = after("fold", floats);
    assert_eq!((count(&folded, "FDiv"), count(&folded, "FMul")), (2, 1), "{folded}");
}

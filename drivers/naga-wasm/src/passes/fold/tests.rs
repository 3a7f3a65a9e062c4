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

use crate::passes::testing::{after, count};

/// How many loops there are, and how many instructions with masks in the first.
fn loops(body: &str) -> (usize, usize) {
    let text = after("masks", body);
    let first = text.split("loop @").nth(1).unwrap_or_default();
    (count(&text, "loop @"), first.lines().filter(|line| line.trim_start().starts_with('[')).count())
}

#[test]
fn a_loop_that_lanes_leave_for_good_is_two() {
    let summing = "var sum = 0u; for (var n = l; n < i[0]; n += 64u) { let k = i[n]; sum += k * k + 1u; } o[l] = sum;";
    assert_eq!(loops(summing), (2, 0));
}

#[test]
fn lanes_that_only_wait_for_others_come_back_to_the_one_loop() {
    let body = "for (var n = g; n < i[0]; n += 64u) { if i[l] == n { continue; } let k = i[n]; o[n] = k * k + 1u; }";
    assert_eq!(loops(body).0, 1);
    // So might those behind an end that a condition of all lanes leads to, as far as this pass looks.
    let leaving = "for (var n = l; n < i[0]; n += 64u) { let k = i[n]; o[n] = k * k + 1u; if g == 5u { break; } }";
    assert_eq!(loops(leaving).0, 1);
}

#[test]
fn what_is_done_before_the_choice_is_done_twice_only_if_it_may_be() {
    let body = "for (var n = l; n < i[0]; n += 64u) { let k = i[n]; o[n] = k * k + 1u; o[n + 1u] = k; }";
    assert_eq!(loops(body).0, 2);
    let storing =
        "var n = l; loop { o[l + 64u] += 1u; if n >= i[0] { break; } let k = i[n]; o[n] = k * k + 1u; n += 64u; }";
    assert_eq!(loops(storing).0, 1);
}

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
fn lanes_that_leave_at_any_time_share_one_loop() {
    let summing = |start: &str, until: &str| {
        let body = "let k = i[n]; sum += k * k + 1u;";
        format!("var sum = 0u; for (var n = {start}; {until}; n++) {{ {body} }} o[l] = sum;")
    };
    // Their ends are a round apart.
    assert_eq!(loops(&summing("0u", "n <= l")).0, 2);
    assert_eq!(loops(&summing("i[l]", "n < g")).0, 1);
    assert_eq!(loops(&summing("l", "n < i[l + 1u]")).0, 1);
    // A condition that is made of itself many times over is not looked into for long.
    let doubled: String = (1..60).map(|at| format!("let b{at} = b{} & b{0};", at - 1)).collect();
    let body = format!("let b0 = n < l; {doubled} if !b59 {{ break; }} let k = i[n]; sum += k * k + 1u; n++;");
    assert_eq!(loops(&format!("var sum = 0u; var n = 0u; loop {{ {body} }} o[l] = sum;")).0, 1);
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

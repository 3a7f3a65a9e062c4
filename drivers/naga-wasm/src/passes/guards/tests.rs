use crate::passes::testing::{after, count};

/// The first loop of what `masks` makes of a kernel.
fn first_loop(body: &str) -> String {
    let text = after("masks", body);
    text.split("loop @").nth(1).unwrap_or_default().to_owned()
}

#[test]
fn limits_are_checked_once_before_a_round() {
    let body = "var sum = 0u; for (var n = l; n < g; n += 64u) { let k = i[n * 4u] + i[n * 4u + 3u]; sum += k * k; } o[l] = sum;";
    let first = first_loop(body);
    // One for the lanes, and one for both indices.
    assert_eq!((count(&first, "AllLtU"), count(&first, "~Last")), (2, 0), "{first}");
    // It covers the greater index, without going round at the end of numbers.
    assert_eq!((count(&first, "MinU"), count(&first, ", 3")), (1, 2), "{first}");
}

#[test]
fn indices_that_a_round_makes_of_what_it_reads_keep_their_limits() {
    let first = first_loop("for (var n = l; n < g; n += 64u) { let k = i[n]; let m = i[k]; o[k] = m * m; o[n] = k; }");
    assert_eq!((count(&first, "AllLtU"), count(&first, "~Last")), (3, 2), "{first}");
}

#[test]
fn a_loop_with_many_limits_has_not_as_many_checks() {
    let reads: String = (0..9).map(|at| format!("sum += i[n + {}u];", at * 5000)).collect();
    let body = format!("var sum = 0u; for (var n = l; n < g; n += 64u) {{ {reads} sum *= 3u; }} o[l] = sum;");
    let first = first_loop(&body);
    assert!(count(&first, "AllLtU") <= 5 && count(&first, "~Last") > 0, "{first}");
}

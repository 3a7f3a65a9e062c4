use crate::passes::testing::{after, count};

/// Stores whose index has a clamp, before and after the pass.
fn clamps(body: &str) -> (usize, usize) {
    let stores =
        |pass| after(pass, body).lines().filter(|line| line.contains("StoreI32") && line.contains('~')).count();
    (stores("uniformity"), stores("ranges"))
}

#[test]
fn an_index_that_is_small_enough_needs_no_clamp() {
    assert_eq!(clamps("w[l] = 1u;"), (1, 0));
    assert_eq!(clamps("w[l + 1u] = 1u;"), (1, 1));
    assert_eq!(
        clamps("w[l / 2u] = 1u;"),
        (1, 1),
        "it differs in no way that is known: lanes that are off may hold anything"
    );
    assert_eq!(clamps("w[g & 63u] = 1u;"), (1, 0));
    assert_eq!(clamps("w[g & 64u] = 1u;"), (1, 1));
    assert_eq!(clamps("w[i[g] % 64u] = 1u;"), (1, 0));
}

#[test]
fn conditions_on_what_is_one_for_a_gang_count() {
    assert_eq!(clamps("let n = i[g]; if n < 64u { w[n] = 1u; }"), (1, 0));
    assert_eq!(clamps("let n = i[g]; if n <= 64u { w[n] = 1u; }"), (1, 1));
    assert_eq!(clamps("let n = i[g]; if n >= 64u { return; } w[n] = 1u;"), (1, 0));
    assert_eq!(clamps("let n = i[g]; if n < 64u { o[0] = n; } w[n] = 1u;").1, 1);
    assert_eq!(clamps("let n = i[l]; if n < 64u { w[n] = 1u; }"), (1, 1));
}

#[test]
fn what_is_made_of_a_counter_keeps_to_what_its_condition_says() {
    assert_eq!(clamps("for (var n = 0u; n < 20u; n++) { w[n * 3u + 6u] = i[n]; }"), (1, 0));
    assert_eq!(clamps("for (var n = 0u; n < 20u; n++) { w[n * 3u + 7u] = i[n]; }"), (1, 1));
}

#[test]
fn constants_become_part_of_the_offset() {
    let body = "w[(g & 31u) + 8u] = 1u;";
    assert_eq!(count(&after("uniformity", body), "workgroup + 32"), 0);
    assert_eq!(count(&after("ranges", body), "workgroup + 32"), 1);
}

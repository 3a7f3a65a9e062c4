use crate::passes::testing::{after, count};

/// Lines that touch an object, before and after the pass.
fn objects(body: &str) -> (usize, usize) {
    (count(&after("fold", body), "(#0"), count(&after("scalars", body), "(#0"))
}

#[test]
fn an_array_becomes_variables_where_every_place_is_named() {
    let body = "var a: array<u32, 4>;
        for (var n = 0u; n < 4u; n++) { a[n] = i[n]; }
        for (var n = 0u; n < 4u; n++) { o[n] = a[3u - n] + l; }";
    let (before, after) = objects(body);
    assert!(before >= 8 && after == 0, "{before} before, {after} after");
}

#[test]
fn what_is_picked_by_a_computed_index_stays_in_memory() {
    let (before, after) = objects("var a: array<u32, 4>; a[1] = g; o[l] = a[l % 4u];");
    assert!(before > 0 && before == after, "{before} before, {after} after");
}

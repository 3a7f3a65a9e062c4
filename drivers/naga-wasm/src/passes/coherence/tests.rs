use crate::passes::testing::{after, count};

/// How it is found whether all lanes are on: by a comparison of scalars, by a look at them.
fn questions(body: &str) -> (usize, usize) {
    let text = after("masks", body);
    (count(&text, "= AllLtU"), count(&text, "= All "))
}

#[test]
fn rounds_that_lanes_share_are_told_by_a_comparison() {
    let body = |start: &str| {
        format!("for (var n = {start}; n < arrayLength(&i); n += 64u) {{ let k = i[n]; o[n] = k * k + 1u; o[k] = k; }}")
    };
    let (comparisons, looks) = questions(&body("l"));
    assert!(comparisons > 0 && looks == 0, "{comparisons} comparisons, {looks} looks");
    // These begin anywhere.
    let (comparisons, looks) = questions(&body("i[l]"));
    assert!(comparisons == 0 && looks > 0, "{comparisons} comparisons, {looks} looks");
}

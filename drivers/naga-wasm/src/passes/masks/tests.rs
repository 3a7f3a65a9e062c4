use crate::passes::testing::{after, count};

/// Instructions with a mask.
fn masked(body: &str) -> usize {
    let text = after("masks", body);
    text.lines().filter(|line| line.trim_start().starts_with('[')).count()
}

#[test]
fn only_conditions_that_part_lanes_make_masks() {
    assert_eq!(masked("if l % 3u == 1u { o[l] = 1u; }"), 1);
    assert_eq!(masked("if l % 3u == 1u { o[l] = 1u; } else { o[l] = 2u; }"), 2);
    assert_eq!(masked("if g == 1u { o[l] = 1u; }"), 0);
    assert_eq!(masked("if l / 4u == 1u { o[l] = 1u; }"), 0);
    assert_eq!(masked("o[l] = 1u;"), 0);
}

#[test]
fn what_only_computes_needs_no_mask_but_variables_do_that_others_need() {
    assert_eq!(masked("if l % 3u == 1u { let k = i[l] * 3u; o[l] = k; }"), 1);
    assert_eq!(masked("var k = i[l]; if l % 3u == 1u { k = 3u; } o[l] = k;"), 1);
}

#[test]
fn no_condition_is_left_that_parts_lanes() {
    let body = "for (var n = 0u; n < i[l]; n++) { if i[n * l] == 2u { continue; } o[l] = n; }";
    let text = after("masks", body);
    let conditions = text.lines().filter_map(|line| line.trim_start().strip_prefix("if "));
    for condition in conditions.filter_map(|line| line.split(' ').next()) {
        let made = format!("{condition}:g =");
        assert!(condition == "true" || count(&text, &made) > 0, "{condition} in\n{text}");
    }
    assert!(masked(body) > 0);
}

#[test]
fn what_follows_an_early_return_is_there_twice() {
    let text = after("masks", "if i[l] == 9u { return; } o[l] = i[l + 1u] * 3u; o[l + 64u] = i[l + 2u] * 5u;");
    let stores: Vec<_> = text.lines().filter(|line| line.contains("StoreI32")).map(|line| line.contains('[')).collect();
    assert_eq!(stores, [false, false, true, true], "{text}");
}

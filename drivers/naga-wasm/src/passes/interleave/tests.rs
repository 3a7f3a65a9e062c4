use crate::passes::testing::{after, count};

/// Rows, and loads that are left from what was read.
fn rows(body: &str) -> (usize, usize) {
    let text = after("interleave", body);
    assert_eq!(count(&after("masks", body), "LoadRow"), 0);
    (count(&text, "LoadRow"), count(&text, "= LoadF32") + count(&text, "= LoadI32"))
}

#[test]
fn the_components_of_a_vector_are_one_row() {
    assert_eq!(rows("let v = rows[l]; floats[l] = v.x * v.y + v.z * v.w;"), (1, 0));
    assert_eq!(rows("let v = rows[l]; floats[l] = v.x * v.y + v.z;"), (0, 3));
    assert_eq!(rows("let v = rows[g]; floats[l] = v.x * v.y + v.z * v.w;"), (0, 4), "one for all lanes");
}

#[test]
fn what_all_lanes_load_for_vectors_is_one_row() {
    let body = "let v = rows[g]; let x = floats[l]; floats[l] = ((v.x * x + v.y) * x + v.z) * x + v.w;";
    assert_eq!(rows(body), (1, 1));
    // As a scalar, too, one of them is better off alone.
    assert_eq!(rows(&format!("{body} floats[0] = v.y;")), (0, 5));
}

#[test]
fn indices_that_follow_each_other_are_one_row() {
    let sum =
        |indices: [&str; 4]| format!("o[l] = {};", indices.map(|index| format!("i[l * 4u + {index}]")).join(" + "));
    assert_eq!(rows(&sum(["0u", "1u", "2u", "3u"])), (1, 0));
    assert_eq!(rows(&sum(["0u", "1u", "2u", "4u"])), (0, 4));
    assert_eq!(
        rows("o[l] = i[l] + i[l + 1u] + i[l + 2u] + i[l + 3u];"),
        (0, 4),
        "the lanes lie one after the other themselves"
    );
}

#[test]
fn a_store_between_keeps_loads_apart() {
    let body = |store: &str| {
        format!(
            "let a = o[l * 4u] + o[l * 4u + 1u]; {store} let b = o[l * 4u + 2u] + o[l * 4u + 3u]; floats[l] = f32(a + b);"
        )
    };
    assert_eq!(rows(&body("")), (1, 0));
    assert_eq!(rows(&body("o[g] = 1u;")), (0, 4));
    assert_eq!(rows(&body("w[l] = 1u;")), (1, 0));
}

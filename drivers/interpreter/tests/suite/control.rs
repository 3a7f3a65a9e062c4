//! Control flow and calls.

use crate::{group, values};

/// Runs `body`, which may call `put`, with words `a`; what was put, in order.
fn trace(functions: &str, body: &str, a: &[u32]) -> Vec<u32> {
    let source = format!(
        "@group(0) @binding(0) var<storage> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        fn put(x: u32) {{ o[0]++; o[o[0]] = x; }}
        {functions}
        @compute @workgroup_size(1) fn main() {{ {body} }}"
    );
    let out = group(&source, &[a.to_vec(), vec![0; 40]]);
    out[1..=out[0] as usize].to_vec()
}

#[test]
fn loops_break_continue_and_go_on() {
    let body = "
        for (var i = 0u; i < 10u; i++) {
            if i == a[0] { continue; }
            if i == a[1] { break; }
            put(i);
        }
        var n = 0u;
        while n < 3u { n++; put(n * 10u); }
        loop {
            if n == 6u { continue; }
            put(n * 100u);
            continuing { n++; break if n > 7u; }
        }
        put(n);";
    assert_eq!(trace("", body, &[2, 5]), [0, 1, 3, 4, 10, 20, 30, 300, 400, 500, 700, 8]);
}

#[test]
fn break_leaves_the_innermost_loop_or_switch() {
    let body = "
        for (var i = 0u; i < 4u; i++) {
            for (var k = 0u; k < 4u; k++) { if k == 1u { break; } put(10u * i + k); }
            switch i {
                case 0u { if a[0] == 1u { break; } put(90u); }
                case 1u { continue; }
                case 2u, 7u: { put(91u); }
                default { put(92u); }
            }
            put(50u + i);
        }";
    assert_eq!(trace("", body, &[1]), [0, 50, 10, 20, 91, 52, 30, 92, 53]);
}

#[test]
fn switches_over_signed_values_with_the_default_first() {
    let functions = "fn pick(x: i32) -> u32 {
        switch x { case default, -3: { return 1u; } case 4: { return 2u; } case -1: { return 3u; } } }";
    let body = "put(pick(i32(a[0]))); put(pick(4 * i32(a[1]))); put(pick(-i32(a[1]))); put(pick(-3 * i32(a[1])));";
    assert_eq!(trace(functions, body, &[9, 1]), [1, 2, 3, 1]);
}

#[test]
fn calls_return_early_and_take_pointers() {
    let functions = "
        fn first(limit: u32) -> u32 { for (var i = 0u; ; i++) { if i * i >= limit { return i; } } return 0u; }
        fn twice(x: ptr<function, u32>) { *x = *x * 2u; }
        fn both(p: ptr<function, vec2<u32>>, n: u32) -> vec2<u32> { (*p)[n] += 5u; return (*p).yx; }
        fn done(x: u32) { if x > 3u { return; } put(x); }";
    let body = "
        put(first(a[0]));
        var x = 4u; twice(&x); twice(&x); put(x);
        var v = vec2(1u, 2u); let w = both(&v, 1u); put(w.x); put(v.y);
        done(3u); done(4u);";
    assert_eq!(trace(functions, body, &[17]), [5, 16, 7, 7, 3]);
}

#[test]
fn variables_of_a_loop_and_of_a_call_begin_anew() {
    let functions = "fn count() -> u32 { var n: u32; n++; return n; }";
    let body = "for (var i = 0u; i < 3u; i++) { var x: u32; x += a[0]; put(x); } put(count() + count());";
    assert_eq!(trace(functions, body, &[7]), [7, 7, 7, 2]);
}

#[test]
fn the_right_side_of_and_and_or_is_not_always_evaluated() {
    let functions = "fn yes(x: u32) -> bool { put(x); return true; }";
    let body = "if a[0] == 0u && yes(1u) { put(10u); } if a[0] == 1u || yes(2u) { put(11u); } if a[0] == 1u && yes(3u) { put(12u); }";
    assert_eq!(trace(functions, body, &[1]), [11, 3, 12]);
}

#[test]
fn constants_and_overrides_are_values() {
    let source = "
        override scale: u32 = 3u;
        const TABLE = array(5u, 6u, 7u);
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<private> p: vec2<u32> = vec2(scale, TABLE[2]);
        @compute @workgroup_size(1) fn main() {
            var t = TABLE; t[o[0]] *= scale;
            o[1] = t[1]; o[2] = t[2]; o[3] = p.x + p.y; o[4] = TABLE[o[0]];
        }";
    assert_eq!(group(source, &[vec![1, 0, 0, 0, 0]]), [1, 18, 7, 10, 6]);
    assert_eq!(values(&["array(1u, a[0], 3u)[1]"], &[4]), [4]);
}

//! Loops: how often each invocation goes round, and where it leaves.

use crate::{by_hand, trace};

#[test]
fn bounds_of_each_invocation() {
    by_hand(
        "",
        "for (var i = 0u; i < l; i++) { e(i); } e(9u);",
        [&[9], &[0, 9], &[0, 1, 9], &[0, 1, 2, 9], &[0, 1, 2, 3, 9]],
    );
    by_hand(
        "",
        "for (var i = l; i < 5u; i += 2u) { for (var k = 0u; k < i; k++) { if k == 2u { break; } e(10u * i + k); } }",
        [&[20, 21, 40, 41], &[10, 30, 31], &[20, 21, 40, 41], &[30, 31], &[40, 41]],
    );
    for body in [
        "for (var i = 0u; i < w % 7u; i++) { e(i); }",
        "for (var i = 5i; i > i32(l) - 2i; i--) { e(u32(i + 10i)); }",
        "var i = w % 9u; while i > 3u { e(i); i -= 2u; } e(i);",
        "for (var i = 0u; i < g * l; i++) { e(1u); for (var k = l; k < 4u; k++) { e(2u); } } e(3u);",
        "if l > 1u { for (var i = 0u; i < l; i++) { e(i); } } else { for (var i = 0u; i < 3u; i++) { e(10u + i); } } e(20u);",
        "for (var i = 0u; i < 3u; i++) { if (w >> i) % 2u == 1u { for (var k = 0u; k <= i; k++) { e(10u * i + k); } } else { e(50u + i); } }",
        "for (var a = 0u; a < 2u; a++) { for (var b = a; b < l % 3u; b++) { for (var d = b; d < 3u; d++) { e(a * 100u + b * 10u + d); } e(7u); } }",
    ] {
        trace("", body);
    }
}

#[test]
fn where_it_is_left() {
    by_hand(
        "",
        "for (var i = 0u; i < 4u; i++) { if i == l { break; } if i == 1u { continue; } e(i); } e(9u);",
        [&[9], &[0, 9], &[0, 9], &[0, 2, 9], &[0, 2, 3, 9]],
    );
    by_hand(
        "",
        "var i = 0u;
        loop {
            if i == 1u { i = 2u; continue; }
            e(i);
            if l == 3u && i == 2u { return; }
            continuing { e(100u + i); i++; break if i > l + 1u; }
        }
        e(9u);",
        [
            &[0, 100, 102, 9],
            &[0, 100, 102, 9],
            &[0, 100, 102, 3, 103, 9],
            &[0, 100, 102, 3, 103, 4, 104, 9],
            &[0, 100, 102, 3, 103, 4, 104, 5, 105, 9],
        ],
    );
    for body in [
        "loop { e(1u); if w % 2u == 0u { break; } e(2u); if l % 2u == 0u { return; } e(3u); break; } e(4u);",
        "var i = 0u; loop { i++; if i > 6u { break; } if (w >> i) % 4u == 0u { e(i); continue; } if (w >> i) % 4u == 1u { break; } if (w >> i) % 4u == 2u { e(20u); return; } e(30u + i); } e(40u);",
        "for (var i = 0u; i < 4u; i++) { if l == i { if w % 2u == 0u { break; } else { continue; } } e(i); } e(5u);",
        "for (var i = 0u; i < 4u; i++) { for (var k = 0u; k < 4u; k++) { if k == l { break; } if i == l { continue; } e(10u * i + k); } if i + 1u == l { break; } } e(99u);",
        "for (var i = 0u; i < 5u; i++) { for (var k = 0u; k < 3u; k++) { if i * k == l { e(77u); return; } } e(i); } e(8u);",
        "if l != 2u { loop { if l == 0u { break; } e(1u); if true { return; } } e(2u); } e(3u);",
        "for (var i = 0u; ; i++) { if i > l { break; } e(i); }",
        "loop { if l == 0u { e(1u); break; } loop { if l == 1u { e(2u); break; } e(3u); return; } e(4u); break; } e(5u);",
    ] {
        trace("", body);
    }
}

#[test]
fn the_end_of_each_round() {
    by_hand(
        "",
        "var i = 0u; loop { e(i); continuing { i++; break if i >= l; } } e(9u);",
        [&[0, 9], &[0, 9], &[0, 1, 9], &[0, 1, 2, 9], &[0, 1, 2, 3, 9]],
    );
    for body in [
        "var i = 0u; loop { if (w >> i) % 2u == 0u { continue; } e(i); continuing { i++; e(50u + i); break if i > 4u; } }",
        "var i = 0u; loop { if i > w % 4u { break; } e(i); continuing { if l % 2u == 0u { e(20u); } i++; } } e(i);",
        "var i = 0u; loop { if i == 3u { break; } continuing { for (var k = 0u; k < l; k++) { if k == 2u { break; } e(10u * i + k); } i++; } } e(9u);",
        "var i = 0u; loop { switch i { case 0u: { if l == 1u { continue; } } case 2u: { break; } default: { } } e(i); continuing { i++; break if c(70u, i > 3u) || c(71u, l == 4u); } }",
        "var i = 0u; loop { continuing { e(i); i += 1u + w % 2u; break if i > 5u; } }",
        "for (var i = 0u; c(40u, i < 3u); i += v(41u, 1u)) { if i == l { continue; } e(i); }",
        "var a = 0u; loop { a++; var b = 0u; loop { b++; if b == l { continue; } continuing { e(10u * a + b); break if b > 2u; } } continuing { break if a + l > 3u; } }",
    ] {
        trace("", body);
    }
}

#[test]
fn jumps_out_of_choices() {
    by_hand(
        "",
        "for (var i = 0u; i < 4u; i++) {
            switch (i + l) % 4u {
                case 0u: { e(10u + i); continue; }
                case 1u: { e(20u + i); break; }
                case 2u: { if l == 2u { return; } }
                default: { e(30u + i); }
            }
            e(i);
        }
        e(99u);",
        [
            &[10, 21, 1, 2, 33, 3, 99],
            &[20, 0, 1, 32, 2, 13, 99],
            &[],
            &[30, 0, 11, 22, 2, 3, 99],
            &[10, 21, 1, 2, 33, 3, 99],
        ],
    );
    for body in [
        "var i = 0u; loop { switch w >> i & 3u { case 0u: { e(i); } case 1u, 2u: { i += 2u; continue; } default: { if l > 2u { break; } e(50u + i); } } e(20u + i); continuing { i++; break if i > 5u; } }",
        "for (var i = 0u; i < 3u; i++) { switch l { case 1u: { for (var k = 0u; k < 3u; k++) { switch k { case 1u: { continue; } default: { if i == 2u { break; } e(k); } } e(10u); } } case 2u: { break; } default: { if i == 1u { continue; } } } e(20u + i); }",
        "while true { switch l % 3u { case 0u: { e(1u); return; } case 1u: { e(2u); } default: { e(3u); } } if l > 0u { break; } } e(4u);",
    ] {
        trace("", body);
    }
}

#[test]
fn values_from_round_to_round() {
    by_hand(
        "",
        "var a = 0u; var b = 1u; for (var i = 0u; i < l; i++) { let t = a + b; a = b; b = t; } e(a); e(b);",
        [&[0, 1], &[1, 1], &[1, 2], &[2, 3], &[3, 5]],
    );
    for body in [
        "for (var i = 0u; i < 3u; i++) { var n: u32; n += l + i; e(n); var list: array<u32, 3>; list[i] += 1u; e(list[0]); }",
        "var last = 0u; for (var i = 0u; i < 6u; i++) { if (w >> i) % 2u == 0u { last = i; } } e(last);",
        "var n = w % 27u + 1u; var rounds = 0u; while n != 1u && rounds < 20u { n = select(3u * n + 1u, n / 2u, n % 2u == 0u); rounds++; } e(n); e(rounds);",
        "var x = l; var found = false; for (var i = 0u; i < 5u && !found; i++) { x = x * 5u + 3u; found = x % 7u == 2u; } e(x); e(u32(found));",
        "var v2 = vec2<u32>(l, 0u); for (var i = 0u; i < w % 5u; i++) { v2 = v2.yx; v2.x += 3u; if v2.x > 8u { break; } } e(v2.x); e(v2.y);",
        "var most = 0u; var at = 9u; for (var i = 0u; i < 4u; i++) { let x = w >> (i * 3u) & 7u; if x > most { most = x; at = i; } } e(most); e(at);",
    ] {
        trace("", body);
    }
}

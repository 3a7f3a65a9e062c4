//! Branches, choices and calls.

use crate::{by_hand, trace};

#[test]
fn branches() {
    by_hand("", "if l < 2u { e(1u); } else { e(2u); } e(3u);", [&[1, 3], &[1, 3], &[2, 3], &[2, 3], &[2, 3]]);
    by_hand(
        "",
        "e(0u);
        if l != 1u { if l % 2u == 0u { e(1u); if l == 4u { e(2u); } } else { e(3u); } e(4u); }
        e(5u);",
        [&[0, 1, 4, 5], &[0, 5], &[0, 1, 4, 5], &[0, 3, 4, 5], &[0, 1, 2, 4, 5]],
    );
    by_hand(
        "",
        "if c(1u, l == 0u) { e(10u); } else if c(2u, l == 1u) { e(11u); } else if c(3u, l < 4u) { e(12u); }",
        [&[1, 10], &[1, 2, 11], &[1, 2, 3, 12], &[1, 2, 3, 12], &[1, 2, 3]],
    );
    for body in [
        "if l > 100u { e(1u); } e(2u);",
        "if l < 100u { e(1u); } else { e(3u); } e(2u);",
        "if g == 1u { e(1u); if l == 2u { e(2u); } } else { if w % 2u == 0u { e(3u); } e(4u); }",
        "if w % 2u == 1u { } else { e(1u); } e(2u);",
        "if l == 3u { return; } e(1u); if l == 0u { e(2u); return; } else { e(3u); } e(4u);",
        "if w % 3u == 0u { if w % 2u == 0u { return; } e(1u); } else { if w % 5u == 0u { return; } e(2u); } e(3u);",
    ] {
        trace("", body);
    }
}

#[test]
fn conditions_with_two_sides() {
    by_hand(
        "",
        "if c(1u, l > 1u) && c(2u, l < 4u) { e(10u); } if c(3u, l == 0u) || c(4u, l == 2u) { e(11u); }",
        [&[1, 3, 11], &[1, 3, 4], &[1, 2, 10, 3, 4, 11], &[1, 2, 10, 3, 4], &[1, 2, 3, 4]],
    );
    for body in [
        "if (c(1u, w % 2u == 0u) || c(2u, w % 3u == 0u)) && (c(3u, l > 1u) || c(4u, g == 0u)) { e(5u); }",
        "let x = c(1u, l > 2u) && (c(2u, l > 3u) || !c(3u, w % 2u == 0u)); e(select(4u, 5u, x));",
        "var i = 0u; while c(1u, i < l) && c(2u, w % (i + 2u) != 0u) { i++; } e(i);",
        // Both sides of these are computed.
        "if c(1u, l > 1u) & c(2u, l < 4u) { e(3u); } if c(4u, l == 1u) | c(5u, w % 2u == 0u) { e(6u); }",
        "e(select(v(1u, 10u), v(2u, 20u), c(3u, l % 2u == 0u)));",
    ] {
        trace("", body);
    }
}

#[test]
fn choices() {
    by_hand(
        "",
        "switch l { case 0u: { e(1u); } default: { e(2u); } case 1u, 4u: { e(3u); if l == 4u { break; } e(4u); } } e(5u);",
        [&[1, 5], &[3, 4, 5], &[2, 5], &[2, 5], &[3, 5]],
    );
    by_hand(
        "",
        "switch i32(l) - 2 { case -2, 0: { e(1u); } case -1: { e(2u); return; } case 1: { } default: { e(3u); } } e(9u);",
        [&[1, 9], &[2], &[1, 9], &[9], &[3, 9]],
    );
    for body in [
        "switch w % 4u { case 0u: { e(1u); } case 1u: { e(2u); } case 2u, default: { e(3u); } } e(4u);",
        "switch l { default: { e(1u); if l == 2u { break; } e(2u); } } e(3u);",
        "switch l % 3u { case 0u: { switch w % 2u { case 0u: { e(1u); break; } default: { e(2u); if l > 3u { break; } e(3u); } } e(4u); } case 1u: { return; } default: { e(5u); } } e(6u);",
        "switch g { case 0u: { if l == 1u { break; } e(1u); } default: { e(2u); } } e(3u);",
        "switch w { case 0xffffffffu: { e(1u); } case 0u: { e(2u); } default: { } } e(3u);",
        "if l > 1u { switch l { case 2u: { e(1u); } case 3u: { if w % 2u == 0u { return; } e(2u); } default: { e(3u); } } } else { e(4u); } e(5u);",
    ] {
        trace("", body);
    }
}

#[test]
fn calls() {
    let early = "fn early(x: u32) -> u32 {
        if x == 0u { e(10u); return 1u; }
        for (var i = 0u; i < x; i++) { e(20u + i); if i == 2u { return 2u; } }
        e(30u); return 3u;
    }";
    by_hand(
        early,
        "e(early(l)); e(9u);",
        [&[10, 1, 9], &[20, 30, 3, 9], &[20, 21, 30, 3, 9], &[20, 21, 22, 2, 9], &[20, 21, 22, 2, 9]],
    );
    for body in [
        "if l % 2u == 0u { e(early(l)); } else { e(early(4u - min(l, 4u)) + early(1u)); } e(7u);",
        "for (var i = 0u; i < 3u; i++) { if early(i + l) == 2u { continue; } e(8u); if early(w % 2u) == 1u { break; } }",
        "switch early(l) { case 1u: { e(1u); } case 2u: { e(2u); } default: { return; } } e(3u);",
        "e(early(early(early(l)))); if early(w % 4u) == early(w % 3u) { e(5u); }",
    ] {
        trace(early, body);
    }
    let nested = "fn inner(p: ptr<function, u32>, x: u32) -> bool {
        if x % 2u == 1u { *p += 1u; e(40u); return true; }
        loop { if *p > 3u { return false; } *p += 2u; e(50u + *p); continuing { break if x == 4u; } }
        return *p == 2u;
    }
    fn outer(p: ptr<function, u32>, x: u32) { if inner(p, x) { e(1u); return; } e(2u); if inner(p, x + 1u) { return; } e(3u); }";
    for body in [
        "var n = l; outer(&n, l); e(n);",
        "var n = 0u; while n < 4u { outer(&n, w % 5u); if n == 3u { return; } n++; } e(60u + n);",
        "var n = l; if inner(&n, w % 3u) || inner(&n, 2u) { e(4u); } e(100u + n);",
    ] {
        trace(nested, body);
    }
}

#[test]
fn values_that_meet() {
    by_hand(
        "",
        "var x = 1u; if l > 2u { x = 2u; if l == 4u { x += 10u; } } else if l == 1u { x = l + 20u; } e(x);",
        [&[1], &[21], &[1], &[2], &[12]],
    );
    for body in [
        "var a = l; var b = 7u; if w % 2u == 0u { let t = a; a = b; b = t; } e(a); e(b);",
        "var list = array<u32, 4>(); list[l % 4u] = 5u; if l > 2u { list[(l + 1u) % 4u] = 6u; } e(list[0]); e(list[1]); e(list[2]); e(list[3]);",
        "let x = l; { let x = l * 2u; if x > 4u { let x = 9u; e(x); } e(x); } e(x);",
        "var p = vec3<u32>(l, g, 2u); if l % 2u == 1u { p.y = 8u; p[l % 3u] += 1u; } e(p.x); e(p.y); e(p.z);",
        "var s = 0u; switch w % 3u { case 0u: { s = l; } case 1u: { } default: { s = 4u; if l == 2u { break; } s = 5u; } } e(s);",
    ] {
        trace("", body);
    }
}

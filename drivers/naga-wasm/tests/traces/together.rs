//! What all invocations of a workgroup come to together, with ways of their own between.

use crate::{by_hand, trace};

#[test]
fn barriers_between_ways_of_their_own() {
    by_hand(
        "",
        "if l > 1u { e(1u); shared_words[l] = l * 10u; } else { for (var i = 0u; i <= l; i++) { e(2u); } }
        workgroupBarrier();
        e(shared_words[4]); if l == 3u { return; } e(shared_words[2]);",
        [&[2, 40, 20], &[2, 2, 40, 20], &[1, 40, 20], &[1, 40], &[1, 40, 20]],
    );
    for body in [
        "for (var i = 0u; i < 3u; i++) {
            if l % 2u == i % 2u { shared_words[l] += l + 1u; e(1u); }
            workgroupBarrier();
            let other = shared_words[(l + 1u) % SIZE];
            workgroupBarrier();
            for (var k = 0u; k < other % 4u; k++) { if k == l { break; } e(10u + k); }
            if other > 6u { continue; } e(30u);
        }",
        "shared_words[l] = w; workgroupBarrier(); var n = shared_words[0] % 5u; workgroupBarrier();
        while n > l { e(n); n--; } shared_words[l] = n; workgroupBarrier(); e(shared_words[(l + 2u) % SIZE]);",
        "if g == 0u { shared_words[l] = 7u; workgroupBarrier(); e(shared_words[0]); } else { e(1u); } workgroupBarrier(); e(2u);",
        "for (var i = 0u; i < 2u + g; i++) { if l == 0u { e(i); } else { if l == 2u { e(50u); } } workgroupBarrier(); if i == 1u { continue; } e(9u); workgroupBarrier(); }",
        "for (var i = 0u; i < 4u; i++) { workgroupBarrier(); if g == 1u && i == 1u { break; } if l > i { e(i); } } e(9u); if l == 1u { return; } e(10u);",
        "switch g { case 0u: { workgroupBarrier(); e(1u); } default: { for (var i = 0u; i < l; i++) { e(2u); } workgroupBarrier(); e(3u); } } e(4u);",
        "if g == 1u { e(5u); return; } workgroupBarrier(); e(6u);",
    ] {
        trace("", body);
    }
}

#[test]
fn what_one_says_to_all() {
    let said = "var<workgroup> said: u32;";
    by_hand(
        said,
        "if l == 0u { said = 2u; }
        loop {
            let left = workgroupUniformLoad(&said);
            if left == 0u { break; }
            if l >= left { e(left); }
            if l == 0u { said = left - 1u; }
        }
        e(9u);",
        [&[9], &[1, 9], &[2, 1, 9], &[2, 1, 9], &[2, 1, 9]],
    );
    for body in [
        "if l == 0u { said = w % 3u; } switch workgroupUniformLoad(&said) { case 0u: { workgroupBarrier(); e(1u); } case 1u: { if l > 1u { e(2u); } } default: { e(3u); } }",
        "for (var i = 0u; i < 3u; i++) { if l == 0u { said = i + g; } let x = workgroupUniformLoad(&said); for (var k = 0u; k < x; k++) { if k > l { break; } e(10u * i + k); } }",
    ] {
        trace(said, body);
    }
}

#[test]
fn functions_with_barriers() {
    let functions = "fn turn(l: u32, x: u32) -> u32 {
        shared_words[l] = x; workgroupBarrier();
        var y = shared_words[SIZE - 1u - l]; workgroupBarrier();
        if y % 2u == 1u { e(80u); return y + 1u; }
        for (var i = 0u; i < y % 4u; i++) { e(90u + i); }
        return y;
    }";
    for body in [
        "e(turn(l, l)); e(turn(l, w % 8u));",
        "var x = l; for (var i = 0u; i < 3u; i++) { x = turn(l, x + i); if x > 4u { e(x); } }",
        "var x = 1u; if l > 2u { x = 5u; e(1u); } x += turn(l, x); if x == 6u { return; } e(x);",
    ] {
        trace(functions, body);
    }
}

#[test]
fn atomic_words_that_all_add_to() {
    let functions = "var<workgroup> sum: atomic<u32>;";
    by_hand(
        functions,
        "for (var i = 0u; i < l; i++) { if i == 2u { continue; } atomicAdd(&sum, 1u << (4u * i)); e(i); }
        workgroupBarrier();
        e(atomicLoad(&sum));",
        [&[0x1034], &[0, 0x1034], &[0, 1, 0x1034], &[0, 1, 0x1034], &[0, 1, 3, 0x1034]],
    );
    for body in [
        "if w % 2u == 0u { atomicOr(&sum, 1u << l); } else { atomicXor(&sum, 0u); } workgroupBarrier(); e(atomicLoad(&sum));",
        "loop { if l > 3u { atomicMax(&sum, w); break; } atomicMax(&sum, l); if l > 0u { break; } e(1u); break; } workgroupBarrier(); e(atomicLoad(&sum) % 97u);",
    ] {
        trace(functions, body);
    }
}

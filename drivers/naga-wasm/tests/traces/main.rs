//! Control flow: each invocation writes down what it comes by, in order. The interpreter says what that has to be, for some kernels
//! also a list made by hand.
//!
//! `e(n)` notes the event `n`; `c(n, x)` and `v(n, x)` note it and are `x`, a condition or a number. `l` is the place in the
//! workgroup, `SIZE` how many there are in it, `g` the workgroup, `w` a word that the compiler cannot know, different for each invocation.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]
#![allow(missing_docs, reason = "read where it is used, in this folder")]

#[path = "../common/mod.rs"]
mod common;
mod loops;
mod paths;
mod together;

use common::oracle::{interpret, load};
use common::{Run, bytes_u, run, words};
use hal_interpreter::{FindingKind, Options};

/// Words of an invocation: how many events, then the events.
const ROW: usize = 64;
/// Invocations of a workgroup. Not all are full vectors of four; some have less than one.
const SIZES: [u32; 6] = [1, 3, 4, 5, 8, 13];
const GROUPS: u32 = 2;

fn kernel(size: u32, functions: &str, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage> words: array<u32>;
        @group(0) @binding(1) var<storage, read_write> rows: array<array<u32, {ROW}>>;
        const SIZE = {size}u;
        var<workgroup> shared_words: array<u32, 16>;
        var<private> me: u32;
        fn e(event: u32) {{ rows[me][0] += 1u; rows[me][rows[me][0]] = event; }}
        fn c(event: u32, x: bool) -> bool {{ e(event); return x; }}
        fn v(event: u32, x: u32) -> u32 {{ e(event); return x; }}
        {functions}
        @compute @workgroup_size({size})
        fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>) {{
            let g = group.x; me = g * {size}u + l; let w = words[me];
            {body}
        }}"
    )
}

/// What each invocation has written down.
fn events(buffer: &[u8]) -> Vec<Vec<u32>> {
    let events = |row: &[u32]| {
        assert!((row[0] as usize) < ROW, "more events than there is room for");
        row[1..=row[0] as usize].to_vec()
    };
    words(buffer).chunks(ROW).map(events).collect()
}

/// Runs `body` in workgroups of all sizes, both ways. Answers what the interpreter says for a workgroup of five.
#[track_caller]
fn trace(functions: &str, body: &str) -> Vec<Vec<u32>> {
    let mut five = Vec::new();
    for size in SIZES {
        let source = kernel(size, functions, body);
        let total = size * GROUPS;
        let input: Vec<u32> = (0..total).map(|at| at.wrapping_mul(2_654_435_761) >> 13).collect();
        let buffers = vec![(0, bytes_u(&input)), (1, vec![0; total as usize * ROW * 4])];
        let mut wanted = buffers.clone();
        let program = load(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let options = Options { checks: true, ..Options::default() };
        let report = interpret(&program, [GROUPS, 1, 1], &[], &mut wanted, &options).unwrap();
        let race = report.findings.iter().find(|finding| finding.kind == FindingKind::Race);
        assert!(race.is_none(), "{race:?} in\n{body}");
        let wanted = events(&wanted[1].1);
        let outcome = run(&source, "main", Run { groups: [GROUPS, 1, 1], buffers, ..Run::default() });
        for (at, (got, wanted)) in events(&outcome.buffers[1]).iter().zip(&wanted).enumerate() {
            assert_eq!(got, wanted, "invocation {at} in workgroups of {size} of\n{body}");
        }
        if size == 5 {
            five = wanted[..5].to_vec();
        }
    }
    five
}

/// The same, and compares the first workgroup of five with a list made by hand.
#[track_caller]
fn by_hand(functions: &str, body: &str, wanted: [&[u32]; 5]) {
    assert_eq!(trace(functions, body), wanted, "{body}");
}

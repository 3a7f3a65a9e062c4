//! Random kernels, compiled and interpreted: both have to leave the same.
//!
//! `kernel` makes a kernel of a seed: of integers, and of floats where each step is rounded once, so that there is one right answer.
//! `check` runs it both ways, `reduce` cuts down what fails. That is printed, and kept as a file in `kept`, whose kernels are tried
//! each time from then on; the first of them are from mistakes made on purpose.
//!
//! - `HAL_FUZZ_CASES=5000` for more kernels than a normal run, `HAL_FUZZ_SECONDS=600` for as many as there is time for.
//! - `HAL_FUZZ_SEED=7` begins with another seed. The seeds of a run follow each other, so this alone repeats a failure.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]
#![allow(missing_docs, reason = "read where it is used, in this folder")]

mod check;
#[path = "../common/mod.rs"]
mod common;
mod expression;
mod forms;
mod kernel;
mod random;
mod reduce;
mod statement;
mod subgroup;
mod tree;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use check::{Verdict, check};
use kernel::{Launch, kernel};
use reduce::reduce;

/// Kernels of a normal run: some seconds.
const CASES: u64 = 60;

fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

#[test]
fn random_kernels_do_what_the_interpreter_does() {
    let first = asked("HAL_FUZZ_SEED").unwrap_or(1);
    let time = asked("HAL_FUZZ_SECONDS").map(Duration::from_secs);
    let cases = asked("HAL_FUZZ_CASES").unwrap_or(if time.is_some() { u64::MAX } else { CASES });
    let begin = Instant::now();
    let (mut same, mut too_long) = (0u32, 0u32);
    for seed in (first..).take(usize::try_from(cases).unwrap_or(usize::MAX)) {
        if time.is_some_and(|time| begin.elapsed() > time) {
            break;
        }
        let kernel = kernel(seed);
        match check(&kernel.to_string(), &kernel.launch, seed.is_multiple_of(8)) {
            Verdict::Same => same += 1,
            Verdict::TooLong => too_long += 1,
            Verdict::Invalid(why) => panic!("the generator is wrong: {why}\n{kernel}"),
            Verdict::Fails(failure) => {
                let fails = |cut: &kernel::Kernel| match check(&cut.to_string(), &cut.launch, true) {
                    Verdict::Fails(other) => other.kind == failure.kind,
                    _ => false,
                };
                // Each try may panic once more.
                let hook = std::panic::take_hook();
                std::panic::set_hook(Box::new(|_| {}));
                let cut = reduce(kernel, fails);
                std::panic::set_hook(hook);
                let path = kept().join(format!("seed-{seed}.wgsl"));
                let written = std::fs::write(&path, cut.to_string());
                let (kind, message, path) = (failure.kind, failure.message, path.display());
                panic!("seed {seed}: {kind:?}: {message}; cut down, and kept as {path} ({written:?}):\n{cut}");
            }
        }
    }
    println!("{same} kernels did the same, {too_long} were too long, in {:?}", begin.elapsed());
    assert!(same > 2 * too_long, "{too_long} kernels were too long");
}

/// Where kernels are that once failed.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/kept")
}

/// Reads the first line of a kernel.
fn launch(source: &str) -> Launch {
    let words = source.lines().next().unwrap_or_default().split(' ');
    let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
    let [x, y, z, gx, gy, gz, seed] = numbers[..] else { panic!("a kernel begins with how it is launched") };
    Launch { size: [x, y, z].map(|n| n as u32), groups: [gx, gy, gz].map(|n| n as u32), seed }
}

#[test]
fn what_was_found_stays_mended() {
    for entry in std::fs::read_dir(kept()).unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        let verdict = check(&source, &launch(&source), true);
        assert!(matches!(verdict, Verdict::Same), "{}: {verdict:?}", path.display());
    }
}

#[test]
fn kernels_hold_what_a_compiler_may_get_wrong() {
    let all: String = (1..300).map(|seed| kernel(seed).to_string()).collect();
    for part in [
        "continuing {",
        "break if",
        "break;",
        "continue;",
        "return;",
        "switch",
        "default",
        "while",
        "else",
        "(*p)",
        "workgroupBarrier",
        "storageBarrier",
        "workgroupUniformLoad",
        "atomicXor(&combined",
        "atomicSub(&atomic_i",
        "atomicCompareExchangeWeak",
        "mat3x4<f32>",
        "array<vec3<f32>",
        "Item(",
        "i32(l) - ",
        "u - l",
        " * l]",
        "&&",
        "||",
        "dot4I8Packed",
        "frexp",
        "insertBits",
        "/ 7i)",
        "%= ",
        "quantizeToF16",
        "halves[",
        "mat2x3<f16>",
        "f16(",
        "mixed[place].p",
        "in_w[",
        "array<u64",
        "bitcast<i64>(",
        "<<= ",
        "atomicSub(&atomic_f[",
        "atomicExchange(&atomic_own_f",
        "subgroupBallot(",
        "subgroupInclusiveMul(",
        "subgroupMax(vec",
        "subgroupShuffle(",
        "quadSwapDiagonal(",
        "subgroupBarrier(",
        "subgroupAny(",
        "ptr<function, ",
    ] {
        assert!(all.contains(part), "no kernel of 300 has `{part}`");
    }
}

#[test]
fn a_failure_is_cut_down_to_what_it_takes() {
    let whole = (1..).map(kernel).find(|kernel| kernel.to_string().contains("atomicXor(&atomic_u")).unwrap();
    let (before, launch) = (whole.to_string(), whole.launch);
    let cut = reduce(whole, |cut| {
        let source = cut.to_string();
        source.contains("atomicXor(&atomic_u") && matches!(check(&source, &cut.launch, true), Verdict::Same)
    });
    let after = cut.to_string();
    let lines = after.lines().count() - before.lines().take_while(|line| !line.contains("var<private>")).count();
    assert!(lines < 16, "{lines} lines are left of it:\n{after}");
    assert!(launch.total() == 1 || cut.launch.total() < launch.total());
}

//! The kernels that are there already: those of the guests, and those in the tests of the compiler.

use hal_differential::{kernels::program, runtime, targets};
use hal_interpreter::{Bound, Dispatch, Error, ErrorKind, FindingKind, Options};
use hal_kernel::{Function, Program};
use std::path::{Path, PathBuf};

const STEPS: u64 = 3_000_000;

/// How far results of functions that WGSL allows an error may be apart.
const MAX_RELATIVE: f32 = 1e-5;

/// What kernels hold on which a device is known to fail: see `regressions`.
const KNOWN: [&str; 2] = ["fn both(p: ptr<function, P>)", "struct Big { a: array<u32, 200>"];

/// What became of a kernel.
#[derive(Default, Debug)]
struct Count {
    compared: usize,
    /// Its outcome is not determined, or it has no end.
    open: usize,
    /// The interpreter or the device cannot do it.
    unsupported: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
}

/// The string literals of a Rust file that hold a kernel. Those that `format!` completes are kernels with braces doubled, and left out
/// where they are none.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let mut literal = String::new();
        let mut letters = rest[start + 1..].char_indices();
        let mut end = rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    end = start + 1 + at + 1;
                    break;
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => literal.push('\n'),
                    Some((_, escaped)) => literal.push(escaped),
                    None => break,
                },
                other => literal.push(other),
            }
        }
        if literal.contains("@compute") {
            found.push(literal);
        }
        rest = &rest[end.min(rest.len())..];
    }
    found
}

/// Small numbers, and some that are not: different in each word.
fn content(length: usize, seed: u32) -> Vec<u8> {
    let words = (0..length.div_ceil(4) as u32).flat_map(|at| {
        let mixed = (at + 1).wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(40_503));
        let word = match mixed >> 29 {
            0..=3 => mixed >> 16 & 0xff,
            4 => 0,
            5 => mixed,
            _ => (1.0 + (mixed >> 8 & 0xfff) as f32 / 64.0).to_bits(),
        };
        word.to_le_bytes()
    });
    words.take(length).collect()
}

fn run(
    program: &Program,
    function: &Function,
    groups: [u32; 3],
    constants: &[u8],
    bound: &mut [Bound],
) -> Result<bool, Error> {
    let launch = Dispatch { function: &function.name, groups, constants };
    let report =
        hal_interpreter::run(program, &launch, bound, &Options { steps: STEPS, checks: true, ..Options::default() })?;
    // What lies between, and which of two writes stays, is not determined; neither is which element an index out of range means.
    let open = |kind| matches!(kind, FindingKind::Race | FindingKind::OutOfBounds { .. });
    Ok(!report.findings.iter().any(|finding| open(finding.kind)))
}

/// Equal, or nearly so as floats.
fn same(got: &[u8], want: &[u8]) -> bool {
    got.len() == want.len()
        && got.chunks(4).zip(want.chunks(4)).all(|(got, want)| {
            let float = |bytes: &[u8]| bytes.try_into().map_or(0.0, f32::from_le_bytes);
            let (a, b) = (float(got), float(want));
            got == want || (a.is_nan() && b.is_nan()) || (a - b).abs() <= MAX_RELATIVE * a.abs().max(b.abs()).max(1.0)
        })
}

fn compare(sources: &[(String, String)]) -> Count {
    let (targets, runtime) = (targets(), runtime());
    let mut count = Count::default();
    for (place, source) in sources {
        let Ok(program) = program(source) else { continue };
        for function in program.functions() {
            let constants = content(function.constant_bytes as usize, 9);
            let before: Vec<(u32, Vec<u8>)> = function
                .bindings
                .iter()
                .map(|it| (it.binding, content((it.min_length as usize).max(512).next_multiple_of(16), it.binding)))
                .collect();
            let mut bound: Vec<Bound> =
                before.iter().map(|(binding, bytes)| Bound { binding: *binding, bytes: bytes.clone() }).collect();
            // One workgroup: what several do to the same words is for the most part not determined.
            match run(&program, function, [1, 1, 1], &constants, &mut bound) {
                Ok(true) => {}
                Ok(false) => {
                    count.open += 1;
                    continue;
                }
                Err(error) if error.kind == ErrorKind::Unsupported => {
                    count.unsupported += 1;
                    continue;
                }
                Err(error) if error.kind == ErrorKind::Steps => {
                    count.open += 1;
                    continue;
                }
                Err(error) => panic!("{place}, `{}`: {error}\n{source}", function.name),
            }
            let mut refused = false;
            for target in &targets {
                let ran = target.dispatch(source, &function.name, [1, 1, 1], &constants, &before);
                match runtime.block_on(ran) {
                    // A limit of the device or the compiler; what it may refuse is its own tests' business.
                    Err(error) => {
                        let known = KNOWN.iter().any(|part| source.contains(part));
                        let broken = error.starts_with("internal") || error.starts_with("deadline-exceeded");
                        assert!(known || !broken, "{place}, `{}` on {}: {error}\n{source}", function.name, target.name);
                        refused = true;
                        println!("{place}, `{}` on {}: {error}", function.name, target.name);
                    }
                    Ok(got) => {
                        for (bound, got) in bound.iter().zip(&got) {
                            let name = target.name;
                            assert!(
                                same(got, &bound.bytes),
                                "{place}, `{}` on {name}: binding {} differs\n{source}\n{:x?}\n{:x?}",
                                function.name,
                                bound.binding,
                                got,
                                bound.bytes
                            );
                        }
                    }
                }
            }
            if refused { count.unsupported += 1 } else { count.compared += 1 }
        }
    }
    println!("{count:?}");
    count
}

#[test]
fn kernels_of_guests_and_cases() {
    let mut paths = Vec::new();
    files(&root().join("guest"), "wgsl", &mut paths);
    if root().join("tests/conformance").is_dir() {
        files(&root().join("tests/conformance"), "wgsl", &mut paths);
    }
    let sources: Vec<_> =
        paths.iter().map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect();
    let count = compare(&sources);
    assert!(count.compared >= 3, "{count:?}");
}

#[test]
fn kernels_of_the_compilers_tests() {
    let mut paths = Vec::new();
    files(&root().join("drivers/naga-wasm/tests"), "rs", &mut paths);
    files(&root().join("drivers/cpu"), "rs", &mut paths);
    let mut sources = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        // What subgroups do depends on their size, which is not the same on all devices.
        let found = literals(&text).into_iter().filter(|source| !source.contains("subgroup")).enumerate();
        sources.extend(found.map(|(at, source)| (format!("{}, {at}", path.display()), source)));
    }
    let count = compare(&sources);
    assert!(count.compared >= 40, "{count:?}");
}

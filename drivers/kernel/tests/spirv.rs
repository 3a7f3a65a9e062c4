//! SPIR-V: what is read, what is refused, and what would have ended the process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

use hal_kernel::limits::{MAX_SPIRV_BOUND, MAX_SPIRV_INSTRUCTIONS, MAX_SPIRV_NESTING, MAX_SPIRV_TYPE_NESTING};
use hal_kernel::{ErrorCode, Format, KernelError, Program, SourceLimits, load};

fn spirv(words: &[u32]) -> Result<Program, KernelError> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    load(Format::Spirv, &bytes, &SourceLimits::default())
}

const HEADER: [u32; 5] = [0x0723_0203, 0x0001_0300, 0, 1000, 0];

/// An instruction.
fn op(code: u32, operands: &[u32]) -> Vec<u32> {
    let mut words = vec![(operands.len() as u32 + 1) << 16 | code];
    words.extend_from_slice(operands);
    words
}

fn module(instructions: &[Vec<u32>]) -> Vec<u32> {
    HEADER.iter().copied().chain(instructions.iter().flatten().copied()).collect()
}

/// Capability Shader, memory model, void, a function type.
fn preamble() -> Vec<Vec<u32>> {
    vec![op(17, &[1]), op(14, &[0, 1]), op(19, &[1]), op(33, &[2, 1]), op(20, &[3]), op(41, &[3, 4])]
}

/// An entry point `main` that is function 10, of size 1.
fn entry() -> Vec<Vec<u32>> {
    vec![op(15, &[5, 10, u32::from_le_bytes(*b"main"), 0]), op(16, &[10, 17, 1, 1, 1])]
}

fn kernel(body: Vec<Vec<u32>>) -> Vec<u32> {
    let mut all = preamble();
    let types = all.split_off(2);
    all.extend(entry());
    all.extend(types);
    all.push(op(54, &[1, 10, 0, 2]));
    all.extend(body);
    all.push(op(56, &[]));
    module(&all)
}

#[test]
fn the_smallest_kernel_is_read() {
    let program = spirv(&kernel(vec![op(248, &[11]), op(253, &[])])).unwrap();
    assert_eq!(program.functions()[0].name, "main");
    assert_eq!(program.functions()[0].workgroup_size, [1, 1, 1]);
}

#[test]
fn what_is_no_spirv_says_so() {
    for (words, says) in [
        (vec![], "magic number"),
        (vec![0; 20], "magic number"),
        (vec![0x0723_0203, 0, 0], "magic number"),
        (HEADER.map(u32::swap_bytes).to_vec(), "big-endian"),
        (module(&[vec![0x0005_0011]]), "cut off"),
        (module(&[vec![0x0000_0011]]), "cut off"),
    ] {
        let error = spirv(&words).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
        assert!(error.message.contains(says), "{error}");
    }
    let error = load(Format::Spirv, &[3, 2, 0x23, 7, 0], &SourceLimits::default()).unwrap_err();
    assert!(error.message.contains("whole words"), "{error}");
}

#[test]
fn capabilities_are_refused_by_name() {
    // PhysicalStorageBufferAddresses, and VariablePointers.
    for capability in [5347, 4442] {
        let error = spirv(&module(&[op(17, &[1]), op(17, &[capability])])).unwrap_err();
        assert_eq!(error.code, ErrorCode::Incompatible, "{error}");
    }
}

#[test]
fn instructions_and_ids() {
    let nops = |count: usize| module(&vec![op(0, &[]); count]);
    let error = spirv(&nops(MAX_SPIRV_INSTRUCTIONS + 1)).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    let error = spirv(&nops(MAX_SPIRV_INSTRUCTIONS)).unwrap_err();
    assert_ne!(error.code, ErrorCode::ResourceExhausted, "{error}");
    let error = spirv(&[0x0723_0203, 0x0001_0300, 0, MAX_SPIRV_BOUND + 1, 0]).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
}

/// Arrays inside each other, over `u32`.
fn arrays(count: u32, length: u32) -> Vec<u32> {
    let mut all = preamble();
    all.push(op(21, &[20, 32, 0]));
    all.push(op(43, &[20, 21, length]));
    let mut inner = 20;
    for id in 100..100 + count {
        all.push(op(28, &[id, inner, 21]));
        inner = id;
    }
    module(&all)
}

#[test]
fn type_nesting() {
    // The element counts as one level.
    let most = MAX_SPIRV_TYPE_NESTING as u32 - 1;
    let error = spirv(&arrays(most, 1)).unwrap_err();
    assert_ne!(error.code, ErrorCode::ResourceExhausted, "{error}");
    let error = spirv(&arrays(most + 1, 1)).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
}

#[test]
fn a_panic_of_the_front_end_is_an_error() {
    // Larger than an address space: the front end unwraps.
    let error = spirv(&arrays(30, 16)).unwrap_err();
    assert!(matches!(error.code, ErrorCode::Internal | ErrorCode::InvalidArgument), "{error}");
    // And the next program is none the worse.
    assert!(spirv(&kernel(vec![op(248, &[11]), op(253, &[])])).is_ok());
}

/// Selections inside each other, in structured order.
fn selections(count: u32) -> Vec<u32> {
    let mut body = vec![op(248, &[11])];
    for at in 0..count {
        let (inner, merge) = (1000 + 2 * at, 1001 + 2 * at);
        body.push(op(247, &[merge, 0]));
        body.push(op(250, &[4, inner, merge]));
        body.push(op(248, &[inner]));
    }
    for at in (0..count).rev() {
        body.push(op(249, &[1001 + 2 * at]));
        body.push(op(248, &[1001 + 2 * at]));
    }
    body.push(op(253, &[]));
    let mut words = kernel(body);
    words[3] = 20_000;
    words
}

#[test]
fn structured_nesting() {
    let most = MAX_SPIRV_NESTING as u32;
    spirv(&selections(most)).unwrap();
    let error = spirv(&selections(most + 1)).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    assert!(spirv(&selections(5000)).is_err());
}

#[test]
fn random_bytes_are_answered() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    let good = kernel(vec![op(248, &[11]), op(253, &[])]);
    for _ in 0..300 {
        let mut words = good.clone();
        for _ in 0..1 + next() % 4 {
            let at = next() as usize % words.len();
            words[at] = if next() % 2 == 0 { next() } else { words[at] ^ (1 << (next() % 32)) };
        }
        let _ = spirv(&words);
    }
}

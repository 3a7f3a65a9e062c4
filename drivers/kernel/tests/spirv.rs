//! SPIR-V: what is read, what is refused, and what would have ended the process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

use hal_kernel::limits::{
    MAX_SPIRV_BOUND, MAX_SPIRV_INSTRUCTIONS, MAX_SPIRV_NESTING, MAX_SPIRV_TYPE_BYTES, MAX_SPIRV_TYPE_NESTING,
};
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
fn arrays_inside_each_other_are_refused_before_the_front_end_fails() {
    // In 628 bytes larger than an address space.
    for (count, length) in [(30, 16), (8, 16), (2, u32::MAX), (1, u32::MAX), (31, 2)] {
        let error = spirv(&arrays(count, length)).unwrap_err();
        assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
        assert!(error.message.contains("a type of more than"), "{error}");
    }
    // And the next program is none the worse.
    assert!(spirv(&kernel(vec![op(248, &[11]), op(253, &[])])).is_ok());
}

type Instructions = Vec<Vec<u32>>;

const ARRAY_STRIDE: u32 = 6;
const OFFSET: u32 = 35;

/// Decorations and types over: 20 `u32`, 21 a length, 22 `f32`, 23 `vec3<f32>`, 24 `mat4x3<f32>`, 25 `f64`.
fn types(decorations: &[Vec<u32>], length: u32, types: &[Vec<u32>]) -> Result<Program, KernelError> {
    let mut all = preamble();
    let rest = all.split_off(2);
    all.extend(entry());
    all.extend_from_slice(decorations);
    all.extend(rest);
    all.extend([op(21, &[20, 32, 0]), op(43, &[20, 21, length]), op(22, &[22, 32])]);
    all.extend([op(23, &[23, 22, 3]), op(24, &[24, 23, 4])]);
    all.extend_from_slice(types);
    all.extend([op(54, &[1, 10, 0, 2]), op(248, &[11]), op(253, &[]), op(56, &[])]);
    spirv(&module(&all))
}

#[test]
fn types_have_a_size_up_to_what_the_front_end_can_count() {
    let most = |bytes: u64| u32::try_from(MAX_SPIRV_TYPE_BYTES / bytes).unwrap();
    let array = |part: u32| op(28, &[100, part, 21]);
    let stride = |bytes: u32| op(71, &[100, ARRAY_STRIDE, bytes]);
    let offset = |member: u32, bytes: u32| op(72, &[101, member, OFFSET, bytes]);
    let at = |length: u32, decorations: &[Vec<u32>], last: &[Vec<u32>]| types(decorations, length, last);
    // The largest length, what is decorated, and what has it, or has one more.
    let cases: [(u32, Instructions, Instructions); 10] = [
        (most(4), vec![], vec![array(20)]),
        (most(16), vec![], vec![array(23)]),
        (most(64), vec![], vec![array(24)]),
        (most(1000), vec![stride(1000)], vec![array(20)]),
        (most(4), vec![stride(0)], vec![array(20)]),
        // A structure of one, and of one and a number.
        (most(4), vec![], vec![array(20), op(30, &[101, 100])]),
        (most(4) - 1, vec![], vec![array(20), op(30, &[101, 100, 20])]),
        // Its first member begins somewhere.
        (most(4) - 10, vec![offset(0, 40)], vec![array(20), op(30, &[101, 100])]),
        // The second member lies before the first, which is the end.
        (most(4) - 10, vec![offset(0, 40), offset(1, 0)], vec![array(20), op(30, &[101, 100, 20])]),
        // An array without length, of that.
        (most(4), vec![], vec![array(20), op(29, &[102, 100])]),
    ];
    for (length, decorations, last) in cases {
        if let Err(error) = at(length, &decorations, &last) {
            assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}: {last:?}");
        }
        let error = at(length + 1, &decorations, &last).unwrap_err();
        assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}: {last:?}");
    }
    // Sizes that go round.
    for (decorations, last) in [
        (vec![offset(0, u32::MAX)], vec![op(30, &[101, 20])]),
        (vec![offset(1, u32::MAX - 3)], vec![op(30, &[101, 20, 24, 20])]),
        (vec![op(71, &[100, ARRAY_STRIDE, u32::MAX])], vec![op(29, &[100, 20])]),
        (vec![op(71, &[100, ARRAY_STRIDE, u32::MAX])], vec![op(28, &[100, 20, 21])]),
    ] {
        let error = types(&decorations, 2, &last).unwrap_err();
        assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}: {last:?}");
    }
}

#[test]
fn numbers_of_odd_widths_are_refused() {
    for width in [0, 1, 7, 24, 48, 128, 2040, u32::MAX] {
        for number in [op(21, &[100, width, 0]), op(22, &[100, width])] {
            let error = types(&[], 1, &[number, op(28, &[101, 100, 21])]).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
            assert!(error.message.contains("bits"), "{error}");
        }
    }
}

#[test]
fn a_panic_of_the_front_end_is_an_error() {
    // The negative of a structure: the front end unwraps the kind of its number.
    let error = types(&[], 1, &[op(30, &[100, 20]), op(43, &[20, 101, 1]), op(44, &[100, 102, 101])]).map(|_| ());
    assert!(error.is_ok(), "{error:?}");
    let body = |last: Vec<u32>| {
        let mut all = preamble();
        let rest = all.split_off(2);
        all.extend(entry());
        all.extend(rest);
        all.extend([op(21, &[20, 32, 0]), op(43, &[20, 101, 1]), op(30, &[100, 20]), op(44, &[100, 102, 101])]);
        all.extend([op(54, &[1, 10, 0, 2]), op(248, &[11]), last, op(253, &[]), op(56, &[])]);
        module(&all)
    };
    let error = spirv(&body(op(126, &[100, 103, 102]))).unwrap_err();
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

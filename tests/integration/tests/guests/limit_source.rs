//! Kernel source that is built to hurt a compiler, through the whole host: recursion that would overflow a stack, which nothing can
//! catch, and work that grows with the square of the source. Each kind is tried far beyond its cap and, where there is one, at its edge.

use hal_driver::Factory;
use hal_test_support::{Guest, cpu};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A refusal comes within this, in a debug build on a busy machine: without the caps most of these take longer.
const SOON: Duration = Duration::from_secs(10);
/// What is just allowed is compiled within this, in the same conditions.
const LATER: Duration = Duration::from_secs(60);

/// A kernel around statements, after declarations.
fn kernel(declarations: &str, statements: &str) -> String {
    format!(
        "{declarations}@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n@compute @workgroup_size(1) fn main() {{\n\
         {statements}\n}}"
    )
}

fn statements(text: impl AsRef<str>) -> String {
    kernel("", text.as_ref())
}

/// So many pieces, each made from its number.
fn many(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

fn not(count: usize) -> String {
    statements(format!("o[0] = u32({}true);", "!".repeat(count)))
}

fn pointers(count: usize) -> String {
    statements(format!("var a = 1u; o[0] = {}a;", "*&".repeat(count)))
}

fn sum(count: usize) -> String {
    statements(format!("o[0] = 1u{};", "+1u".repeat(count)))
}

fn indexed_sum(count: usize) -> String {
    statements(format!("o[0] = o[1]{};", "+o[1]".repeat(count)))
}

fn swizzles(count: usize) -> String {
    statements(format!("let v = vec4(o[1]); o[0] = v{}.x;", ".xyzw".repeat(count)))
}

fn else_ifs(count: usize) -> String {
    statements(format!("if o[0] == 0u {{ }}{}", many(count, |n| format!(" else if o[0] == {n}u {{ o[1] = {n}u; }}"))))
}

/// Each refers to the next, the last to a type: resolving the first means resolving all of them.
fn aliases(count: usize) -> String {
    let chain = many(count - 1, |n| format!("alias t{n} = t{};\n", n + 1));
    kernel(&format!("{chain}alias t{} = u32;\n", count - 1), "o[0] = t0(1);")
}

fn constants(count: usize) -> String {
    let chain = many(count - 1, |n| format!("const c{n} = c{} + 1;\n", n + 1));
    kernel(&format!("{chain}const c{} = 1;\n", count - 1), "o[0] = u32(c0);")
}

fn structures(count: usize) -> String {
    let chain = many(count - 1, |n| format!("struct S{} {{ m: S{n} }}\n", n + 1));
    kernel(&format!("struct S0 {{ m: u32 }}\n{chain}var<private> s: S{};\n", count - 1), "_ = s; o[0] = 1u;")
}

fn heavy(count: usize) -> String {
    statements("o[0]=o[1]*3u+o[2];\n".repeat(count))
}

fn lets(count: usize) -> String {
    statements(many(count, |n| format!("let x{n}={n}u;")))
}

fn cases(count: usize) -> String {
    statements(format!("switch o[0] {{ {}default: {{}} }}", many(count, |n| format!("case {n}u: {{o[1]={n}u;}} "))))
}

fn globals(count: usize) -> String {
    kernel(&many(count, |n| format!("var<private> g{n}: u32;\n")), "o[0] = g0;")
}

fn functions(count: usize) -> String {
    kernel(&many(count, |n| format!("fn f{n}() {{}}\n")), "f0();")
}

fn elements(count: usize) -> String {
    kernel(&format!("const a = array({}1);\n", "1,".repeat(count - 1)), "o[0] = u32(a[3]);")
}

fn comment(bytes: usize) -> String {
    kernel(&format!("/*{}*/\n", "x".repeat(bytes)), "o[0] = 1u;")
}

/// An instruction of SPIR-V, as the guest wants it.
fn op(code: u32, operands: &[u32]) -> String {
    let first = (operands.len() as u32 + 1) << 16 | code;
    [first].iter().chain(operands).map(|word| format!("{word:x} ")).collect()
}

/// An empty kernel in SPIR-V with more types and a body.
fn spirv(types: &str, body: &str) -> String {
    let header = "7230203 10300 0 4000 0 ".to_owned();
    // Capability Shader, memory model; the entry point is function 10, of size 1; void, its function type, bool, true, u32.
    let begin = [op(17, &[1]), op(14, &[0, 1]), op(15, &[5, 10, u32::from_le_bytes(*b"main"), 0])].concat();
    let mode = [op(16, &[10, 17, 1, 1, 1]), op(19, &[1]), op(33, &[2, 1]), op(20, &[3]), op(41, &[3, 4])].concat();
    let function = [op(21, &[20, 32, 0]), types.to_owned(), op(54, &[1, 10, 0, 2]), op(248, &[11])].concat();
    [header, begin, mode, function, body.to_owned(), op(253, &[]), op(56, &[])].concat()
}

/// Arrays of 16 inside each other.
fn arrays(count: u32) -> String {
    let inner = |n: u32| if n == 0 { 20 } else { 99 + n };
    let types = many(count as usize, |n| op(28, &[100 + n as u32, inner(n as u32), 21]));
    spirv(&format!("{}{types}", op(43, &[20, 21, 16])), "")
}

/// Selections inside each other.
fn selections(count: u32) -> String {
    let (inner, merge) = (|n: u32| 1000 + 2 * n, |n: u32| 1001 + 2 * n);
    let open = many(count as usize, |n| {
        let n = n as u32;
        [op(247, &[merge(n), 0]), op(250, &[4, inner(n), merge(n)]), op(248, &[inner(n)])].concat()
    });
    let close = many(count as usize, |n| {
        let n = count - 1 - n as u32;
        [op(249, &[merge(n)]), op(248, &[merge(n)])].concat()
    });
    spirv("", &format!("{open}{close}"))
}

/// What the device says to a source, after which it still loads and runs a good one; the guest sees to that.
fn answer(factory: &Arc<dyn Factory>, format: &str, source: &str, within: Duration, what: &str) -> String {
    let start = Instant::now();
    let guest = Guest::new("limit_kernel_source").with(factory.clone(), |grant| grant);
    let answer = guest.input(format!("{format}\n{source}")).run().well();
    let took = start.elapsed();
    println!("{what}, {} bytes: {answer:.100} ({took:.1?})", source.len());
    assert!(took < within, "{what}: answered after {took:?}");
    answer
}

/// Warms the code cache, so that what is timed is the answer.
fn factory() -> Arc<dyn Factory> {
    let factory = cpu();
    answer(&factory, "wgsl", &statements("o[0] = 1u;"), LATER, "a good kernel");
    factory
}

#[test]
fn limit_kernel_source() {
    let factory = factory();
    for (what, source) in [
        ("`!` 4,000 times", not(4_000)),
        ("`*&` 2,000 times", pointers(2_000)),
        ("`+1u` 4,000 times", sum(4_000)),
        ("`+o[1]` 4,000 times", indexed_sum(4_000)),
        ("`.xyzw` 4,000 times", swizzles(4_000)),
        ("`.xyzw` 210,000 times", swizzles(210_000)),
        ("1,600 `else if`", else_ifs(1_600)),
        ("7,000 aliases", aliases(7_000)),
        ("7,000 constants", constants(7_000)),
        ("5,000 structures in each other", structures(5_000)),
        ("100,000 structures in each other", structures(100_000)),
        ("10,000 statements", heavy(10_000)),
        ("100,000 statements", heavy(100_000)),
        ("15,000 lets", lets(15_000)),
        ("100,000 lets", lets(100_000)),
        ("9,000 cases", cases(9_000)),
        ("100,000 cases", cases(100_000)),
        ("9,000 globals", globals(9_000)),
        ("100,000 globals", globals(100_000)),
        ("15,000 functions", functions(15_000)),
        ("100,000 functions", functions(100_000)),
        ("an array of 100,000", elements(100_000)),
        ("an array of 1,000,000", elements(1_000_000)),
        ("a comment of 8 MiB", comment(8 << 20)),
    ] {
        let answer = answer(&factory, "wgsl", &source, SOON, what);
        assert!(answer.starts_with("StatusCode::ResourceExhausted: "), "{what}: {answer}");
        assert!(answer.len() < 1000, "{what}: {} bytes of message", answer.len());
    }
}

#[test]
fn limit_kernel_source_in_spirv() {
    let factory = factory();
    for (what, source) in
        [("40 arrays in each other", arrays(40)), ("1,600 selections in each other", selections(1_600))]
    {
        let answer = answer(&factory, "spirv", &source, SOON, what);
        assert!(answer.starts_with("StatusCode::ResourceExhausted: "), "{what}: {answer}");
    }
    // Below the cap, and larger than an address space.
    let larger = answer(&factory, "spirv", &arrays(30), SOON, "30 arrays in each other");
    assert!(larger.starts_with("StatusCode::"), "{larger}");
    assert_eq!(answer(&factory, "spirv", &spirv("", ""), SOON, "an empty kernel"), "1 functions");
    assert_eq!(answer(&factory, "spirv", &selections(60), SOON, "60 selections in each other"), "1 functions");
}

/// As much as the caps let through is compiled, or a later stage says that it is too much; nothing recurses into the ground.
#[test]
fn limit_kernel_source_at_its_edge() {
    let factory = factory();
    for (what, source) in [
        ("`!` 64 times", not(64)),
        ("`*&` 32 times", pointers(32)),
        ("`+1u` 250 times", sum(250)),
        ("`+o[1]` 100 times", indexed_sum(100)),
        ("`.xyzw` 240 times", swizzles(240)),
        ("64 `else if`", else_ifs(64)),
        ("1,020 aliases", aliases(1_020)),
        ("1,020 constants", constants(1_020)),
        ("1,020 structures in each other", structures(1_020)),
        ("1,800 statements", heavy(1_800)),
        ("4,000 lets", lets(4_000)),
        ("1,000 cases", cases(1_000)),
        ("1,020 globals", globals(1_020)),
        ("1,020 functions", functions(1_020)),
        ("an array of 250", elements(250)),
    ] {
        let answer = answer(&factory, "wgsl", &source, LATER, what);
        let refused = ["StatusCode::ResourceExhausted: ", "StatusCode::InvalidArgument: "];
        assert!(answer == "1 functions" || refused.iter().any(|code| answer.starts_with(code)), "{what}: {answer}");
    }
}

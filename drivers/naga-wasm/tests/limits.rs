//! What is refused: beyond a limit, not implemented, wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use std::time::{Duration, Instant};

use common::{compile, front, refuse};
use naga_wasm::{Diagnostic, Kind, Options, PASSES};

fn main_with(declarations: &str, body: &str) -> String {
    format!(
        "{declarations}\n@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {{ {body} }}"
    )
}

#[track_caller]
fn limited(source: &str, options: &Options, says: &str) -> Diagnostic {
    let (module, info) = front(source);
    let error = naga_wasm::compile(&module, &info, "main", options).map(|_| ()).unwrap_err();
    assert_eq!(error.kind, Kind::Limit, "{error}");
    assert!(error.message.contains(says), "{error}");
    error
}

#[track_caller]
fn compiles(source: &str, options: &Options) -> naga_wasm::Kernel {
    let (module, info) = front(source);
    naga_wasm::compile(&module, &info, "main", options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn workgroup_memory() {
    let with = |words: u32| main_with(&format!("var<workgroup> w: array<u32, {words}>;"), "w[l] = 1u; o[l] = w[3];");
    let options = Options::default();
    assert_eq!(compiles(&with(8192), &options).features.workgroup_bytes, 32768);
    limited(&with(8193), &options, "workgroup memory");
    limited(&with(12), &Options { max_workgroup_bytes: 40, ..options }, "workgroup memory");
}

#[test]
fn invocations() {
    let with = |size: &str| format!("@compute @workgroup_size({size}) fn main() {{}}");
    let options = Options::default();
    compiles(&with("32, 32"), &options);
    limited(&with("205, 5"), &options, "invocations");
    limited(&with("128, 128, 128"), &options, "invocations");
}

#[test]
fn scratch_memory() {
    let with = |words: u32| {
        main_with(
            "var<workgroup> w: u32;",
            &format!("var a: array<u32, {words}>; a[l] = l; workgroupBarrier(); o[l] = a[o[l]];"),
        )
    };
    let options = Options { max_scratch_bytes: 4096, ..Options::default() };
    let kernel = compiles(&with(200), &options);
    // An array for each of four invocations.
    assert!(kernel.scratch_per_worker >= 3200 && kernel.scratch_per_worker.is_multiple_of(16));
    limited(&with(300), &options, "scratch memory");
    // Without a barrier the arrays of one gang serve all.
    let alone = main_with("", "var a: array<u32, 200>; a[l] = l; o[l] = a[o[l]];").replace("size(4)", "size(64)");
    assert!(compiles(&alone, &options).scratch_per_worker < 3300);
}

#[test]
fn locals_and_size() {
    // Sums that all stay alive until the end.
    let lets: String = (0..200).map(|at| format!("let v{at} = o[{at}] * 3u;")).collect();
    let sum: Vec<String> = (0..200).map(|at| format!("v{at}")).collect();
    let source = main_with("", &format!("{lets} o[0] = {};", sum.join("+")));
    let options = Options::default();
    compiles(&source, &options);
    limited(&source, &Options { max_locals: 150, ..options.clone() }, "locals");
    limited(&source, &Options { max_wasm_bytes: 2000, ..options }, "bytes of wasm");
}

#[test]
fn values_beyond_a_few_hundred_lie_in_memory() {
    let source = main_with(
        "",
        &format!(
            "{} {}",
            (0..1000).map(|at| format!("let v{at} = o[{at}] * 3u + l;")).collect::<String>(),
            (0..1000).map(|at| format!("if l == 0u {{ o[{at}] = v{}; }}", 999 - at)).collect::<String>()
        ),
    );
    let kernel = compiles(&source, &Options { max_locals: 400, ..Options::default() });
    assert!(kernel.scratch_per_worker >= 3200);
    let input: Vec<u32> = (0..1000).collect();
    let buffers = vec![(0, common::bytes_u(&input))];
    let out = common::run_kernel(&kernel, common::Run { buffers, ..common::Run::default() });
    let want: Vec<u32> = (0..1000).map(|at| (999 - at) * 3).collect();
    assert_eq!(out.words(0), want);
}

#[test]
fn temporaries_share_locals() {
    let source = main_with("", &"o[l] = o[l] * 3u + o[l + 1u];".repeat(1000));
    compiles(&source, &Options { max_locals: 100, ..Options::default() });
}

#[test]
fn a_large_kernel_is_answered_soon() {
    let start = Instant::now();
    // As much as a front end lets through: four scalars for each of four thousand statements.
    let source = main_with(
        "@group(0) @binding(1) var<storage, read_write> p: array<mat4x4<f32>>;",
        &"p[l] = p[l] * p[l + 1u];\n".repeat(1500),
    );
    match compile(&source, "main") {
        Ok(kernel) => assert!(kernel.wasm.len() <= 1 << 20),
        Err(error) => assert_eq!(error.kind, Kind::Limit, "{error}"),
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn copies_of_functions_in_functions_do_not_explode() {
    // 2^30 calls, and each function has a barrier, so that all must be copied.
    let chain: String = (1..30).map(|at| format!("fn f{at}() {{ f{0}(); f{0}(); }}\n", at - 1)).collect();
    let start = Instant::now();
    let with_barrier = main_with(&format!("fn f0() {{ workgroupBarrier(); }}\n{chain}"), "f29();");
    limited(&with_barrier, &Options::default(), "larger than");
    // Without one they stay functions.
    let plain = main_with(&format!("fn f0() {{ o[0] += 1u; }}\n{chain}"), "f29();");
    let kernel = compiles(&plain, &Options::default());
    assert!(kernel.wasm.len() < 100_000);
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn calls_inside_each_other() {
    let chain = |depth: u32| {
        let all: String = (1..=depth)
            .map(|at| format!("fn f{at}(p: ptr<function, u32>) {{ *p += 1u; f{}(p); }}\n", at - 1))
            .collect();
        main_with(
            &format!("fn f0(p: ptr<function, u32>) {{ *p *= 2u; }}\n{all}"),
            &format!("var x = l; f{depth}(&x); o[l] = x;"),
        )
    };
    compiles(&chain(60), &Options::default());
    limited(&chain(80), &Options::default(), "calls are nested");
}

/// Each function calls the next one twice, so what `main` costs is two to the power of their number: no sum may overflow.
#[test]
fn calls_that_double_at_each_level_are_charged_without_overflow() {
    for depth in [40, 60, 62, 63, 64, 65, 200] {
        let mut functions = format!("fn f{depth}(x: u32) -> u32 {{ return x * 3u; }}\n");
        for level in (0..depth).rev() {
            let next = level + 1;
            functions += &format!("fn f{level}(x: u32) -> u32 {{ return f{next}(x) + f{next}(x + 1u); }}\n");
        }
        compiles(
            &main_with(&functions, "if (o[l] > 3u) { o[l] = f0(l); } else { o[l] = f0(l + 1u); }"),
            &Options::default(),
        );
    }
}

#[test]
fn statements_inside_each_other() {
    let nest = |depth: usize| format!("{} o[l] += 1u; {}", "if o[l] > 0u {".repeat(depth), "}".repeat(depth));
    compiles(&main_with("", &nest(100)), &Options::default());
    // Copied into each other they are deeper than any one of them.
    let twice = main_with(
        &format!("fn f(l: u32, p: ptr<function, u32>) {{ {} }}", nest(100)),
        &nest(100).replace("o[l] += 1u;", "var x = 0u; f(l, &x);"),
    );
    compiles(&twice, &Options::default());
    let thrice = main_with(
        &format!(
            "fn f(l: u32, p: ptr<function, u32>) {{ {} }} fn g(l: u32, p: ptr<function, u32>) {{ {} }}",
            nest(100),
            nest(100).replace("o[l] += 1u;", "f(l, p);")
        ),
        &nest(100).replace("o[l] += 1u;", "var x = 0u; g(l, &x);"),
    );
    limited(&thrice, &Options::default(), "nested");
}

#[test]
fn a_chain_of_variables_through_a_loop_is_answered_soon() {
    let variables: String = (0..1000).map(|at| format!("var v{at} = 0u;")).collect();
    let chain: String = (0..999).map(|at| format!("v{at} = v{};", at + 1)).collect();
    let start = Instant::now();
    let source = main_with(
        "@group(0) @binding(1) var<storage> n: u32;",
        &format!("{variables} for (var i = 0u; i < n; i++) {{ {chain} v999 = o[l]; workgroupBarrier(); }} o[l] = v0;"),
    );
    // The loop's own variable is no longer believed in after so many rounds: refused, but soon.
    match compile(&source, "main") {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind, Kind::Invalid, "{error}"),
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn what_is_not_implemented_says_so_and_where() {
    for (declarations, body) in [
        ("", "o[l] = u32(f64(l));"),
        ("@group(0) @binding(1) var<storage, read_write> w: atomic<u64>;", "atomicAdd(&w, 1lu);"),
        ("@group(0) @binding(1) var t: texture_2d<f32>;", "o[l] = textureDimensions(t).x;"),
        ("@group(0) @binding(1) var t: texture_storage_2d<r32float, write>;", "textureStore(t, vec2(0), vec4(1.0));"),
    ] {
        let error = refuse(&main_with(declarations, body), "main");
        assert_eq!(error.kind, Kind::Unimplemented, "{body}: {error}");
        assert!(error.span.is_some(), "{body}: {error}");
    }
}

#[test]
fn what_is_wrong_says_so() {
    let error = refuse("@compute @workgroup_size(1) fn main() {}", "other");
    assert_eq!((error.kind, error.message.contains("`other`")), (Kind::Invalid, true));
    let error = refuse("@fragment fn main() {}", "main");
    assert_eq!(error.kind, Kind::Invalid);
    for source in [
        "override n: u32; @compute @workgroup_size(n) fn main() {}".to_owned(),
        main_with("override n: u32 = 3u;", "o[l] = n;"),
        main_with("@group(1) @binding(0) var<storage, read_write> q: array<u32>;", "q[l] = 1u;"),
    ] {
        assert_eq!(refuse(&source, "main").kind, Kind::Invalid, "{source}");
    }
}

#[test]
fn the_passes_have_names() {
    assert_eq!(PASSES.first(), Some(&"layout"));
    assert_eq!(PASSES.last(), Some(&"emit"));
}

#[test]
fn compiling_twice_gives_the_same_bytes() {
    let source = main_with(
        "var<workgroup> w: array<u32, 4>; var<private> p: array<u32, 9>; fn f(x: u32) -> u32 { p[x & 7u] = x; return u32(exp(f32(x)) + sin(f32(x))); }",
        "var a = l; var b = l + 1u; w[l] = f(a); workgroupBarrier(); o[l] = w[3u - l] + a * b + p[2];",
    );
    let (first, second) = (compile(&source, "main").unwrap(), compile(&source, "main").unwrap());
    assert_eq!(first.wasm, second.wasm);
}

#[test]
fn a_condition_of_shared_parts_has_not_as_many_parts_as_ways_to_them() {
    let levels: String = (0..40).map(|k| format!("let a{0} = a{k} & b{k}; let b{0} = b{k} & a{k};\n", k + 1)).collect();
    let body = format!("let x = o[0]; let a0 = x < o[1]; let b0 = x < o[2]; {levels} if a40 {{ o[x] = 1u; }}");
    // A walk through each way would not end.
    compiles(&main_with("", &body), &Options::default());
}

#[test]
fn many_assignments_under_many_partings() {
    let nest = |index: &str| (0..100).map(|at| format!("if o[{index} + {at}u] > {index} {{")).collect::<String>();
    let end = "}".repeat(100);
    // Each round of the analysis finds one more of these.
    let chain: String = (0..70).map(|at| format!("v{at} = v{};", at + 1)).collect();
    let variables: String = (0..=70).map(|at| format!("var v{at} = 0u;")).collect();
    let function = format!(
        "fn f(x: u32) -> u32 {{ var t = x; {} let c = o[x] > x; for (var i = 0u; i < x; i++) {{ {} }} {end} return t; }}",
        nest("x"),
        "if c { t = x; }".repeat(1800),
    );
    let body = format!(
        "{variables} for (var i = 0u; i < o[0]; i++) {{ {chain} v70 = o[l]; {} o[l] = f(o[l]); {end} }} o[l] = v0;",
        nest("l"),
    );
    let start = Instant::now();
    compiles(&main_with(&function, &body), &Options::default());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_large_constant_is_evaluated_once() {
    let zeros = "array<u32, 100000>()";
    let table = format!("const C = array<array<u32, 100000>, 2>({zeros}, {zeros});");
    let body: String = (0..1000).map(|at| format!("o[{at}] = C[o[{at}] & 1u][o[0]];")).collect();
    let start = Instant::now();
    // What it is refused for is found out at the end.
    limited(&main_with(&table, &body), &Options::default(), "scratch memory");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn functions_that_stay_functions_count_together() {
    let doubled: String =
        (1..11).map(|n| format!("fn h{n}(p: ptr<function, u32>) {{ h{0}(p); h{0}(p); }}\n", n - 1)).collect();
    let kept: String =
        (0..200).map(|n| format!("fn k{n}(x: u32) -> u32 {{ var v = x + 0u; h10(&v); return v; }}\n")).collect();
    let calls: String = (0..200).map(|n| format!("v += k{n}(v); v += k{n}(v);")).collect();
    let declarations = format!("fn h0(p: ptr<function, u32>) {{ *p = *p * 3u + o[*p]; }}\n{doubled}{kept}");
    limited(&main_with(&declarations, &format!("var v = l; {calls} o[l] = v;")), &Options::default(), "expressions");
}

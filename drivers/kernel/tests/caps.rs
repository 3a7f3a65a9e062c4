//! Every cap, at its edge and one over, and what hostile source does: nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::answer;
use hal_kernel::limits::{
    MAX_DECLARATIONS, MAX_ELSE_IFS, MAX_FUNCTION_STATEMENTS, MAX_LIST_TOKENS, MAX_PREFIX_RUN, MAX_SPIRV_BYTES,
    MAX_STATEMENT_TOKENS, MAX_TOKENS, MAX_WGSL_BYTES,
};
use hal_kernel::{ErrorCode, Format, SourceLimits, load};

#[track_caller]
fn accepted(source: &str) {
    if let Err(error) = answer(source) {
        panic!("{error}");
    }
}

#[track_caller]
fn over(source: &str, what: &str) {
    let error = answer(source).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    assert!(error.message.contains(what), "{error}");
}

/// A kernel around statements.
fn body(statements: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n@compute @workgroup_size(1) fn main() {{\n\
         {statements}\n}}"
    )
}

#[test]
fn source_bytes() {
    let kernel = body("o[0] = 1u;");
    let padded = |size: usize| format!("{kernel}{}", " ".repeat(size - kernel.len()));
    accepted(&padded(MAX_WGSL_BYTES));
    over(&padded(MAX_WGSL_BYTES + 1), "bytes of WGSL");
    let error = load(Format::Spirv, &vec![0; MAX_SPIRV_BYTES + 4], &SourceLimits::default()).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted);
    let lowered = SourceLimits { wgsl_bytes: 10, ..SourceLimits::default() };
    let error = load(Format::Wgsl, kernel.as_bytes(), &lowered).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted);
    let raised = SourceLimits { wgsl_bytes: usize::MAX, ..SourceLimits::default() };
    assert!(load(Format::Wgsl, padded(MAX_WGSL_BYTES + 1).as_bytes(), &raised).is_err());
}

#[test]
fn prefix_operators() {
    let run = |count: usize| body(&format!("var b = {}true; o[0] = u32(b);", "!".repeat(count)));
    accepted(&run(MAX_PREFIX_RUN));
    over(&run(MAX_PREFIX_RUN + 1), "prefix operators");
    over(&run(4000), "prefix operators");
    over(&body(&format!("var a = 1u; o[0] = {}a;", "*&".repeat(2000))), "prefix operators");
    over(&body(&format!("var a = 1; o[0] = u32({}a);", "- ".repeat(4000))), "prefix operators");
    over(&body(&format!("var a = 1; o[0] = u32({}a);", "-/**/".repeat(4000))), "prefix operators");
}

#[test]
fn statement_tokens() {
    // `o[0] = 1u` is six tokens.
    let sum = |tokens: usize| body(&format!("o[0] = 1u{};", "+1u".repeat((tokens - 6) / 2)));
    accepted(&sum(MAX_STATEMENT_TOKENS));
    over(&sum(MAX_STATEMENT_TOKENS + 2), "tokens in one statement");
    over(&body(&format!("o[0] = 1u{};", "+1u".repeat(4000))), "tokens in one statement");
    over(&body(&format!("o[0] = o[1]{};", "+o[1]".repeat(4000))), "tokens in one statement");
    over(&body(&format!("let v = vec4(1u); o[0] = v{}.x;", ".xyzw".repeat(4000))), "tokens in one statement");
    over(&format!("const a = array({}1);", "1,".repeat(30_000)), "tokens in one statement");
}

#[test]
fn elements_of_lists_count_one_at_a_time() {
    let table = |elements: usize| format!("const t = array<f32, {elements}>({});", "1.5, ".repeat(elements));
    accepted(&format!("{}\n{}", table(256), body("o[0] = u32(t[o[1]]);")));
    // `const t = array<f32, n>(` and `)` are eleven tokens, and each element is two.
    let most = (MAX_LIST_TOKENS - 11) / 2;
    accepted(&format!("{}\n{}", table(most), body("o[0] = u32(t[o[1]]);")));
    over(&format!("{}\n{}", table(most + 1), body("o[0] = u32(t[o[1]]);")), "tokens in one statement");
    // `const t = array ( 1` and what follows in the element.
    let element =
        |tokens: usize| format!("const t = array(1, 1{}, 1);\n{}", "+1".repeat((tokens - 6) / 2), body("o[0] = 1u;"));
    accepted(&element(MAX_STATEMENT_TOKENS));
    over(&element(MAX_STATEMENT_TOKENS + 2), "element of a list");
    // What stands around an element counts in each, so that lists in lists are not deeper than statements.
    let nested = |depth: usize| body(&format!("o[0] = {}1u{};", "max(1u, ".repeat(depth), ")".repeat(depth)));
    over(&nested(MAX_STATEMENT_TOKENS), "element of a list");
    over(&body(&"(,".repeat(MAX_STATEMENT_TOKENS + 1)), "element of a list");
    // What is no list is not shortened by commas.
    over(&body(&format!("o[0] = 1u{};", ", 1u".repeat(400))), "element of a list");
    over(&format!("fn f({}) {{ }}", "a: u32, ".repeat(200)), "element of a list");
    over(&body(&format!("switch o[0] {{ case {} default: {{ }} }}", "1, ".repeat(300))), "element of a list");
}

#[test]
fn long_lists_of_what_is_heavy_end_soon() {
    let list = |element: &str, count: usize| format!("{element}, ").repeat(count);
    let table = format!("const a = array({});", list("1", 1_000));
    accepted(&body(&format!("var a = array({}); o[0] = a[o[1]];", list("o[1]*3u+o[2]", 160))));
    let uses = "o[0] = u32(a[7]) + u32(a[o[1]]);\n".repeat(1_000);
    accepted(&format!("{table}\n{}", body(&uses)));
    let numbers: String = (0..900).map(|at| format!("const c{at} = a[{at}];\n")).collect();
    accepted(&format!("{table}\n{numbers}{}", body("o[0] = u32(c7);")));
    let arrays: String = (0..250).map(|at| format!("const b{at} = array({});\n", "a,".repeat(50))).collect();
    accepted(&format!("{table}\n{arrays}{}", body("o[0] = u32(b7[o[1]][o[2]]);")));
}

#[test]
fn else_ifs() {
    let chain = |count: usize| body(&format!("if o[0] == 0u {{ }}{}", " else if o[0] == 1u { }".repeat(count)));
    accepted(&chain(MAX_ELSE_IFS));
    over(&chain(MAX_ELSE_IFS + 1), "`else if`");
    over(&chain(1500), "`else if`");
    // Chains one after the other are not one chain.
    accepted(&body(&"if o[0] == 0u { } else if o[0] == 1u { } else { }\n".repeat(200)));
}

#[test]
fn declarations() {
    // The kernel itself is two.
    let consts = |count: usize| {
        let all: String = (0..count).map(|at| format!("const c{at} = {at};\n")).collect();
        format!("{all}{}", body("o[0] = 1u;"))
    };
    accepted(&consts(MAX_DECLARATIONS - 2));
    over(&consts(MAX_DECLARATIONS - 1), "declarations at module scope");
    let reverse: String = (0..1020).map(|at| format!("alias t{at} = t{};\n", at + 1)).collect();
    accepted(&format!("{reverse}alias t1020 = u32;\n{}", body("o[0] = t0(1);")));
    let functions: String = (0..20_000).map(|at| format!("fn f{at}(){{}}")).collect();
    over(&functions, "declarations at module scope");
}

#[test]
fn structures() {
    let chain: String = (1..1020).map(|at| format!("struct S{at} {{ m: S{} }}\n", at - 1)).collect();
    // Whatever the answer to so deep a type is, it is one.
    let _ = answer(&format!("struct S0 {{ m: u32 }}\n{chain}var<private> s: S1019;\n{}", body("o[0] = 1u;")));
    // Types that contain others twice.
    let twice: String = (1..26).map(|at| format!("struct T{at} {{ a: T{0}, b: T{0} }}\n", at - 1)).collect();
    let _ = answer(&format!(
        "struct T0 {{ m: u32 }}\n{twice}var<private> s: T25;\n{}",
        body("o[0] = s.a.a.b.b.a.a.a.a.a.m;")
    ));
    let members: String = (0..300).map(|at| format!("m{at}: u32,")).collect();
    accepted(&format!("struct S {{ {members} }};\n{}", body("o[0] = 1u;")));
}

#[test]
fn function_statements() {
    let many = |count: usize| body(&"o[0]=1u;".repeat(count));
    accepted(&many(MAX_FUNCTION_STATEMENTS));
    over(&many(MAX_FUNCTION_STATEMENTS + 1), "statements in one function");
}

#[test]
fn tokens() {
    let count = |functions: usize| {
        let all: String = (0..functions)
            .map(|at| format!("fn f{at}(a: u32) -> u32 {{ {} return a; }}\n", "_ = a;".repeat(160)))
            .collect();
        format!("{all}{}", body("o[0] = 1u;"))
    };
    accepted(&count(50));
    over(&count(51), &format!("{MAX_TOKENS} tokens"));
}

#[test]
fn quadratic_statements() {
    // 6.4 s without caps.
    let heavy = body(&"o[0]=o[1]*3u+o[2];\n".repeat(10_000));
    let error = answer(&heavy).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted);
    // The most that passes.
    accepted(&body(&"o[0]=o[1]*3u+o[2];\n".repeat(1_800)));
    let cases: String = (0..4000).map(|at| format!("case {at}:{{}}")).collect();
    let _ = answer(&body(&format!("switch o[0] {{ {cases} default: {{}} }}")));
}

#[test]
fn harmless_inputs_are_answered() {
    for source in [
        String::new(),
        "\u{feff}".to_owned(),
        "(".repeat(200_000),
        "{".repeat(200_000),
        "}".repeat(1000),
        "[".repeat(500),
        body(&"{".repeat(2000)),
        body(&format!("o[0] = {}1u{};", "(".repeat(250), ")".repeat(250))),
        body(&format!("o[0] = {}0u{};", "o[".repeat(170), "]".repeat(170))),
        format!("/*{}", "/*".repeat(100_000)),
        format!("//{}", "x".repeat(260_000)),
        "a".repeat(260_000),
        "fn f() { f(); }".to_owned(),
        "struct S { s: S }".to_owned(),
        "var<private> a: array<array<array<u32, 65535>, 65535>, 65535>;".to_owned(),
        "var<private> a: array<u32, 4294967295>;".to_owned(),
        "@compute @workgroup_size(0) fn main() {}".to_owned(),
        "@compute @workgroup_size(4294967295, 4294967295, 4294967295) fn main() {}".to_owned(),
        "\0\u{1}\u{202e}💥".to_owned(),
    ] {
        let _ = answer(&source);
    }
    let error = load(Format::Wgsl, &[0x66, 0xff, 0xfe], &SourceLimits::default()).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
}

#[test]
fn messages_say_where_and_quote_little() {
    let error = answer("fn main() {\n    let x = nothing;\n}").unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
    let place = error.place.unwrap();
    assert_eq!((place.line, place.column), (2, 13));
    assert!(error.to_string().starts_with("2:13: "), "{error}");
    assert!(error.message.contains("nothing"), "{error}");
    let error = answer(&format!("fn main() {{ let x = {}; }}", "n".repeat(100_000))).unwrap_err();
    assert!(error.message.len() < 1000, "{}", error.message.len());
    let error = answer("fn main() { let x = \u{1b}[31m; }").unwrap_err();
    assert!(!error.message.contains('\u{1b}'), "{error:?}");
}

/// What those ask first who come from other tools.
#[test]
fn messages_say_what_to_do() {
    let storage = "@group(0) @binding(1) var<storage>";
    let cases = [
        ("enable subgroups;\n".to_owned(), "o[0] = 1u;", "1:8: ", "leave the line out"),
        ("var<push_constant> c: u32;\n".to_owned(), "o[0] = c;", "1:5: ", "`var<immediate>`"),
        (
            format!("{storage} a: array<u32>;\n"),
            "a[1] = 1u;",
            "4:1: ",
            "`a` is written, and is declared to be read only",
        ),
        (format!("{storage} a: atomic<u32>;\n"), "atomicAdd(&a, 1u);", "", "`var<storage, read_write>`"),
        ("@group(0) @binding(1) var<uniform> a: vec4<u32>;\n".to_owned(), "a.x = 1u;", "4:", "is a uniform"),
        ("var<immediate> c: u32;\n".to_owned(), "c = 1u;", "4:", "is constants"),
        (format!("{storage} a: array<bool>;\n"), "o[0] = u32(a[0]);", "1:", "`a` has a `bool` in it"),
        (format!("struct S {{ b: bool, }}\n{storage} a: S;\n"), "o[0] = u32(a.b);", "2:", "use `u32`"),
        ("var<workgroup> a: array<u32>;\n".to_owned(), "o[0] = a[0];", "1:", "`a` has an array without length"),
        ("@group(0) @binding(1) var<uniform> a: array<u32, 4>;\n".to_owned(), "o[0] = a[0];", "1:", "multiples of 16"),
        (format!("{storage} a: u32;\n{storage} b: u32;\n"), "o[0] = a + b;", "2:", "`a` (1:23) and `b` (2:23) are all"),
        ("fn f(p: ptr<workgroup, u32>) { *p = 1u; }\n".to_owned(), "o[0] = 1u;", "1:", "pass an index"),
    ];
    for (before, inside, place, says) in cases {
        let error = answer(&format!("{before}{}", body(inside))).unwrap_err();
        assert!(error.message.contains(says) && error.to_string().starts_with(place), "{error}");
    }
    for (built_in, ty, right) in [
        ("global_invocation_id", "vec3<i32>", "vec3<u32>"),
        ("num_workgroups", "u32", "vec3<u32>"),
        ("local_invocation_index", "i32", "u32"),
    ] {
        let source = format!("@compute @workgroup_size(1)\nfn main(@builtin({built_in}) id: {ty}) {{ }}");
        let error = answer(&source).unwrap_err();
        let says = format!("2:4: `@builtin({built_in})` is a `{right}`; declare it as that");
        assert!(error.to_string().starts_with(&says), "{error}");
    }
}

#[test]
fn messages_say_nothing_of_tables() {
    let cases = [
        ("fn f(a: u32) -> u32 { if a > 1u { return 1u; } }\n", "declared return type `u32`"),
        ("fn f() { loop { let x = g(); } }\nfn g() -> array<f32, 3> { loop { } }\n", "`array<f32, 3>`"),
        ("fn f() { var x: u32; x = 1.5f; }\n", "`u32`"),
        ("fn f() { let a = vec3<u32>(1u); let b = a[7]; }\n", ""),
        ("fn f() { let a = array<u32, 3>(1u, 2u); }\n", ""),
        ("fn f(a: ptr<storage, u32, read_write>) { *a = 1u; }\n", "'a'"),
        ("const a = 1u / 0u;\n", ""),
        ("const_assert 1 > 2;\n", ""),
        ("@group(0) @binding(0) var<uniform> u: array<u32, 4>;\n", "`u`"),
        ("fn f() { let x = dot(vec2(1.0), vec3(1.0)); }\n", ""),
        ("fn f() { switch 1u { case 1: { } case 1: { } default: { } } }\n", ""),
    ];
    for (source, says) in cases {
        let error = answer(&format!("{source}{}", body("o[0] = 1u;"))).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
        assert!(error.message.contains(says), "{error}");
        assert!(!error.message.contains("see msg"), "{error}");
        // Of what is not quoted from the source.
        let own = error.message.split(", at `").next().unwrap();
        let mut places =
            own.match_indices('[').filter(|(at, _)| own[at + 1..].starts_with(|it: char| it.is_ascii_digit()));
        assert!(!places.any(|(at, _)| at == 0 || own[..at].ends_with([' ', '('])), "{error}");
        println!("{error}");
    }
}

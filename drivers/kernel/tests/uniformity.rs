//! Barriers that not all invocations may reach are refused, with the place, and no others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use common::answer;
use hal_kernel::{ErrorCode, Format, KernelError, OverrideValue, SourceLimits, load};

const GLOBALS: &str = "
    struct Pair { a: u32, b: vec2<u32> }
    @group(0) @binding(0) var<storage, read_write> o: array<u32>;
    @group(0) @binding(1) var<storage, read> r: array<u32>;
    @group(0) @binding(2) var<storage, read_write> only_read: array<u32>;
    @group(0) @binding(3) var<uniform> u: vec4<u32>;
    var<workgroup> w: u32;
    var<workgroup> tile: array<u32, 64>;
    var<workgroup> count: atomic<u32>;
    var<private> p: u32;
    var<private> q: Pair;
    fn sync() { workgroupBarrier(); }
    fn sync_if(c: bool) { if c { workgroupBarrier(); } }
    fn same(v: u32) -> u32 { return v + 1u; }
    fn early(v: u32) -> u32 { if v == 1u { return 2u; } return 3u; }
    fn assign(to: ptr<function, u32>, v: u32) { *to = v; }
    fn bump(v: u32) { p += v; }
    fn mine(v: u32) -> u32 { var t = v; if t > 2u { t = 1u; } return t; }
    fn third(v: u32) -> u32 { return mine(v) + early(v); }";

/// A kernel around statements, 64 invocations in one row.
fn kernel(body: &str) -> String {
    format!(
        "{GLOBALS}
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32,
            @builtin(local_invocation_id) id: vec3<u32>, @builtin(global_invocation_id) gid: vec3<u32>,
            @builtin(workgroup_id) g: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>,
            @builtin(subgroup_id) subgroup: u32, @builtin(subgroup_size) size: u32,
            @builtin(subgroup_invocation_id) lane: u32) {{
            o[l] = w + only_read[l] + tile[l] + u.x + r[l] + p + q.a;
            {body}
        }}"
    )
}

#[track_caller]
fn accepted(source: &str) {
    if let Err(error) = answer(source) {
        panic!("{error}\n{source}");
    }
}

#[track_caller]
fn refused(source: &str) -> KernelError {
    let error = match answer(source) {
        Ok(_) => panic!("accepted\n{source}"),
        Err(error) => error,
    };
    assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}\n{source}");
    assert!(error.message.contains("barrier in control flow that is not uniform"), "{error}\n{source}");
    error
}

#[test]
fn conditions_that_differ() {
    for condition in [
        "l == 0u",
        "id.x == 0u",
        "gid.x == 0u",
        "o[0] == 0u",
        "w == 0u",
        "tile[0] == 0u",
        "r[l] == 0u",
        "r[o[0]] == 0u",
        "atomicAdd(&count, 1u) == 0u",
        "atomicLoad(&count) == 0u",
        "any(id == vec3(0u))",
        "dot(id, id) == 0u",
        "subgroupAdd(1u) == 1u",
        "subgroupAny(true)",
        "subgroup == 0u",
        "lane == 0u",
        "select(g.x, l, n.x == 1u) == 0u",
        "same(l) == 1u",
        "early(l) == 2u",
        "third(l) == 2u",
        "workgroupUniformLoad(&tile[l]) == 0u",
        "vec2(g.x, l).yx.x == 0u",
        "array(1u, 2u, 3u)[l % 3u] == 1u",
        "Pair(1u, id.xy).b.x == 1u",
    ] {
        refused(&kernel(&format!("if {condition} {{ workgroupBarrier(); }}")));
    }
}

#[test]
fn conditions_that_are_the_same_for_all() {
    for condition in [
        "g.x == 0u",
        "n.y == 3u",
        "id.y == 0u && gid.z == g.z",
        "r[g.x] == 0u",
        "u[g.x % 4u] == 0u",
        "only_read[3] == 0u",
        "arrayLength(&o) > 5u",
        "size == 32u",
        "workgroupUniformLoad(&w) == 0u",
        "workgroupUniformLoad(&tile[g.x]) == 0u",
        "same(g.x) == 1u",
        "early(g.x) == 2u",
        "third(g.x) == 2u",
        "vec2(g.x, l).yx.y == 0u",
        "Pair(1u, id.xy).b.y == 1u",
        "Pair(1u, id.xy).a == 1u",
        "array(l, 2u, 3u)[1] == 1u",
        "all(vec3(g.x, id.yz) == vec3(0u))",
        "dot(id.yz, id.zy) == 0u",
        "(vec3<f32>(g) * 2.0).y == f32(n.x)",
    ] {
        accepted(&kernel(&format!("if {condition} {{ workgroupBarrier(); }}")));
    }
}

#[test]
fn variables() {
    for body in [
        "var v = 0u; if l == 1u { v = 1u; } if v == 0u { workgroupBarrier(); }",
        "var v = g.x; v = l; if v == 0u { workgroupBarrier(); }",
        "var v = vec2(g.x, 0u); v.y = l; if v.y == 0u { workgroupBarrier(); }",
        "var v = array<u32, 3>(); v[g.x] = l; if v[1] == 0u { workgroupBarrier(); }",
        "var v = array<u32, 3>(); v[l] = g.x; if v[1] == 0u { workgroupBarrier(); }",
        "var v = array<u32, 300>(); v[7] = l; if v[1] == 0u { workgroupBarrier(); }",
        "var v = 0u; assign(&v, l); if v == 0u { workgroupBarrier(); }",
        "var v = 0u; if l == 3u { assign(&v, 1u); } if v == 0u { workgroupBarrier(); }",
        "bump(l); if p == 0u { workgroupBarrier(); }",
        "if l == 3u { bump(1u); } if p == 0u { workgroupBarrier(); }",
        "q.b.x = l; if q.b.x == 0u { workgroupBarrier(); }",
        "q = Pair(l, vec2(0u)); let t = q; if t.a == 0u { workgroupBarrier(); }",
        // Handed on from round to round.
        "var a = 0u; var b = 0u; var c = 0u;
         for (var i = 0u; i < 4u; i++) { if a == 1u { workgroupBarrier(); } a = b; b = c; c = l; }",
    ] {
        refused(&kernel(body));
    }
    for body in [
        "var v = 0u; if g.x == 1u { v = 1u; } if v == 0u { workgroupBarrier(); }",
        "var v = vec2(g.x, 0u); v.y = l; if v.x == 0u { workgroupBarrier(); }",
        "var v = array<u32, 3>(); v[0] = l; if v[1] == 0u { workgroupBarrier(); }",
        "var v = array<u32, 300>(); v[g.x] = g.y; if v[1] == 0u { workgroupBarrier(); }",
        "var v = 0u; assign(&v, g.x); if v == 0u { workgroupBarrier(); }",
        "var v = 0u; var t = 0u; assign(&v, g.x); assign(&t, l); if v == 0u { workgroupBarrier(); }",
        "bump(g.x); if p == 0u { workgroupBarrier(); }",
        "q.b.x = l; if q.b.y + q.a == 0u { workgroupBarrier(); }",
        "q = Pair(g.x, vec2(l)); let t = q; if t.a == 0u { workgroupBarrier(); }",
    ] {
        accepted(&kernel(body));
    }
}

#[test]
fn control_flow() {
    for body in [
        "if l == 2u { return; } workgroupBarrier();",
        "if l == 2u { if g.x == 1u { return; } } storageBarrier();",
        "for (var i = 0u; i < l; i++) { workgroupBarrier(); }",
        "for (var i = 0u; i < 4u; i++) { if l == i { continue; } workgroupBarrier(); }",
        "for (var i = 0u; i < 4u; i++) { if l == i { break; } } for (var i = 0u; i < 4u; i++) { if l == i { return; } } sync();",
        "for (var i = 0u; i < 4u; i++) { workgroupBarrier(); if l == i { break; } }",
        "loop { if w == 1u { break; } storageBarrier(); }",
        "loop { storageBarrier(); continuing { break if l == 1u; } }",
        "loop { if l == 1u { continue; } continuing { break if g.x == 1u; } } if l == 1u { sync(); }",
        "switch l { case 1u: { workgroupBarrier(); } default: {} }",
        "switch g.x { case 1u: { if l == 1u { break; } workgroupBarrier(); } default: {} }",
        "for (var i = 0u; i < 4u; i++) { switch l { case 1u: { continue; } default: {} } workgroupBarrier(); }",
        "var i = 0u; loop { if i > o[0] { break; } i++; } if i > 3u { workgroupBarrier(); }",
        "for (var i = 0u; i < 4u; i++) { for (var j = 0u; j < 4u; j++) { workgroupBarrier(); } if l == i { break; } }",
        "if l == 1u { let x = workgroupUniformLoad(&w); }",
        "if l == 1u { sync(); }",
        "sync_if(l == 1u);",
        "sync_if(g.x == 1u); sync_if(l == 1u);",
    ] {
        refused(&kernel(body));
    }
    for body in [
        "if g.x == 7u { return; } workgroupBarrier();",
        "if l == 1u { o[1] = 3u; } workgroupBarrier(); if l == 2u { return; } o[2] = 1u;",
        "for (var i = 0u; i < r[0]; i++) { if i == 3u { continue; } workgroupBarrier(); }",
        "for (var i = 0u; i < 4u; i++) { workgroupBarrier(); if l == i { continue; } o[i] = l; }",
        "for (var i = 0u; i < 4u; i++) { for (var j = 0u; j < l; j++) { if j == o[0] { break; } } workgroupBarrier(); }",
        "for (var s = 32u; s > 0u; s /= 2u) { workgroupBarrier(); if l < s { tile[l] += tile[l + s]; } }",
        "switch r[2] { case 1u: { sync(); } case 2u: { if g.y == 0u { break; } storageBarrier(); } default: {} }",
        "switch g.x { case 1u: { if l == 1u { break; } o[1] = 1u; } default: { workgroupBarrier(); } } workgroupBarrier();",
        "if g.x == 1u { if l == 1u { return; } o[0] = 1u; } else { workgroupBarrier(); }",
        "loop { sync(); continuing { break if workgroupUniformLoad(&w) == 1u; } }",
        "sync_if(g.x == 1u); sync_if(n.x == 1u);",
        "let m = mine(l); o[0] = m; sync_if(mine(g.x) == 1u);",
    ] {
        accepted(&kernel(body));
    }
}

#[test]
fn barriers_of_subgroups() {
    for body in [
        "if lane == 0u { subgroupBarrier(); }",
        "if l == 0u { subgroupBarrier(); }",
        "if lane == 0u { if subgroupAny(true) { subgroupBarrier(); } }",
        "if subgroupShuffle(l, 1u) == subgroupExclusiveAdd(l) { subgroupBarrier(); }",
    ] {
        let error = refused(&kernel(body));
        assert!(error.message.contains("of a subgroup"), "{error}");
    }
    for body in [
        "if subgroup == 0u { subgroupBarrier(); }",
        "if subgroupAny(l == 0u) { subgroupBarrier(); }",
        "if subgroupAdd(l) == subgroupBroadcastFirst(l) { subgroupBarrier(); }",
        "if subgroupBallot(l == 0u).x == 1u { subgroupBarrier(); } workgroupBarrier();",
    ] {
        accepted(&kernel(body));
    }
}

/// naga forgets who a SPIR-V barrier is for. One that orders the memory of the workgroup too is taken for one of the workgroup.
#[test]
fn spirv_barriers_that_order_more_than_a_subgroups_memory() {
    let source = |condition: &str| {
        format!(
            "@compute @workgroup_size(64) fn main(@builtin(subgroup_id) s: u32, @builtin(workgroup_id) g: vec3<u32>) {{
                if {condition} {{ workgroupBarrier(); }}
            }}"
        )
    };
    let module = |condition: &str, semantics: u32| {
        let parsed = naga::front::wgsl::parse_str(&source(condition)).unwrap();
        let mut words = common::spirv(&parsed);
        // OpConstant %u32 %id 0x108: acquire, release, workgroup memory.
        let at = words.windows(4).position(|it| it[0] == (4 << 16 | 43) && it[3] == 0x108).unwrap();
        words[at + 3] = semantics;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        load(Format::Spirv, &bytes, &SourceLimits::default())
    };
    for semantics in [0x108, 0x188] {
        assert!(module("g.x == 0u", semantics).is_ok());
        let error = module("s == 0u", semantics).expect_err("other subgroups do not come");
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
    }
    assert!(module("s == 0u", 0x88).is_ok(), "of a subgroup's memory only");
}

#[test]
fn along_an_axis_of_one_invocation_nothing_differs() {
    let source = |size: &str| {
        format!(
            "struct In {{ @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32 }}
             @compute @workgroup_size({size}) fn main(in: In) {{ if in.id.y == 0u {{ workgroupBarrier(); }} }}"
        )
    };
    accepted(&source("64, 1, 2"));
    refused(&source("1, 64, 1"));
    accepted(&source("1, 1, 1").replace("in.id.y", "in.l"));
    refused(&source("1, 2, 1").replace("in.id.y", "in.l"));
}

#[test]
fn overrides_decide() {
    let source = "override rows: u32 = 1; override depth: u32;
        @compute @workgroup_size(64, rows) fn main(@builtin(local_invocation_id) id: vec3<u32>) {
            if id.y < depth { workgroupBarrier(); }
        }";
    let program = answer(source).unwrap();
    let depth = ("depth".to_owned(), OverrideValue::U32(2));
    program.specialize(std::slice::from_ref(&depth)).unwrap();
    let error = program.specialize(&[depth, ("rows".to_owned(), OverrideValue::U32(2))]).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
    assert!(error.message.contains("not uniform"), "{error}");
}

#[test]
fn only_what_an_entry_point_reaches_counts() {
    accepted(
        "fn bad(l: u32) { if l == 1u { workgroupBarrier(); } }
         @compute @workgroup_size(4) fn main() { bad(2u); }",
    );
    refused(
        "fn bad(l: u32) { if l == 1u { workgroupBarrier(); } }
         @compute @workgroup_size(4) fn main() { bad(2u); }
         @compute @workgroup_size(4) fn other(@builtin(local_invocation_index) l: u32) { bad(l); }",
    );
}

#[test]
fn the_message_names_the_barrier_and_the_condition() {
    let error = refused(
        "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {\n\
         \x20   if l == 1u {\n\
         \x20       return;\n\
         \x20   }\n\
         \x20   workgroupBarrier();\n\
         }",
    );
    assert!(error.to_string().starts_with("5:5: "), "{error}");
    assert!(error.message.contains("the condition at 2:8 may differ"), "{error}");
    assert!(!error.message.contains("the call"), "{error}");
}

#[test]
fn the_message_names_the_call_that_leads_to_a_barrier() {
    let functions = "fn sync() { workgroupBarrier(); }\n\
                     fn deep() { sync(); }\n\
                     fn sync_if(v: u32) { if v == 1u { sync(); } }\n\
                     fn ask(v: u32) { sync_if(v); }\n\
                     @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {\n";
    for (body, condition, call) in [
        // The outermost call that not all make.
        ("if l == 1u {\n sync(); }", "6:4", "7:2"),
        ("if l == 1u {\n deep(); }", "6:4", "7:2"),
        // It is in a function that all call.
        ("sync_if(l);", "3:25", "3:35"),
        ("ask(l);", "3:25", "3:35"),
        ("if l == 1u {\n ask(2u); }", "6:4", "7:2"),
    ] {
        let error = refused(&format!("{functions}{body}\n}}\n"));
        assert!(error.to_string().starts_with("1:13: "), "{body}: {error}");
        let text = format!("reached by the call at {call}: the condition at {condition} may differ");
        assert!(error.message.contains(&text), "{body}: {error}");
    }
    let error = refused(
        "fn sync_if(v: u32) { if v == 1u { workgroupBarrier(); } }\n\
         @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {\n\
         sync_if(2u);\n sync_if(l);\n}",
    );
    assert!(error.message.contains("reached by the call at 4:2: the condition at 1:25 may"), "{error}");
}

#[test]
fn what_takes_long_to_judge_is_answered_soon() {
    // A chain through a loop: a round takes back one variable.
    let chain = |count: usize| {
        let variables: String = (0..=count).map(|at| format!("var v{at} = 0u;")).collect();
        let moves: String = (0..count).map(|at| format!("v{at} = v{};", at + 1)).collect();
        kernel(&format!("{variables} for (var i = 0u; i < u.x; i++) {{ {moves} v{count} = l; sync(); }} o[l] = v0;"))
    };
    accepted(&chain(300));
    let error = answer(&chain(1900)).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    // 2^30 calls, all alike, are a few.
    let calls: String = (1..30).map(|at| format!("fn f{at}(v: u32) {{ f{0}(v); f{0}(v); }}\n", at - 1)).collect();
    accepted(&format!("{}\nfn f0(v: u32) {{ sync_if(v == 1u); }}\n{calls}", kernel("f29(g.x);")));
    // And as many that all differ, by where their pointer leads.
    let calls: String = (1..30)
        .map(|at| format!("fn f{at}(v: ptr<function, u32>) {{ var a = *v; f{0}(&a); var b = a; f{0}(&b); }}\n", at - 1))
        .collect();
    let error = answer(&format!(
        "{}\nfn f0(v: ptr<function, u32>) {{ sync_if(*v == 1u); }}\n{calls}",
        kernel("var v = g.x; f29(&v);")
    ))
    .unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    // A structure of thousands of members, looked at thousands of times in each of hundreds of rounds.
    let members: String = (0..3600).map(|at| format!("m{at}:u32,")).collect();
    let variables: String = (0..=650).map(|at| format!("var v{at}=0u;")).collect();
    let moves: String = (0..650).map(|at| format!("v{at}=v{};", at + 1)).collect();
    let sum = vec!["t.m3599"; 100].join("+");
    let error = answer(&format!(
        "struct S {{ {members} }} var<private> s: S;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {{
            {variables}
            for (var i = 0u; i < 9u; i++) {{ {moves} v650 = l; let t = s; {} workgroupBarrier(); }}
            o[l] = v0;
        }}",
        format!("_={sum};").repeat(28)
    ))
    .unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    // Functions in functions, as deep as there can be.
    let calls: String = (1..1000).map(|at| format!("fn f{at}(v: u32) {{ f{}(v); }}\n", at - 1)).collect();
    accepted(&format!("{}\nfn f0(v: u32) {{ sync_if(v == 1u); }}\n{calls}", kernel("f999(g.x);")));
    let deep = |inner: &str| format!("{}{inner}{}", "if v == 1u { ".repeat(110), "}".repeat(110));
    let calls: String =
        (1..200).map(|at| format!("fn f{at}(v: u32) {{ {} }}\n", deep(&format!("f{}(v);", at - 1)))).collect();
    let error =
        answer(&format!("{}\nfn f0(v: u32) {{ sync_if(v == 1u); }}\n{calls}", kernel("f199(g.x);"))).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
}

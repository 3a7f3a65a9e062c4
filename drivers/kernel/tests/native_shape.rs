//! What a module for a native device looks like, for every shape of kernel.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use std::time::{Duration, Instant};

use common::corpus::CORPUS;
use common::{native, program, spirv, validated, wgsl};
use hal_kernel::native::{
    LAUNCH_BINDING, LAUNCH_BYTES, LAUNCH_GROUP, MAX_INLINED_STEPS, MAX_UNCOUNTED_ROUNDS, MAX_UNCOUNTED_STEPS, Native,
    NativeOptions, STATUS_BINDING, STATUS_BYTES, STOP_BYTES,
};
use hal_kernel::{BindingClass, ErrorCode, Format, OverrideValue, Program, SourceLimits, load};
use naga::{AddressSpace, StorageAccess};

const OPTIONS: NativeOptions<'static> = NativeOptions { writable: &[], finds_cut_off: false };

/// Everything that must hold of every native module.
#[track_caller]
fn check(program: &Program, index: usize, options: &NativeOptions<'_>, about: &str) -> Native {
    let function = &program.functions()[index];
    let native = match program.native(index, options) {
        Ok(native) => native,
        Err(error) => panic!("{about}: {error}"),
    };
    let module = &native.module;
    validated(module);
    spirv(module);
    let [entry] = module.entry_points.as_slice() else { panic!("{about}: one entry point") };
    assert_eq!(entry.name, function.name, "{about}");
    assert_eq!(entry.workgroup_size, function.workgroup_size, "{about}");
    assert!(module.overrides.is_empty());
    let mut read_write = Vec::new();
    let mut seen = Vec::new();
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = &variable.binding else { continue };
        if binding.group == LAUNCH_GROUP {
            let (number, bytes) = match variable.space {
                AddressSpace::Uniform => (LAUNCH_BINDING, LAUNCH_BYTES),
                _ => (STATUS_BINDING, STATUS_BYTES),
            };
            assert_eq!(binding.binding, number);
            assert_eq!(module.types[variable.ty].inner.size(module.to_ctx()), bytes);
            continue;
        }
        seen.push(binding.binding);
        let used = function.bindings.iter().find(|it| it.binding == binding.binding).expect(about);
        let AddressSpace::Storage { access } = variable.space else {
            assert_eq!(used.class, BindingClass::Uniform);
            continue;
        };
        if access.contains(StorageAccess::STORE) {
            read_write.push(binding.binding);
        } else {
            assert!(!used.writes && !options.writable.contains(&used.binding), "{about}: {used:?}");
        }
        assert!(access.contains(StorageAccess::LOAD));
    }
    seen.sort_unstable();
    read_write.sort_unstable();
    assert_eq!(native.read_write, read_write, "{about}");
    assert_eq!(seen, function.bindings.iter().map(|it| it.binding).collect::<Vec<_>>(), "{about}");
    assert!(native.cost <= MAX_INLINED_STEPS);
    native
}

#[test]
fn every_shape_of_kernel_has_a_valid_native_module() {
    for (about, source) in CORPUS {
        let program = program(source);
        for writable in [&[][..], &[0, 1, 2, 3, 5]] {
            for finds_cut_off in [false, true] {
                check(&program, 0, &NativeOptions { writable, finds_cut_off }, about);
            }
        }
    }
}

#[test]
fn what_came_from_spirv_does_as_well() {
    for (about, source) in CORPUS {
        let program = program(source);
        let info = validated(program.module());
        let options = naga::back::spv::Options { lang_version: (1, 3), ..Default::default() };
        let words = naga::back::spv::write_vec(program.module(), &info, &options, None).unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        match load(Format::Spirv, &bytes, &SourceLimits::default()) {
            Ok(program) => {
                let program = program.specialize(&[]).unwrap();
                check(&program, 0, &OPTIONS, about);
            }
            // What the front end of SPIR-V does not read yet.
            Err(error) => println!("{about}: {error}"),
        }
    }
}

/// Compares with a file under `golden`, spaces at the ends of lines apart. With `UPDATE_GOLDEN` set, writes it instead.
#[track_caller]
fn reads_like(name: &str, source: &str, finds_cut_off: bool) {
    let native = program(source).native(0, &NativeOptions { writable: &[], finds_cut_off }).unwrap();
    let text = wgsl(&native.module);
    let text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let path = format!("{}/tests/golden/{name}.wgsl", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "{path} differs:\n{text}");
}

#[test]
fn built_in_values_are_corrected_and_access_is_what_is_used() {
    reads_like(
        "copy",
        "@group(0) @binding(0) var<storage, read_write> input: array<u32>;
         @group(0) @binding(1) var<storage, read_write> output: array<u32>;
         @group(0) @binding(2) var<storage, read_write> not_used: array<u32>;
         fn not_called() { not_used[0] = 1u; }
         @compute @workgroup_size(64) fn copy(@builtin(global_invocation_id) id: vec3<u32>) {
             output[id.x] = input[id.x];
         }
         @compute @workgroup_size(1) fn not_asked_for() { not_called(); }",
        false,
    );
}

#[test]
fn a_loop_pays_for_each_round() {
    reads_like(
        "loop",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(1) fn main() { loop { o[0] += 1u; } }",
        true,
    );
}

#[test]
fn a_loop_with_a_barrier_pays_from_the_purse_of_the_group() {
    reads_like(
        "group_loop",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(8) fn main() { loop { o[0] += 1u; workgroupBarrier(); } }",
        false,
    );
}

#[test]
fn paying_joins_the_condition_and_returns_leave_loops() {
    reads_like(
        "for_loop",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(1) fn main() {
             if o[0] == 0u { return; }
             for (var i = 0u; i < o[0]; i++) {
                 for (var j = 0u; j < 16u; j++) { o[j] += i; }
                 switch o[1] { case 7u: { return; } default: {} }
             }
             o[2] = 3u;
         }",
        false,
    );
}

/// A barrier behind a loop that all may return from: they do so together, and a native validator has to see that they may.
#[test]
fn returns_in_loops_leave_barriers_behind_them_uniform() {
    for body in [
        "for (var i = 0u; i < n; i++) { if i == s { return; } tile[l] += i; } workgroupBarrier(); o[l] = tile[3u - l];",
        "for (var i = 0u; i < n; i++) { if i == s { return; } workgroupBarrier(); tile[l] += i; } o[l] = tile[l];",
        "for (var i = 0u; i < n; i++) { for (var j = 0u; j < n; j++) { if j == s { return; } } workgroupBarrier(); } workgroupBarrier();",
        "if n == 3u { loop { return; } } workgroupBarrier();",
        "loop { switch n { case 1u: { return; } default: { break; } } if n == 2u { break; } } workgroupBarrier();",
    ] {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
             @group(0) @binding(1) var<uniform> size: vec4<u32>;
             var<workgroup> tile: array<u32, 4>;
             @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {{
                 let n = size.x; let s = size.y; {body}
             }}"
        );
        let program = program(&source);
        for finds_cut_off in [false, true] {
            check(&program, 0, &NativeOptions { writable: &[], finds_cut_off }, body);
        }
    }
}

#[test]
fn only_what_is_needed_is_added() {
    const OWN: &str = "hal_left hal_used hal_launch hal_status";
    const GROUP: &str = "hal_group_left hal_group_used hal_stop hal_launch hal_status";
    let globals = |source: &str| {
        let native = native(source);
        let names: Vec<_> = native.module.global_variables.iter().filter_map(|(_, it)| it.name.clone()).collect();
        (names.join(" "), native.has_loops, native.added_workgroup_bytes)
    };
    let kernel = |arguments: &str, body: &str| format!("@compute @workgroup_size(4) fn main({arguments}) {{ {body} }}");
    let (own, group) = ("loop { if true { break; } }", "loop { workgroupBarrier(); }");
    let known = "for (var i = 0; i < 9; i++) { workgroupBarrier(); }";
    let id = "@builtin(workgroup_id) id: vec3<u32>";
    assert_eq!(globals(&kernel("", "workgroupBarrier();")), (String::new(), false, 0));
    assert_eq!(
        globals(&kernel("@builtin(local_invocation_id) id: vec3<u32>", "var x = id;")),
        (String::new(), false, 0)
    );
    assert_eq!(globals(&kernel(id, "var x = id;")), ("hal_launch".to_owned(), false, 0));
    assert_eq!(globals(&kernel(id, own)), (OWN.to_owned(), true, 0));
    assert_eq!(globals(&kernel("", group)), (GROUP.to_owned(), true, STOP_BYTES));
    assert_eq!(
        globals(&kernel("", &format!("{own}{group}"))),
        (format!("{OWN} hal_group_left hal_group_used hal_stop"), true, STOP_BYTES)
    );
    // What is known to end soon does not count.
    assert_eq!(globals(&kernel("", known)), (String::new(), false, 0));
    // A barrier of the subgroup only is not one that a workgroup waits at.
    assert_eq!(globals(&kernel("", "loop { subgroupBarrier(); }")), (OWN.to_owned(), true, 0));
}

#[test]
fn the_access_that_is_declared_is_the_one_that_is_used() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @group(0) @binding(1) var<storage, read> b: array<u32>;
        @group(0) @binding(4) var<storage, read_write> c: array<u32>;
        @group(0) @binding(7) var<storage, read_write> d: array<atomic<u32>>;
        @group(0) @binding(9) var<uniform> e: vec4<u32>;
        @compute @workgroup_size(1) fn main() { c[0] = a[0] + b[0] + atomicLoad(&d[0]) + arrayLength(&a) + e.x; }";
    let program = program(source);
    let read_write =
        |writable: &[u32]| check(&program, 0, &NativeOptions { writable, finds_cut_off: false }, "").read_write;
    assert_eq!(read_write(&[]), [4, 7]);
    assert_eq!(read_write(&[1]), [1, 4, 7]);
    // What is not used or not storage is none of it.
    assert_eq!(read_write(&[0, 4, 9, 12]), [0, 4, 7]);
}

#[test]
fn pointers_to_storage_are_no_arguments() {
    // If this is admitted one day, the pass must make the access of such arguments agree.
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32, 8>;
        fn put(p: ptr<storage, u32, read_write>) { *p = 1u; }
        @compute @workgroup_size(8) fn main() { put(&o[1]); }";
    let error = load(Format::Wgsl, source.as_bytes(), &SourceLimits::default()).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
}

#[test]
fn each_function_of_a_program_is_a_module_of_its_own() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> b: array<u32>;
        var<workgroup> w: array<u32, 4>;
        fn of_first() { a[0] = 1u; }
        fn of_both() { loop { a[1] += 1u; } }
        @compute @workgroup_size(1) fn first() { of_first(); of_both(); }
        @compute @workgroup_size(2, 3) fn second() { of_both(); w[0] = b[0]; }";
    let program = program(source);
    for index in 0..2 {
        let native = check(&program, index, &OPTIONS, "");
        assert_eq!(native.module.entry_points[0].name, ["first", "second"][index]);
    }
}

#[test]
fn overrides_are_resolved_before() {
    let source = "
        override size: u32;
        override rounds = 3u;
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        // The second has the type that the first has when it is resolved.
        var<workgroup> w: array<u32, size * 2u>;
        var<workgroup> v: array<u32, 32>;
        @compute @workgroup_size(size) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            for (var i = 0u; i < rounds; i++) { w[i] = id.x; workgroupBarrier(); a[id.x] = w[0] + v[i]; }
        }";
    let program = load(Format::Wgsl, source.as_bytes(), &SourceLimits::default()).unwrap();
    let error = program.native(0, &OPTIONS).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
    let program = program.specialize(&[("size".to_owned(), OverrideValue::U32(16))]).unwrap();
    let native = check(&program, 0, &OPTIONS, "");
    assert_eq!(native.module.entry_points[0].workgroup_size, [16, 1, 1]);
}

#[test]
fn a_function_that_is_not_there_is_refused() {
    let error = program("@compute @workgroup_size(1) fn main() {}").native(1, &OPTIONS).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
    assert!(error.message.contains("the program has 1"), "{error}");
}

/// A kernel that calls a function of many barriers, and has some itself. A barrier is one step.
fn barriers(calls: u64, own: u64) -> Program {
    let barriers = |count: u64| "workgroupBarrier();".repeat(count as usize);
    let calls = "many();".repeat(calls as usize);
    program(&format!(
        "fn many() {{ {} }} @compute @workgroup_size(1) fn main() {{ {calls} {} }}",
        barriers(200),
        barriers(own)
    ))
}

#[test]
fn functions_are_counted_written_out_and_capped() {
    let cost = |calls: u64, own: u64| barriers(calls, own).native(0, &OPTIONS).map(|native| native.cost);
    let base = cost(0, 0).unwrap();
    assert_eq!(cost(0, 1).unwrap(), base + 1);
    let call = cost(1, 0).unwrap() - base;
    assert!(call > 200);
    let (calls, own) = ((MAX_INLINED_STEPS - base) / call, (MAX_INLINED_STEPS - base) % call);
    assert_eq!(cost(calls, own).unwrap(), MAX_INLINED_STEPS);
    let error = cost(calls, own + 1).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    assert!(error.message.contains("65537 steps") && error.message.contains("split the kernel"), "{error}");
}

/// Whether a device takes so large a group is its own business, and asked later.
#[test]
fn a_group_of_more_invocations_than_a_word_counts_has_a_native_module() {
    let source = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(16383, 16383, 16383) fn main() { loop { o[0] += 1u; } }";
    check(&program(source), 0, &NativeOptions { writable: &[], finds_cut_off: true }, "a large group");
}

#[test]
fn variables_and_tables_are_counted_for_each_call() {
    for (statements, expected) in [
        ("var x = 1.0; var v: vec4<f32>; o[0] = u32(x + v.x);", 0),
        ("var a: array<u32, 3>; a[o[0]] = 1u; o[1] = a[o[2]];", 12),
        ("var a: Large; o[0] = a.a[o[1]];", 80),
        ("o[0] = TABLE[o[1]] + TABLE[o[2]];", 32),
        ("o[0] = TABLE[2];", 0),
        ("mine(); mine();", 2 * (20 + 16)),
        ("outer[o[0]] = 1u; mine();", 40 + 20 + 16),
    ] {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32, 64>;
             struct Large {{ a: array<u32, 20> }}
             const TABLE = array<u32, 4>(1u, 2u, 3u, 4u);
             var<private> outer: array<u32, 10>;
             fn mine() {{ var a: array<u32, 5>; a[o[0]] = TABLE[o[1]]; o[1] = a[o[2]]; }}
             @compute @workgroup_size(1) fn main() {{ {statements} }}"
        );
        assert_eq!(native(&source).bytes, expected, "{statements}");
    }
}

#[test]
fn functions_that_compilers_write_out_are_counted_by_component() {
    for (statements, expected) in [
        ("x = vec3(x.y + max(x.x, fma(x.y, 2.0, 1.0)));", (0, 0)),
        ("x = sin(x) + pow(x.x, 2.0); x.y = atan2(x.y, x.z);", (5, 0)),
        ("for (var i = 0u; i < 3u; i++) { x = exp(x); }", (12, 1)),
        ("for (var i = 0u; i < o[0]; i++) { x = exp(x); twice(); twice(); }", (7, 3)),
    ] {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32, 64>;
             var<private> x: vec3<f32>;
             fn twice() {{ for (var i = 0u; i < o[1]; i++) {{ x.x += tanh(log(x.y)); }} }}
             @compute @workgroup_size(1) fn main() {{ {statements} o[2] = u32(x.x); }}"
        );
        let native = native(&source);
        assert_eq!((native.functions, native.loops), expected, "{statements}");
    }
}

#[test]
fn barriers_and_nested_loops_are_counted_as_a_compiler_meets_them() {
    let measure = |statements: &str| {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32, 64>;
             var<workgroup> w: u32;
             fn twice() {{ workgroupBarrier(); for (var i = 0u; i < o[0]; i++) {{ o[i]++; }} workgroupBarrier(); }}
             @compute @workgroup_size(1) fn main() {{ {statements} }}"
        );
        let native = native(&source);
        (native.barriers, native.nesting)
    };
    for (statements, expected) in [
        ("", (0, 0)),
        ("workgroupBarrier(); storageBarrier();", (2, 0)),
        ("o[0] = workgroupUniformLoad(&w);", (2, 0)),
        ("twice(); twice();", (4, 2)),
        // Written out: three rounds, and the look that finds that it is over.
        ("for (var i = 0u; i < 3u; i++) { workgroupBarrier(); }", (4, 1)),
        ("for (var i = 0u; i < 300u; i++) { workgroupBarrier(); }", (1, 1)),
        // Its own, those of the load, and two of the refill.
        ("for (var i = 0u; i < workgroupUniformLoad(&w); i++) { workgroupBarrier(); }", (5, 1)),
        (
            "for (var i = 0u; i < o[0]; i++) { for (var j = 0u; j < o[1]; j++) { o[2]++; } for (; i < 9u; ) { i++; } }",
            (0, 5),
        ),
        ("for (var i = 0u; i < 300u; i++) { twice(); }", (2, 3)),
    ] {
        assert_eq!(measure(statements), expected, "{statements}");
    }
}

#[test]
fn functions_that_call_the_next_one_twice_are_answered_at_once() {
    let chain: String = (1..60).map(|at| format!("fn f{at}() {{ f{0}(); f{0}(); }}\n", at - 1)).collect();
    let source = format!(
        "fn f0() {{ loop {{ workgroupBarrier(); }} }}\n{chain}@compute @workgroup_size(1) fn main() {{ f59(); f59(); f59(); \
         f59(); f59(); f59(); f59(); f59(); f59(); f59(); f59(); f59(); f59(); f59(); f59(); f59(); f59(); f59(); }}"
    );
    let program = program(&source);
    let start = Instant::now();
    let error = program.native(0, &OPTIONS).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    assert!(error.message.contains(&format!("{} steps", u64::MAX)), "{error}");
}

#[test]
fn values_cost_by_their_size() {
    let source = |length: u32| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<array<u32, {length}>>;
             @compute @workgroup_size(1) fn main() {{ o[0] = o[1]; }}"
        )
    };
    let cost = |length: u32| program(&source(length)).native(0, &OPTIONS).map(|native| native.cost);
    // Loaded, and stored.
    assert_eq!(cost(4000).unwrap() - cost(4).unwrap(), 2 * 999);
    assert_eq!(cost(1 << 20).unwrap_err().code, ErrorCode::ResourceExhausted);
}

/// What the loops of a kernel that count charge, in the order of the source.
fn charges(body: &str) -> Vec<u32> {
    let source = format!(
        "const most = 8; override bound = 5u;
         @group(0) @binding(0) var<storage, read_write> o: array<u32, 80>;
         fn change(p: ptr<function, u32>) {{ *p = 0u; }}
         fn known() {{ for (var i = 0u; i < 3u; i++) {{ workgroupBarrier(); }} }}
         fn counted() {{ loop {{ workgroupBarrier(); }} }}
         @compute @workgroup_size(1) fn main() {{ var k = 0u; {body} }}"
    );
    let text = wgsl(&native(&source).module);
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let paid = lines.windows(2).filter_map(|two| {
        let (value, paid) = two[0].strip_prefix("let ")?.split_once(" = (")?;
        let (_, charge) = paid.split_once(" - ")?;
        two[1].ends_with(&format!("_left = {value};")).then(|| charge.trim_end_matches("i);").parse().unwrap())
    });
    paid.collect()
}

#[test]
fn a_round_is_charged_what_does_not_count_in_it() {
    assert_eq!(charges("loop { workgroupBarrier(); }"), [1]);
    assert_eq!(charges("for (var i = 0u; i < o[0]; i++) { }"), [1]);
    // Four rounds, and a look that finds that it is over.
    assert_eq!(charges("loop { for (var i = 0u; i < 4u; i++) { o[i] = 1u; } }"), [6]);
    assert_eq!(charges("loop { if o[0] == 1u { for (var i = 0u; i < 4u; i++) { o[i] = 1u; } } }"), [6]);
    // 3 * (1 + 5) and the last look, which is charged like the others.
    let nest = "for (var i = 0u; i < 2u; i++) { for (var j = 0u; j < 4u; j++) { o[j] = i; } }";
    assert_eq!(charges(&format!("loop {{ {nest} }}")), [19]);
    assert_eq!(charges("loop { known(); }"), [5]);
    assert_eq!(charges("loop { known(); loop { known(); } counted(); }"), [1, 5, 5]);
}

#[test]
fn loops_that_are_seen_to_end_soon_do_not_count() {
    for header in [
        "for (var i = 0; i < 16; i++)",
        "for (var i = 15; i >= 0; i--)",
        "for (var i = 0; 16 > i; i += 3)",
        "for (var i = 128u; i > 0u; i >>= 1u)",
        "for (var i = 1u; i <= 64u; i *= 2u)",
        "for (var i = 0; i != most; i++)",
        "for (var i = 0u; i < bound * 2u; i += bound)",
    ] {
        assert_eq!(charges(&format!("{header} {{ o[1] += 1u; }}")), [0u32; 0], "{header}");
        // Inside of another it begins anew.
        assert_eq!(
            charges(&format!("loop {{ {header} {{ o[1] += 1u; if o[1] == 7u {{ continue; }} }} }}")).len(),
            1,
            "{header}"
        );
    }
}

#[test]
fn loops_that_may_go_on_count() {
    let most = MAX_UNCOUNTED_ROUNDS;
    for body in [
        // Never, or not so soon.
        "for (var i = 0u; i >= 0u; i++) { }",
        "for (var i = 0; i != 7; i += 2) { }",
        "for (var i = 0; i < 16; i -= 0) { }",
        &format!("for (var i = 0u; i < {most}u; i++) {{ }}"),
        // Something else has a say.
        "for (var i = 0u; i < 16u; i++) { i = 3u; }",
        "for (var i = 0u; i < 16u; i++) { change(&i); }",
        "for (var i = 0u; i < 16u; i += o[0]) { }",
        "for (var i = o[0]; i < 16u; i++) { }",
        "for (; k < 16u; k++) { } k = 5u;",
        "k = 1u; for (; k < 16u; k++) { } k = 5u;",
        "let j = k; for (; k < 16u; k = j + 1u) { }",
        "let j = k; loop { if j >= 16u { break; } continuing { k++; } }",
        "loop { k++; if k > 16u { break; } }",
        // It may do less, and would be charged for all.
        "for (var i = 0u; i < 16u; i++) { if o[i] == 3u { break; } }",
        "for (var i = 0u; i < 16u; i++) { if o[i] == 3u { return; } }",
        "for (var i = 0u; i < 16u; i++) { loop { if o[i] == 3u { return; } } }",
    ] {
        assert!(!charges(body).is_empty(), "{body}");
    }
    // It is not set back to where the function began.
    assert_eq!(charges("loop { for (; k < 16u; k++) { } }"), [1, 1]);
}

fn native_of_short_loops() -> Native {
    native(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32, 80>;
         @compute @workgroup_size(1) fn main() {
             for (var i = 0u; i < 4u; i++) { for (var j = 0u; j < 4u; j++) { o[0] += i * j; } }
         }",
    )
}

#[test]
fn what_does_not_count_is_little_altogether() {
    let native = |calls: usize| {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32, 80>;
             fn some() {{ for (var i = 0u; i < 1000u; i++) {{ o[0] += i; }} }}
             @compute @workgroup_size(1) fn main() {{ {} }}",
            "some();".repeat(calls)
        );
        native(&source)
    };
    let short = native_of_short_loops();
    assert!(short.written > 3 * short.cost && short.written < 1024, "{} of {}", short.written, short.cost);
    let few = native(10);
    assert_eq!(few.written, few.cost, "nobody writes out a thousand rounds");
    assert!(!few.has_loops && few.work > 10_000 && few.work < MAX_UNCOUNTED_STEPS && few.cost < 1000);
    let many = native(17);
    assert!(many.has_loops && many.work < 1000 && many.cost < 1000);
}

#[test]
fn a_loop_of_spirv_that_carries_its_variable_in_a_phi_is_charged() {
    let op = |code: u32, operands: &[u32]| {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | code];
        words.extend(operands);
        words
    };
    let main = u32::from_le_bytes(*b"main");
    let words: Vec<u32> = [
        vec![0x0723_0203, 0x0001_0300, 0, 100, 0],
        // Shader; the entry point 10, of one invocation.
        [op(17, &[1]), op(14, &[0, 1]), op(15, &[5, 10, main, 0]), op(16, &[10, 17, 1, 1, 1])].concat(),
        // void, a function of nothing, bool, u32, and three numbers.
        [op(19, &[1]), op(33, &[2, 1]), op(20, &[3]), op(21, &[20, 32, 0])].concat(),
        [op(43, &[20, 21, 0]), op(43, &[20, 22, 1]), op(43, &[20, 23, 9])].concat(),
        [op(54, &[1, 10, 0, 2]), op(248, &[30]), op(249, &[31])].concat(),
        // 40 is 0 at first, and 41 when the continuing block 33 leads back. The merge is 34.
        [op(248, &[31]), op(245, &[20, 40, 21, 30, 41, 33]), op(246, &[34, 33, 0]), op(249, &[32])].concat(),
        [op(248, &[32]), op(176, &[3, 42, 40, 23]), op(250, &[42, 33, 34])].concat(),
        [op(248, &[33]), op(128, &[20, 41, 40, 22]), op(249, &[31])].concat(),
        [op(248, &[34]), op(253, &[]), op(56, &[])].concat(),
    ]
    .concat();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let program = load(Format::Spirv, &bytes, &SourceLimits::default()).unwrap().specialize(&[]).unwrap();
    let native = check(&program, 0, &OPTIONS, "a phi");
    assert!(native.has_loops);
    assert_eq!(wgsl(&native.module).matches("hal_refill()").count(), 2);
}

//! Kernels: what the driver adds to them is not seen, and what it has to work around works.

use super::*;

#[test]
fn a_grid_cut_into_pieces_looks_whole() {
    let Some(device) = device() else { return };
    // Enough work at worst for many pieces: a loop, whose bound is not known before it runs.
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<vec4<u32>>;
        @group(0) @binding(1) var<storage, read> rounds: array<u32>;
        @compute @workgroup_size(4, 2, 1) fn main(
            @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
        ) {
            var sum = 0u;
            for (var i = 0u; i < rounds[0]; i++) { sum += 1u; }
            let at = ((group.z * groups.y + group.y) * groups.x + group.x) * 8u + local;
            out[at] = vec4(id, sum + 1000u * groups.x + 100000u * groups.y + 10000000u * groups.z);
        }";
    let executable = load(&*device, source).unwrap();
    let groups = [70, 30, 6];
    let count = 70 * 30 * 6 * 8;
    let (out, rounds) = (allocate(&*device, count * 16), allocate(&*device, 4));
    write(&*rounds, 0, &5_u32.to_le_bytes());
    run(&*device, &[&out, &rounds], Some(&executable), vec![dispatch(&executable, groups)]).unwrap();
    let found = words(&*out);
    for (at, four) in found.chunks(4).enumerate() {
        let (local, group) = (at % 8, at / 8);
        let (x, y, z) = (group % 70, group / 70 % 30, group / 70 / 30);
        let id = [x * 4 + local % 4, y * 2 + local / 4, z].map(|id| id as u32);
        assert_eq!(four, [id[0], id[1], id[2], 5 + 70_000 + 3_000_000 + 60_000_000], "group {x} {y} {z}");
    }
}

#[test]
fn one_buffer_can_be_read_and_written_in_disjoint_ranges() {
    let Some(device) = device() else { return };
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<uniform> b: vec4<u32>;
        @group(0) @binding(2) var<storage, read_write> c: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) { c[id.x] = a[id.x] + b[id.x]; }";
    let executable = load(&*device, source).unwrap();
    let buffer = allocate(&*device, 768);
    write(&*buffer, 0, &[1, 0, 0, 0, 2, 0, 0, 0]);
    write(&*buffer, 256, &[10, 0, 0, 0, 20, 0, 0, 0]);
    let binding = |number: u32, offset| DispatchBinding { binding: number, buffer: at(0, offset, 16) };
    let dispatch = |bindings: Vec<DispatchBinding>| {
        Command::Dispatch(Dispatch {
            executable: 0,
            function: 0,
            workgroups: Workgroups::Direct([2, 1, 1]),
            constants: Box::default(),
            bindings: bindings.into(),
        })
    };
    let commands = vec![dispatch(vec![binding(0, 0), binding(1, 256), binding(2, 512)])];
    run(&*device, &[&buffer], Some(&executable), commands).unwrap();
    assert_eq!(words(&*buffer)[128..130], [11, 22]);
    assert_eq!(words(&*buffer)[..2], [1, 2]);
}

#[test]
fn counts_in_a_buffer_that_exceed_the_limit_run_nothing_and_fail() {
    let Some(device) = device() else { return };
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: atomic<u32>;
        @compute @workgroup_size(1) fn main() { atomicAdd(&out, 1u); }";
    let executable = load(&*device, source).unwrap();
    let (out, counts) = (allocate(&*device, 4), allocate(&*device, 12));
    let most = device.limits().max_workgroups_per_dimension;
    let mut expected = 0;
    for (given, fails) in
        [([most, 1, 1], false), ([most + 1, 1, 1], true), ([1, u32::MAX, 1], true), ([3, 0, 9], false)]
    {
        write(&*counts, 0, &given.map(u32::to_le_bytes).concat());
        let dispatch = Command::Dispatch(Dispatch {
            executable: 0,
            function: 0,
            workgroups: Workgroups::Indirect(at(1, 0, 12)),
            constants: Box::default(),
            bindings: Box::new([DispatchBinding { binding: 0, buffer: at(0, 0, 4) }]),
        });
        let outcome = run(&*device, &[&out, &counts], Some(&executable), vec![dispatch]);
        match outcome {
            Ok(_) => assert!(!fails, "{given:?}"),
            Err(error) => assert!(fails && error.code == hal_driver::Code::OutOfRange, "{given:?}: {error}"),
        }
        expected += if fails { 0 } else { given.iter().product::<u32>() };
        assert_eq!(words(&*out), [expected], "{given:?}");
    }
}

#[test]
fn kernels_beyond_the_device_are_refused_by_name() {
    let Some(device) = device() else { return };
    let many: String = (0..60).map(|at| format!("@group(0) @binding({at}) var<uniform> v{at}: vec4<u32>;")).collect();
    let uses: String = (0..60).map(|at| format!("+ v{at}.x")).collect();
    let out = "@group(0) @binding(63) var<storage, read_write> out: array<u32>;";
    let cases = [
        (
            format!("{out} @compute @workgroup_size(64, 64) fn wide() {{ out[0] = 1u; }}"),
            "max-invocations-per-workgroup",
        ),
        (
            format!(
                "{out} var<workgroup> w: array<u32, 100000>; @compute @workgroup_size(1) fn large() {{ w[1] = 1u; out[0] = w[0]; }}"
            ),
            "max-workgroup-memory-bytes",
        ),
        (format!("{out} {many} @compute @workgroup_size(1) fn many() {{ out[0] = 0u {uses}; }}"), "max-bindings"),
    ];
    for (source, what) in cases {
        let error = load(&*device, &source).err().unwrap();
        assert_eq!(error.code, hal_driver::Code::Incompatible, "{error}");
        assert!(error.message.contains(what), "{error}");
    }
    assert!(load(&*device, &format!("{out} @compute @workgroup_size(1) fn fine() {{ out[0] = 1u; }}")).is_ok());
}

/// A software device's compiler runs when a kernel is loaded, so that no submission's deadline pays for it; and what would keep it busy for
/// minutes is refused.
#[test]
fn compiling_is_done_when_a_kernel_is_loaded() {
    let Some(device) = device() else { return };
    let source = |words: u32| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<f32>;
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {{
                var a: array<f32, {words}>;
                for (var i = 0u; i < {words}u; i++) {{ a[i] = f32(i * l); }}
                var sum = 0.0;
                for (var i = 0u; i < {words}u; i++) {{ sum += a[(i * 7u) % {words}u]; }}
                out[l] = sum;
            }}"
        )
    };
    let begin = Instant::now();
    let executable = load(&*device, &source(256)).unwrap();
    let loaded = begin.elapsed();
    let out = allocate(&*device, 256);
    let begin = Instant::now();
    run(&*device, &[&out], Some(&executable), vec![dispatch(&executable, [1, 1, 1])]).unwrap();
    println!("loaded in {loaded:?}, ran in {:?}", begin.elapsed());
    if device.info().kind == hal_driver::DeviceKind::Cpu {
        let error = load(&*device, &source(10_000)).err().expect("it takes minutes");
        assert!(error.code == hal_driver::Code::ResourceExhausted && error.message.contains("4096"), "{error}");
    }
}

/// naga makes a variable of a table for each use of it by a computed index, and lays out 4 KiB of them in some ten seconds.
#[test]
fn tables_of_constants_count_as_variables() {
    let Some(device) = device() else { return };
    let load = |tables: usize, uses: usize, calls: usize| {
        let table = |at: usize| format!("const t{at} = array<u32, 256>({});\n", format!("{at}u, ").repeat(256));
        let tables: String = (0..tables).map(table).collect();
        let uses: String = (0..uses).map(|at| format!("sum += t{at}[(sum + l) % 256u];\n")).collect();
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            {tables}
            fn add(sums: u32, l: u32) -> u32 {{
                var sum = sums;
                {uses}
                return sum;
            }}
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {{
                var sum = 0u;
                {calls}
                out[l] = sum;
            }}",
            calls = "sum = add(sum, l);".repeat(calls),
        );
        load(&*device, &source)
    };
    let executable = load(1, 1, 1).unwrap();
    let out = allocate(&*device, 256);
    run(&*device, &[&out], Some(&executable), vec![dispatch(&executable, [1, 1, 1])]).unwrap();
    assert_eq!(bytes(&*out), [0; 256]);
    assert!(load(40, 1, 1).is_ok(), "those that are not used cost nothing");
    if device.info().kind == hal_driver::DeviceKind::Cpu {
        for (uses, calls) in [(8, 1), (2, 4)] {
            let error = load(8, uses, calls).err().expect("it takes long");
            assert!(error.code == hal_driver::Code::ResourceExhausted && error.message.contains("table"), "{error}");
        }
    }
}

/// Few steps to read, and yet what lavapipe's compiler takes long for: from ten seconds on, and soon minutes.
#[test]
fn barriers_and_deep_loops_are_bounded_where_the_compiler_is_software() {
    let Some(device) = device() else { return };
    let load = |statements: &str| {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            var<workgroup> w: array<u32, 64>;
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {{ var v = vec4(f32(l)); {statements} out[l] = w[l] + u32(v.x); }}"
        );
        load(&*device, &source)
    };
    let exchange = "w[l] += w[63u - l]; workgroupBarrier();";
    let loops = |count: usize, bound: &str, body: &str| {
        format!("for (var i = 0u; i < {bound}; i++) {{ {body} }}").repeat(count)
    };
    let nest = |depth: usize, body: &str| {
        let heads = (0..depth).map(|at| format!("for (var i{at} = 0u; i{at} < out[{at}]; i{at}++) {{"));
        format!("{}{body}{}", heads.collect::<String>(), "}".repeat(depth))
    };
    let uniform = "workgroupUniformLoad(&w[0])";
    let refused = [
        ("barriers", exchange.repeat(300)),
        ("barriers", loops(100, uniform, exchange)),
        ("barriers", loops(20, "16u", exchange)),
        ("for each round", loops(60, "16u", "w[l] = (w[l] * 3u + i) ^ out[w[l] % 64u];")),
        ("functions like sin", "v = sin(cos(tan(v))) + exp2(log2(v));".repeat(200)),
        ("loops, with everything", loops(400, "out[0]", "w[l]++;")),
        ("loops", nest(100, "w[l]++;")),
        ("loops", nest(30, &loops(200, "out[0]", "w[l]++;"))),
    ];
    for (at, statements) in
        [exchange.repeat(20), loops(4, "16u", exchange), nest(8, &loops(8, "out[0]", "w[l]++;"))].iter().enumerate()
    {
        assert!(load(statements).is_ok(), "{at}");
    }
    if device.info().kind == hal_driver::DeviceKind::Cpu {
        for (what, statements) in refused {
            let error = load(&statements).err().expect("it takes long");
            assert!(error.code == hal_driver::Code::ResourceExhausted && error.message.contains(what), "{error}");
        }
    }
}

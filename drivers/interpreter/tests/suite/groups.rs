//! Workgroups, barriers and built-in values.

use crate::{group, try_run};
use hal_interpreter::{ErrorKind, Options};

#[test]
fn built_in_values() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        struct In { @builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) n: vec3<u32> }
        @compute @workgroup_size(2, 3, 1) fn main(@builtin(global_invocation_id) g: vec3<u32>, in: In,
            @builtin(local_invocation_id) l: vec3<u32>, @builtin(local_invocation_index) i: u32) {
            let at = (g.x + 4u * (g.y + 3u * g.z)) * 2u;
            o[at] = i + 10u * in.w.x + 100u * in.w.z + 1000u * in.n.x + 10000u * in.n.z;
            o[at + 1u] = l.x + 10u * l.y + 100u * l.z;
        }";
    let (got, _) = try_run(source, [2, 1, 2], &[], &[vec![0; 48]], &Options::default()).unwrap();
    let mut want = Vec::new();
    for (z, y, x) in (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..4).map(move |x| (z, y, x)))) {
        want.extend([x % 2 + 2 * y + 10 * (x / 2) + 100 * z + 2000 + 20000, x % 2 + 10 * y]);
    }
    assert_eq!(got[0], want);
}

#[test]
fn barriers_order_workgroup_memory_also_in_loops_and_calls() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> w: array<u32, 4>;
        fn turn(l: u32) -> u32 { let x = w[(l + 1u) % 4u]; workgroupBarrier(); return x; }
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            w[l] = l * 10u;
            workgroupBarrier();
            for (var i = 0u; i < 3u; i++) { let x = turn(l); w[l] = x + 1u; workgroupBarrier(); }
            o[l] = w[l];
        }";
    // Turned three times, one more each time.
    assert_eq!(group(source, &[vec![0; 4]]), [33, 3, 13, 23]);
}

#[test]
fn workgroup_memory_is_zero_in_each_workgroup() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> sum: atomic<u32>;
        @compute @workgroup_size(3) fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3<u32>) {
            atomicAdd(&sum, l + g.x);
            workgroupBarrier();
            if l == 2u { o[g.x] = atomicLoad(&sum); }
        }";
    let (got, _) = try_run(source, [3, 1, 1], &[], &[vec![0; 3]], &Options::default()).unwrap();
    assert_eq!(got[0], [3, 6, 9]);
}

#[test]
fn a_uniform_load_sees_what_was_written_before_and_not_what_is_after() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> w: u32;
        @compute @workgroup_size(3) fn main(@builtin(local_invocation_index) l: u32) {
            if l == 2u { w = 7u; }
            let x = workgroupUniformLoad(&w);
            w = 100u + l;
            o[l] = x;
        }";
    assert_eq!(group(source, &[vec![0; 3]]), [7, 7, 7]);
}

#[test]
fn storage_barriers_are_barriers() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {
            o[l] = l + 5u;
            storageBarrier();
            o[2u + l] = o[1u - l];
        }";
    assert_eq!(group(source, &[vec![0; 4]]), [5, 6, 6, 5]);
}

#[test]
fn a_barrier_that_some_do_not_reach_is_an_error() {
    // The value comes from memory that is only read, which the front end takes to be the same for all.
    let source = "
        @group(0) @binding(0) var<storage> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        fn different(l: u32) -> u32 { return l; }
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {
            var x = 0u;
            if l == 1u { x = a[0]; }
            o[l] = x;
            if a[x] == 2u { workgroupBarrier(); }
        }";
    match hal_kernel::load(hal_kernel::Format::Wgsl, source.as_bytes(), &hal_kernel::SourceLimits::default()) {
        // The front end saw it.
        Err(error) => assert!(error.message.contains("uniform"), "{error}"),
        Ok(_) => {
            let error = try_run(source, [1, 1, 1], &[], &[vec![1, 2], vec![0; 2]], &Options::default()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Barrier);
            assert_eq!(error.place.unwrap().line, 9);
        }
    }
}

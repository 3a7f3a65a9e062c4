//! Mistakes that were found here, cut down. Those that are not mended yet are ignored, with what they wait for.

use hal_differential::{kernels::program, runtime, targets};
use hal_interpreter::{Bound, Dispatch, Options};

/// Runs one workgroup of `main` with this many words at binding 0, everywhere but on those drivers that cannot compile it and have to say so.
fn agree(source: &str, words: usize, refused_by: &[&str]) {
    let before = vec![(0, vec![0; words * 4])];
    let mut bound = [Bound { binding: 0, bytes: vec![0; words * 4] }];
    let launch = Dispatch { function: "main", groups: [1, 1, 1], constants: &[] };
    hal_interpreter::run(&program(source).unwrap(), &launch, &mut bound, &Options::default()).unwrap();
    for target in targets() {
        let got = runtime().block_on(target.dispatch(source, "main", [1, 1, 1], &[], &before));
        if refused_by.contains(&target.name) {
            let error = got.expect_err("it can be compiled now: take the driver off the list");
            assert!(error.contains("the compiler failed on this program"), "{}: {error}", target.name);
            continue;
        }
        let got = got.unwrap_or_else(|error| panic!("{}: {error}", target.name));
        assert_eq!(got[0], bound[0].bytes, "{}", target.name);
    }
}

/// naga 30.0.2's SPIR-V writer panics on it (`back/spv/block.rs:3847`).
#[test]
fn a_pointer_to_a_member_as_an_argument() {
    agree(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        struct P { x: u32, y: u32 }
        fn set_it(p: ptr<function, u32>) { *p = 7u; }
        @compute @workgroup_size(1) fn main() { var p = P(1u, 2u); set_it(&p.y); o[0] = p.x; o[1] = p.y; }",
        2,
        &["vulkan"],
    );
}

#[test]
#[ignore = "lavapipe compiles it for seconds, inside the submission: on a busy machine that is past the deadline"]
fn a_large_structure_by_value() {
    agree(
        "@group(0) @binding(0) var<storage, read_write> o: Big;
        struct Big { a: array<u32, 200>, b: f32 }
        var<workgroup> w: Big;
        fn twice(b: Big) -> Big { var c = b; for (var k = 0u; k < 200u; k++) { c.a[k] *= 2u; } c.b += 0.5; return c; }
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {
            var mine = o;
            mine.a[3] = 99u;
            if l == 1u { w = mine; }
            workgroupBarrier();
            let other = w;
            if l == 0u { o = twice(other); o.a[0] = other.a[l + 3u] + mine.a[4]; }
        }",
        201,
        &[],
    );
}

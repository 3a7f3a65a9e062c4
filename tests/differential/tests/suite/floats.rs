//! Division and square roots, which may be off by 2.5 units in the last place; sums and products beside them, which may not.

use hal_differential::{kernels::program, runtime, targets};
use hal_interpreter::{Bound, Dispatch, Options};

const SOURCE: &str = "
    @group(0) @binding(0) var<storage> a: array<vec2<f32>>;
    @group(0) @binding(1) var<storage, read_write> exact: array<vec4<f32>>;
    @group(0) @binding(2) var<storage, read_write> near: array<vec4<f32>>;
    @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let x = a[id.x].x;
        let y = a[id.x].y;
        exact[id.x] = vec4(x + y, x - y, x * y, x * y + x);
        near[id.x] = vec4(x / y, y / x, sqrt(x), sqrt(y) / x);
    }";

const COUNT: usize = 512;

/// From a hundredth to a few thousand, in no order.
fn value(at: u32) -> f32 {
    let mixed = at.wrapping_mul(2_654_435_761) ^ at.wrapping_mul(40_503) << 7;
    (0.01 + (mixed >> 9) as f32 / 8_388_608.0) * [1.0, 10.0, 300.0, 4000.0][(mixed & 3) as usize]
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn quotients_and_roots_are_near_and_the_rest_is_exact() {
    let input: Vec<u8> = (0..COUNT as u32 * 2).flat_map(|at| value(at).to_le_bytes()).collect();
    let before = vec![(0, input), (1, vec![0; COUNT * 16]), (2, vec![0; COUNT * 16])];
    let mut bound: Vec<Bound> =
        before.iter().map(|(binding, bytes)| Bound { binding: *binding, bytes: bytes.clone() }).collect();
    let groups = [COUNT as u32 / 16, 1, 1];
    let launch = Dispatch { function: "main", groups, constants: &[] };
    hal_interpreter::run(&program(SOURCE).unwrap(), &launch, &mut bound, &Options::default()).unwrap();
    for target in targets() {
        let got = runtime().block_on(target.dispatch(SOURCE, "main", groups, &[], &before)).unwrap();
        assert!(got[1] == bound[1].bytes, "{}: a sum or product is not exact", target.name);
        for (at, (got, want)) in floats(&got[2]).into_iter().zip(floats(&bound[2].bytes)).enumerate() {
            // The last of four has two errors.
            let allowed = if at % 4 == 3 { 5.0 } else { 2.5 };
            let ulp = f64::from(f32::from_bits(want.to_bits() + 1)) - f64::from(want);
            let off = (f64::from(got) - f64::from(want)).abs() / ulp;
            assert!(off <= allowed, "{}: {got} is {off} units from {want}, at {at}", target.name);
        }
    }
}

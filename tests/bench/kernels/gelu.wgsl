// GELU by way of tanh. The grid has two dimensions, as one takes at most 65,535 workgroups.

const THREADS = 256u;
const SQRT_2_OVER_PI = 0.7978845608028654;

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.y * groups.x * THREADS + id.x;
    if i >= arrayLength(&output) {
        return;
    }
    let x = input[i];
    output[i] = 0.5 * x * (1.0 + tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)));
}

// Absolute values.
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(1)
fn absolute(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = abs(input[id.x]);
}

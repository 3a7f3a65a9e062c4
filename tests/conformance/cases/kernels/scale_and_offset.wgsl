// out[i] = in[i] * scale + offset.
struct Constants { scale: f32, offset: f32 }
var<immediate> constants: Constants;
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(1)
fn scale_and_offset(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = input[id.x] * constants.scale + constants.offset;
}

@group(0) @binding(0) var<storage, read_write> o: array<vec3<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = abs(o[id.x].x);
    o[id.x] = vec3(asinh(x), acosh(x + 1.0), atanh(x / 10.0));
}

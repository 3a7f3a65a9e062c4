@group(0) @binding(0) var<storage, read_write> o: array<vec2<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = o[id.x];
    o[id.x] = sign(v) + vec2(sign(v.x * 0.0), sign(-v.y)) * 4.0;
}

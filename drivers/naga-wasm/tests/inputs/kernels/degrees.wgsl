@group(0) @binding(0) var<storage, read_write> o: array<vec4<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = o[id.x];
    o[id.x] = degrees(v) + vec4(radians(v.xyz), degrees(1.0));
}

struct Told { index: u32, scale: vec2<f32> }
var<immediate> told: Told;
@group(0) @binding(0) var<storage, read_write> o: array<vec4<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x == told.index % 16u { o[id.x] = vec4(1.0); } else { o[id.x] = vec4(vec3(2.0) - o[id.x].xyz, f32(bitcast<u32>(told.scale.y))); }
}

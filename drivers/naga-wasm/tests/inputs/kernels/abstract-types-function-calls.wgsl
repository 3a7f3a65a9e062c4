@group(0) @binding(0) var<storage, read_write> o: array<f32>;
fn taken(i: i32, u: u32, f: f32, v: vec2<f32>, list: array<i32, 2>) -> f32 { return f32(i) * f + f32(u) + v.y + f32(list[1]); }
fn wide(v: vec3<u32>) -> u32 { return v.x + v.z; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = taken(1, 2, 3, vec2(4, o[id.x]), array(5, 6)) + taken(-1, 2, 0.25, vec2(1.5, 7), array(8, 9)) + f32(wide(vec3(1, id.x, 2)));
}

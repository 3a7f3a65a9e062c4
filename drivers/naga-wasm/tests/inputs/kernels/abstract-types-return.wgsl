@group(0) @binding(0) var<storage, read_write> o: array<f32>;
fn float() -> f32 { return 3; }
fn vector() -> vec3<f32> { return vec3(1, 2, 4); }
fn matrix() -> mat2x2<f32> { return mat2x2(1, 2, 3, 4); }
fn list() -> array<f32, 3> { return array(5, 6, 7); }
fn either(c: bool) -> u32 { if c { return 8; } return 9; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = float() + vector().z + matrix()[1][id.x & 1u] + list()[id.x % 3u] + f32(either(id.x > 5u));
}

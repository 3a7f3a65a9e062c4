@group(0) @binding(0) var<storage, read_write> o: array<f32>;
fn pair(x: f32) -> array<f32, 2> { return array(x, x + 1.0); }
fn pairs(x: f32) -> array<array<f32, 2>, 3> { return array(pair(x), pair(2.0 * x), pair(3.0 * x)); }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = pairs(o[id.x])[id.x % 3u][1] + pair(2.0)[0];
}

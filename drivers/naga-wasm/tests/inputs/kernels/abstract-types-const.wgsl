const one = 1;
const half = 0.5;
const both = vec2(one, half);
const ints: vec3<i32> = vec3(one, 2, 3 * one);
const mat = mat2x2(1, half, 3, 4);
const list = array(1, 2.5, one);
const unsigned: u32 = one + 4;
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = both.x + both.y + f32(ints[id.x % 3u]) + (mat * vec2(o[id.x], 1.0)).y + list[id.x % 3u] + f32(unsigned);
}

const sum: f32 = 1 + 2.5;
const wrap: u32 = 7 * 6 - 2;
const shifted: i32 = 1 << 4u;
const negated: i32 = -(3 - 9) % 4;
const logic = 1 < 2.5 && !(3 == 4);
const vector: vec2<f32> = 2 * vec2(1, 3.5) / 4;
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = o[id.x];
    o[id.x] = x * 2 + 1 / (x * x + 1) - sum + f32(wrap + id.x * 3 + (id.x << 2)) + f32(shifted + negated) + vector.y;
    if logic { o[id.x] += 4; }
}

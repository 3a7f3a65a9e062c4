override a: u32 = 3u;
override b: i32 = -2;
override c: bool = false;
override d: f32 = 2.5;
override chained: u32 = (a * 4u + 1u) % 7u;
override again: i32 = select(b * 2, b - 1, c) + i32(chained);
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(a, 2) fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3<u32>) {
    o[g.x * 6u + l] = f32(chained) + f32(again) * d;
}

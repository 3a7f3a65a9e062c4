const top = 10;
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    const a = 4;
    const b: i32 = a + top;
    const c = vec2(1.5, a);
    const d: u32 = u32(b) + 1u;
    const list = array<f32, 2>(1.0, c.y);
    o[id.x] = c.x + f32(d) + list[id.x % 2u] + f32(b);
}

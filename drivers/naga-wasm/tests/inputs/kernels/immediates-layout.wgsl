struct Layout { a: u32, v: vec3<u32>, m: mat2x2<f32>, last: i32 }
var<immediate> c: Layout;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = c.a + c.v[id.x % 3u] * 10u + bitcast<u32>(c.m[1].x) * 100u + u32(c.last);
}

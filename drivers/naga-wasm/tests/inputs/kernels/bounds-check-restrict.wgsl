struct Held { list: array<f32, 10>, v: vec4<f32>, m: mat3x4<f32>, tail: array<f32> }
@group(0) @binding(0) var<storage, read_write> h: Held;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3<u32>) {
    let far = i32(g.x) * 1000 - 500;
    o[g.x * 8u] = h.list[far];
    o[g.x * 8u + 1u] = h.v[far];
    o[g.x * 8u + 2u] = h.m[far][far];
    o[g.x * 8u + 3u] = h.tail[far];
    o[g.x * 8u + 4u] = h.list[u32(far)];
    h.tail[far] = 3.0;
    h.list[far] = 4.0;
    h.v[far] = 5.0;
    h.m[far][1] = 6.0;
}

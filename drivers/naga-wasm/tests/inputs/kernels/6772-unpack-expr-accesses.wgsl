@group(0) @binding(0) var<storage, read_write> o: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> n: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = unpack4xI8(12u + n[id.x])[2];
    let u = unpack4xU8(n[id.x] * 77u)[1];
    o[id.x] = vec4(unpack4x8snorm(n[id.x] << 8u)[id.x & 3u], unpack2x16unorm(n[id.x])[0], unpack4x8unorm(id.x * 9u).y, 1.0);
    n[id.x] = u32(i) + u;
}

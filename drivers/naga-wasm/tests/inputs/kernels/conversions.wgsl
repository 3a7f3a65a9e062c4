enable f16;
@group(0) @binding(0) var<storage> u: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<vec4<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = u[id.x];
    let i = i32(n) - 20;
    let b = bool(n & 1u);
    let h = f16(i) + f16(b);
    o[id.x] = vec4(f32(i), f32(n) + f32(b), f32(h), f32(u32(b) + u32(i)) + f32(i32(bool(h))));
    o[id.x] += vec4<f32>(vec4<i32>(vec4(n, 1u, 2u, 3u))) + vec4<f32>(vec4<bool>(vec4(i, 0, 1, 2)));
    o[id.x].z += f32(bitcast<i32>(bitcast<f32>(n + 7u)));
}

enable f16;
@group(0) @binding(0) var<storage> f: array<f32>;
@group(0) @binding(1) var<storage> h: array<f16>;
@group(0) @binding(2) var<storage, read_write> o: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read_write> wide: array<vec2<i64>>;
@group(0) @binding(4) var<storage, read_write> wide_u: array<vec2<u64>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let big = f[id.x] * 1e9;
    o[id.x] = vec4(i32(f[id.x]), i32(u32(big)), i32(h[id.x]), i32(u32(h[id.x] * -2h))) + vec4<i32>(vec4(big, f[id.x], -big, 1.5));
    wide[id.x] = vec2(i64(big * 1e9), i64(h[id.x]));
    wide_u[id.x] = vec2(u64(big), u64(f[id.x]));
}

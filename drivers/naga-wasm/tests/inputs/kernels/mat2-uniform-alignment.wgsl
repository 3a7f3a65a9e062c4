struct Spread { one: f32, m: mat2x2<f32>, two: f32, n: mat3x2<f32> }
@group(0) @binding(0) var<uniform> u: Spread;
@group(0) @binding(1) var<storage, read_write> o: array<vec2<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = u.m[id.x % 2u] * u.one + u.n[id.x % 3u] * u.two + u.m * u.n[2];
}

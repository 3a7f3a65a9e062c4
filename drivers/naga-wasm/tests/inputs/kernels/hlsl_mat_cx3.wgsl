struct Wrapped { n: i32, m: mat3x3<f32> }
@group(0) @binding(0) var<uniform> u: array<Wrapped, 2>;
@group(0) @binding(1) var<uniform> v: mat2x3<f32>;
@group(0) @binding(2) var<storage, read_write> o: array<Wrapped>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var t = u[id.x % 2u];
    t.m[id.x % 3u] = v[1] + v[id.x % 2u];
    t.m[2][id.x % 3u] += 0.5;
    t.m = t.m - u[1].m;
    o[id.x] = t;
}

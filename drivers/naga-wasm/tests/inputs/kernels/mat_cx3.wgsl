struct All { a: mat2x3<f32>, b: mat3x3<f32>, c: mat4x3<f32> }
@group(0) @binding(0) var<storage, read_write> s: array<All>;
@group(0) @binding(1) var<uniform> u: mat3x3<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var t = s[id.x];
    t.a = u * t.a;
    t.b[id.x % 3u] += t.c[id.x % 4u];
    t.c[3] = u[id.x % 3u] * t.b;
    t.c[1][id.x % 3u] = determinant(u);
    t.b = transpose(t.b);
    s[id.x] = t;
}

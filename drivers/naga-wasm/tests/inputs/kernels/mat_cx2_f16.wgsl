enable f16;
struct All { a: mat2x2<f16>, b: mat3x2<f16>, c: mat4x2<f16> }
@group(0) @binding(0) var<storage, read_write> s: array<All>;
@group(0) @binding(1) var<uniform> u: mat2x2<f16>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var t = s[id.x];
    t.a = u + t.a;
    t.b[id.x % 3u] += t.c[id.x % 4u];
    t.c = t.c * 2h;
    t.c[1][id.x % 2u] = t.a[0].y;
    s[id.x] = t;
}

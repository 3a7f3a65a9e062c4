struct All { a: mat2x2<f32>, b: mat3x2<f32>, c: mat4x2<f32> }
@group(0) @binding(0) var<storage, read_write> s: array<All>;
@group(0) @binding(1) var<uniform> u: mat2x2<f32>;
var<workgroup> w: mat4x2<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    if l < 4u { w[l] = u[l % 2u]; }
    workgroupBarrier();
    var t = s[id.x];
    t.a = u * t.a;
    t.b[id.x % 3u] += t.c[id.x % 4u];
    t.c = w + t.c * 2.0;
    t.c[1][id.x % 2u] = determinant(u);
    s[id.x] = t;
}

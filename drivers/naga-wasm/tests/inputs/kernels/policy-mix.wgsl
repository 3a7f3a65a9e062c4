struct Near { a: vec4<f32> }
@group(0) @binding(0) var<storage> s: array<Near, 4>;
@group(0) @binding(1) var<uniform> u: array<Near, 4>;
@group(0) @binding(2) var<storage, read_write> o: array<f32>;
var<workgroup> w: array<f32, 30>;
var<private> p: array<f32, 40>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    var f: array<vec2<f32>, 6>;
    w[l * 5u] = s[l].a[l];
    p[id.x * 3u] = u[l].a.y;
    f[l] = vec2(1.5, f32(l));
    workgroupBarrier();
    o[id.x] = s[id.x].a.x + u[id.x].a[id.x] + w[35u - l * 5u] + p[l * 3u] + f[id.x].y;
}

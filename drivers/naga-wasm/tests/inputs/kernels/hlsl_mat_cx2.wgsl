struct Wrapped { n: i32, m: mat2x2<f32> }
struct More { list: array<mat4x2<f32>, 2>, w: Wrapped }
@group(0) @binding(0) var<uniform> u: More;
@group(0) @binding(1) var<storage, read_write> o: array<More>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var t = u;
    let i = id.x % 2u;
    t.w.m[i] = vec2(9.0);
    t.w.m[0][i] = 7.0;
    t.w.m = t.w.m * u.w.m;
    t.list[i][id.x % 4u].y = 5.0;
    t.w.n += 1;
    o[id.x] = t;
}

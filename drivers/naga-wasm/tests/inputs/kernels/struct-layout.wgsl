struct NoPadding { v3: vec3<f32>, f3: f32 }
struct Needs { before: f32, v3: vec3<f32>, after: f32 }
struct Forced { @size(16) a: u32, @align(32) b: u32, c: vec2<f32>, @size(24) d: array<u32, 3>, e: mat3x3<f32> }
@group(0) @binding(0) var<uniform> a: NoPadding;
@group(0) @binding(1) var<storage, read_write> b: array<Needs>;
@group(0) @binding(2) var<storage, read_write> c: array<Forced>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = b[id.x];
    x.v3 = a.v3 * a.f3;
    x.after += x.before;
    b[id.x] = x;
    let y = c[id.x];
    c[id.x] = Forced(y.b, y.a + 1u, y.c.yx, array(y.d[2], y.d[0], y.d[id.x % 3u]), y.e * 2.0);
}

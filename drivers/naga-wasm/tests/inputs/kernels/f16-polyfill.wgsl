enable f16;
struct Held { a: f16, b: vec3<f16>, m: mat2x2<f16> }
@group(0) @binding(0) var<uniform> u: Held;
@group(0) @binding(1) var<storage, read_write> o: array<Held>;
fn grow(x: f16, v: vec3<f16>) -> vec3<f16> { return v * x + vec3(1h, 2h, 0.5h); }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = Held(u.a + f16(id.x), grow(u.a, u.b), u.m * 2h);
    o[id.x].b[id.x % 3u] = exp2(u.a) + tanh(u.a);
}

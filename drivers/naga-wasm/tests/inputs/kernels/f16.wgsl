enable f16;
struct Mixed { one: f16, two: vec2<f16>, three: vec3<f16>, m: mat3x3<f16>, n: mat4x2<f16>, list: vec2<f16> }
const scale: f16 = 15.25h;
var<private> kept: f16 = 1h;
@group(0) @binding(0) var<uniform> i: Mixed;
@group(0) @binding(1) var<storage> s: Mixed;
@group(0) @binding(2) var<storage, read_write> o: array<Mixed>;
fn all_of(x: f16) -> f16 {
    var r = f16(f32(x) + 1.5) + scale / 4h;
    r += i.list[0] + s.list[1] - kept;
    r = select(r, abs(r), r < 0h) + dot(s.two, i.two) + clamp(x, 0h, 1h) + floor(x) * fract(x);
    return r + length(vec2(3h, 4h)) - max(x, 2h) + sign(x) + fma(x, 2h, 1h);
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = s;
    o[id.x].one = all_of(s.one) + f16(id.x);
    o[id.x].three = i.three * s.m + i.m * s.three;
    o[id.x].n[id.x % 4u] += vec2(1h, i.list[id.x % 2u]);
    o[id.x].m = transpose(i.m);
}

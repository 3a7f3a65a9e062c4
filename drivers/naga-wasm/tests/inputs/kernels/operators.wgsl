@group(0) @binding(0) var<storage, read_write> f: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> i: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read_write> u: array<vec3<u32>>;
fn logic(a: bool, b: bool) -> bool { let v = vec2(a, b); return (a || b) && !(a & b) | any(v & vec2(true)) != all(!v); }
fn matrices(v: vec4<f32>) -> vec4<f32> {
    let a = mat3x4<f32>(v, v.yzwx, vec4(1.0, 2.0, 0.5, -1.0));
    let b = mat4x3<f32>(v.xyz, v.yzw, vec3(1.0), vec3(0.5));
    let m = a * b + mat4x4<f32>(v, v, v, v) - 2.0 * (a * b) * 0.5;
    return m * v + v * m + a * v.xyz;
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = f[id.x];
    x = (x + 1.0) * x.yxwz / 4.0 - 2.0 * x % vec4(3.0, -2.0, 1.5, 7.0);
    x += matrices(f[id.x] * 0.25);
    x = select(x, -x, x >= vec4(0.5));
    var n = i[id.x];
    n = (n + 3) * n.wzyx / vec4(3, -2, 5, 7) - n % vec4(4, 3, -2, 9) + (n << vec4(1u, 2u, 3u, 31u)) - (n >> vec4(2u));
    n = (n & vec4(0xffff)) ^ ~n | vec4(i32(logic(id.x % 2u == 0u, x.x > 1.0)));
    n += 1; n -= 2; n *= 3; n /= vec4(2); n %= vec4(50); n &= vec4(63); n |= vec4(64); n ^= vec4(5);
    n.x++; n.y--;
    var m = u[id.x];
    let odd = (m.y <= 7u && m.z != 4u) || (!(m.x < m.y) && m.x >= m.z && m.y > 2u) || (m.x == 1u && false == true);
    if odd { m = ~m; }
    u[id.x] = m;
    i[id.x] = n;
    f[id.x] = x;
}

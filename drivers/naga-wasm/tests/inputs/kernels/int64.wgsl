const wide: i64 = 20li;
struct Held { i: i64, v: vec3<u64>, list: vec2<i64>, n: u32 }
var<private> kept: i64 = -5li;
@group(0) @binding(0) var<uniform> c: Held;
@group(0) @binding(1) var<storage, read_write> o: array<Held>;
fn signed(x: i64) -> i64 {
    var r = x + 31li - 1002003004005li;
    r += x * i64(bitcast<i32>(u32(x)));
    r += i64(c.n) + c.list[0] + kept;
    r = select(min(r, 70li) , clamp(r, -9li, 9li), r > 5li) + abs(r) + sign(x) + i64(f32(x)) + bitcast<i64>(c.v.y);
    return r + dot(vec2(x, wide), vec2(3li)) + (r >> 3u) + (x << 35u);
}
fn unsigned(x: u64) -> u64 {
    var r = x + 31lu + 18446744073709551615lu;
    r ^= x * 1002003004005006lu;
    return (r & ~x) | (max(r, x) >> 7u) | u64(countOneBits(u32(x)));
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x].i = signed(o[id.x].i + i64(id.x));
    o[id.x].v[id.x % 3u] = unsigned(o[id.x].v.x) + c.v[id.x % 3u];
    o[id.x].n += u32(o[id.x].list[id.x % 2u] != 3li) + u32(all(o[id.x].v == c.v));
}

var<private> calls: u32;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
fn seen(x: bool) -> bool { calls++; return x; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = seen(id.x % 2u == 0u) && seen(id.x > 4u) && seen(false);
    let b = seen(id.x % 3u == 0u) || seen(id.x > 7u) || seen(true);
    let c = id.x != 0u && o[id.x] / id.x > 2u;
    let d = seen(id.x < 9u) & seen(id.x > 2u) | seen(false);
    o[id.x] = calls * 16u + u32(a) * 8u + u32(b) * 4u + u32(c) * 2u + u32(d);
}

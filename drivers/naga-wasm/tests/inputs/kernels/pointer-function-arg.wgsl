@group(0) @binding(0) var<storage, read_write> o: array<i32>;
struct Held { n: i32, list: array<i32, 4> }
fn in_function(p: ptr<function, array<i32, 4>>, i: u32) -> i32 { (*p)[i] += 1; return p[i] * 2; }
fn in_private(p: ptr<private, Held>, i: u32) { (*p).list[i] = 5; p.n++; }
fn hands_on(p: ptr<function, Held>, i: u32) -> i32 { let q = &(*p).list; return in_function(q, i) + in_function(&p.list, i + 1u); }
var<private> kept: Held;
var<workgroup> w: array<i32, 8>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    var h = Held(3, array(1, 2, 3, 4));
    w[l] = o[id.x];
    in_private(&kept, l % 4u);
    workgroupBarrier();
    o[id.x] = hands_on(&h, l % 3u) + h.list[l % 4u] * 100 + w[7u - l] + kept.list[l / 2u] + kept.n;
}

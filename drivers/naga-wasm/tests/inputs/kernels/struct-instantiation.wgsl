struct Inner { color: vec3<f32>, on: i32 }
struct Outer { n: u32, inner: Inner }
@group(0) @binding(0) var<storage, read_write> o: array<Outer>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let inner = Inner(vec3(1.0, 2.0, f32(id.x)), -1);
    var outer = Outer(id.x, inner);
    outer.inner.on += i32(outer.n);
    o[id.x] = outer;
}

struct All { a: array<u32, 40>, b: atomic<u32>, c: array<array<atomic<i32>, 4>, 2>, d: mat2x2<f32> }
var<workgroup> w: All;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    o[id.x] = w.a[l * 5u] + atomicLoad(&w.b) + u32(atomicLoad(&w.c[l % 2u][l % 4u])) + u32(w.d[1].y);
    workgroupBarrier();
    w.a[l * 5u] = 7u;
    atomicAdd(&w.b, 3u);
    atomicAdd(&w.c[l % 2u][l % 4u], 3);
    w.d[1].y = 9.0;
}

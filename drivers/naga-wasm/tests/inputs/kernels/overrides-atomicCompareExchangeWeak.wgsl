override add: i32 = 1;
var<workgroup> a: atomic<u32>;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3<u32>) {
    let result = atomicCompareExchangeWeak(&a, 0u, u32(add) + 4u);
    o[g.x] = atomicLoad(&a) * 10u + result.old_value + u32(result.exchanged);
}

var<workgroup> u: atomic<u32>;
var<workgroup> i: atomic<i32>;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3<u32>) {
    atomicStore(&u, 2 + 3);
    atomicAdd(&u, 4);
    atomicMax(&i, -5 + 9);
    let old = atomicCompareExchangeWeak(&u, 9, 10 * 2);
    atomicExchange(&i, 7);
    o[g.x] = atomicLoad(&u) + u32(atomicLoad(&i)) + old.old_value + u32(old.exchanged);
}

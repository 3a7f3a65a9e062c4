struct Both { u: atomic<u32>, i: array<atomic<i32>, 2> }
@group(0) @binding(0) var<storage, read_write> scalar: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> own: array<Both>;
@group(0) @binding(2) var<storage, read_write> o: array<u32>;
var<workgroup> near: Both;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    atomicAdd(&scalar, id.x);
    atomicXor(&near.u, 1u << l);
    atomicMax(&near.i[0], i32(l) - 3);
    atomicMin(&near.i[1], -i32(id.x));
    workgroupBarrier();
    var x = atomicAdd(&own[id.x].u, 3u);
    x ^= atomicSub(&own[id.x].u, 5u);
    x += atomicAnd(&own[id.x].u, 0xfffu);
    x ^= atomicOr(&own[id.x].u, 0x10u);
    x += atomicXor(&own[id.x].u, 0xffu);
    x ^= atomicMin(&own[id.x].u, 70u) + atomicMax(&own[id.x].u, 30u);
    x += u32(atomicExchange(&own[id.x].i[l & 1u], -4) + atomicMin(&own[id.x].i[1], 2));
    o[id.x] = x + atomicLoad(&near.u) + u32(atomicLoad(&near.i[0])) * 3u + u32(atomicLoad(&near.i[1]));
}

@group(0) @binding(0) var<storage, read_write,> o: array<vec2<u32,>,>;
var<workgroup,> w: array<atomic<u32,>, 8,>;
@compute @workgroup_size(8,) fn main(@builtin(global_invocation_id,) id: vec3<u32,>, @builtin(local_invocation_index) l: u32,) {
    atomicStore(&w[l], id.x,);
    workgroupBarrier();
    o[id.x] = vec2<u32,>(atomicLoad(&w[7u - l]), u32(max(l, 2u,)),);
}

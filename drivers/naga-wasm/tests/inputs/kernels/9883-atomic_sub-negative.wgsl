@group(0) @binding(0) var<storage, read_write> total: atomic<i32>;
@group(0) @binding(1) var<storage, read_write> each: array<atomic<i32>>;
@group(0) @binding(2) var<storage, read_write> o: array<i32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicSub(&total, -3);
    o[id.x] = atomicSub(&each[id.x], -7) + atomicSub(&each[id.x], i32(id.x));
}

struct Counts { one: atomic<u32>, few: array<atomic<u32>, 10>, many: array<atomic<u32>> }
@group(0) @binding(0) var<storage, read_write> c: Counts;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicAdd(&c.one, 1u);
    atomicAdd(&c.few[id.x], 2u);
    atomicMax(&c.many[id.x * 3u], 4u + id.x);
}

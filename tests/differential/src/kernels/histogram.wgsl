// Atomic additions and a maximum, whose outcome does not depend on their order.
var<immediate> c: u32;
@group(0) @binding(0) var<storage> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
var<workgroup> most: atomic<u32>;

@compute @workgroup_size(8, 2)
fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let value = a[(l + 16u * group.x + 5u * group.y) % arrayLength(&a)];
    atomicMax(&most, value >> 16u);
    workgroupBarrier();
    atomicAdd(&bins[(value ^ c) % arrayLength(&bins)], 1u + atomicLoad(&most));
}

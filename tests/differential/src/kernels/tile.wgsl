// Tiles of 4 by 4 words, turned over through workgroup memory.
@group(0) @binding(0) var<storage> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
var<workgroup> tile: array<array<u32, 4>, 4>;

@compute @workgroup_size(4, 4)
fn main(
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let start = 16u * (group.x + group.y * groups.x);
    tile[local.y][local.x] = a[(start + local.y * 4u + local.x) % arrayLength(&a)];
    workgroupBarrier();
    let i = start + local.y * 4u + local.x;
    if i < arrayLength(&o) {
        o[i] = tile[local.x][local.y];
    }
}

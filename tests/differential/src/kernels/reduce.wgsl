// A sum for each workgroup, as a tree over workgroup memory.
@group(0) @binding(0) var<storage> a: array<u32>;
@group(0) @binding(3) var<storage, read_write> o: array<u32>;
var<workgroup> part: array<u32, 16>;

@compute @workgroup_size(16)
fn main(
    @builtin(local_invocation_index) l: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let g = group.x + group.y * groups.x;
    var sum = 0u;
    for (var i = l + g; i < arrayLength(&a); i += 16u) {
        sum += a[i];
    }
    part[l] = sum;
    workgroupBarrier();
    for (var half = 8u; half > 0u; half /= 2u) {
        if l < half {
            part[l] += part[l + half];
        }
        workgroupBarrier();
    }
    if l == 0u && g < arrayLength(&o) {
        o[g] = part[0];
    }
}

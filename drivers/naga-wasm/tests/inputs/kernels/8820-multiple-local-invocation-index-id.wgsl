struct Where { @builtin(local_invocation_index) at: u32, @builtin(local_invocation_id) place: vec3<u32> }
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(2, 4) fn one(@builtin(local_invocation_index) at: u32, @builtin(workgroup_id) g: vec3<u32>) {
    o[g.x * 8u + at] = at;
}
@compute @workgroup_size(2, 2, 2) fn two(
    w: Where, @builtin(workgroup_id) g: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>
) {
    o[g.x * 8u + w.at] = w.place.x + 10u * w.place.y + 100u * w.place.z + 1000u * groups.x;
}

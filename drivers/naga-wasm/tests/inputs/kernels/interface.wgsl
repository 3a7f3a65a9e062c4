struct Ids { @builtin(global_invocation_id) global: vec3<u32>, @builtin(local_invocation_index) index: u32 }
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
var<workgroup> w: array<u32, 1>;
@compute @workgroup_size(1) fn main(
    ids: Ids, @builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) g: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>
) {
    w[0] = ids.global.x + local.x + ids.index + g.x + groups.x;
    o[ids.global.x] = w[0];
}

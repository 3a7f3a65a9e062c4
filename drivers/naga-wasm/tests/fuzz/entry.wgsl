        @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
        @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>, @builtin(subgroup_size) lanes: u32,
        @builtin(num_subgroups) gangs: u32) {
let number = group.x + groups.x * (group.y + groups.y * group.z);
var last = 0u;

// Workgroups that do nothing but have all the workgroup memory there is, which has to be cleared for each.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> large: array<u32, 8192>;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3<u32>) {
    output[0] = large[input[0] + group.x % 8192u];
}

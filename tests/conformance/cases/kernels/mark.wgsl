// Marks one number for each workgroup, whatever its dimensions.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(1)
fn mark(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) all: vec3<u32>) {
    output[id.x + all.x * (id.y + all.y * id.z)] = 1u + id.x + 100u * id.y + 10000u * id.z;
}

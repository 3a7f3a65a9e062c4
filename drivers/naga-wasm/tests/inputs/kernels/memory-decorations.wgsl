@group(0) @binding(0) @coherent var<storage, read_write> a: array<u32>;
@group(0) @binding(1) @coherent @volatile var<storage, read_write> b: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    a[id.x] += b[id.x];
    b[id.x] = a[id.x] + 1u;
}

// b = a. The grid has two dimensions, as one takes at most 65,535 workgroups.

const THREADS = 256u;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.y * groups.x * THREADS + id.x;
    if i >= arrayLength(&b) {
        return;
    }
    b[i] = a[i];
}

@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
var<workgroup> w: array<u32, 4>;
fn together() { workgroupBarrier(); storageBarrier(); }
@compute @workgroup_size(4) fn first(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    w[l] = a[id.x];
    together();
    a[id.x] = w[3u - l] + 1u;
}
@compute @workgroup_size(3) fn second(@builtin(global_invocation_id) id: vec3<u32>) { b[id.x] *= 0.5; }
@compute @workgroup_size(5) fn third(@builtin(global_invocation_id) id: vec3<u32>) { b[id.x] = f32(a[id.x]); }

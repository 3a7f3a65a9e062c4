// Sums and products of floats that are neither tiny nor huge: each is rounded once, on every device.
@group(0) @binding(0) var<storage> a: array<u32>;
@group(0) @binding(1) var<storage> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> o: array<f32>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * 16u;
    if i < arrayLength(&o) {
        let x = f32(a[i % arrayLength(&a)] & 0xffffu) * 0.125;
        let y = f32(b[i % arrayLength(&b)] & 0xffu) + 1.0;
        let v = vec2(x, y) * 0.3 + vec2(y, 1.7);
        o[i] = x * y + 0.3 + v.x * v.y;
    }
}

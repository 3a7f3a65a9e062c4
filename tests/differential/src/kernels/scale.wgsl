// Reads with wrap-around, and updates in place.
struct Constants { factor: u32, shift: u32 }
var<immediate> c: Constants;
@group(0) @binding(0) var<storage> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * 32u;
    if i < arrayLength(&o) {
        o[i] = a[(i * 7u + c.shift) % arrayLength(&a)] * c.factor + o[i];
    }
}

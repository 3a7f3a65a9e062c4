// Workgroup counts, for a dispatch that reads them from a buffer.
struct Constants { x: u32, y: u32, z: u32 }
var<immediate> c: Constants;
@group(0) @binding(0) var<storage, read_write> o: array<u32, 3>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if all(id == vec3(0u)) {
        o[0] = c.x;
        o[1] = c.y;
        o[2] = c.z;
    }
}

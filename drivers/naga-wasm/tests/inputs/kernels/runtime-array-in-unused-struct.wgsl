struct Unused { list: array<f32> }
struct Used { n: u32, list: array<f32> }
@group(0) @binding(0) var<storage, read_write> u: Used;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&u.list) { u.list[id.x] += f32(arrayLength(&u.list)); }
}

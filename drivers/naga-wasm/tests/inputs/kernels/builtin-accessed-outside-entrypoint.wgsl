var<private> where_: vec3<u32>;
var<private> index: u32;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
fn place() -> u32 { return where_.x * 10u + index; }
@compute @workgroup_size(4, 2) fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    where_ = g;
    index = l;
    o[g.x * 8u + l] = place();
}

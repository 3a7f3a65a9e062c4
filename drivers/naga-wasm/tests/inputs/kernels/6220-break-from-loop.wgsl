@group(0) @binding(0) var<storage, read_write> o: array<i32>;
fn first(from_: i32) -> i32 {
    for (var i = 0; i < 4; i++) {
        let done = i == from_ % 5;
        if done { break; }
        if i == 3 { return -1; }
    }
    return from_;
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = first(i32(id.x));
}

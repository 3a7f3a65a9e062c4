const x = 1;
const_assert x < 2;
const_assert(x + 1 == 2);
@group(0) @binding(0) var<storage, read_write> o: array<i32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    const_assert x != 0;
    o[id.x] = x;
}

@group(0) @binding(0) var<storage, read_write> o: array<i32>;
fn one(a: array<i32, 5>, i: i32) -> i32 { return a[i]; }
fn two(a: array<array<i32, 2>, 3>, i: i32, j: i32) -> i32 { return a[i][j]; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x);
    o[id.x] = one(array(1, 2, 3, 4, 5), i % 5) + 10 * two(array(array(1, 2), array(3, 4), array(5, 6)), i % 3, i % 2) + 100 * vec4(7, 8, 9, i)[i % 4];
}

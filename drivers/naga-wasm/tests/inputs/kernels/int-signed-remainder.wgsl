@group(0) @binding(0) var<storage, read_write> i: array<vec2<i32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let d = i32(id.x % 5u) - 2;
    i[id.x] = (i[id.x] - 30) % vec2(d, -7) + vec2((-17 - d) % 5, -2147483648 % d) * 100;
}

@group(0) @binding(0) var<storage, read_write> i: array<vec2<i32>>;
@group(0) @binding(1) var<storage, read_write> u: array<vec2<u32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let d = i32(id.x % 3u) - 1;
    i[id.x] = i[id.x] / vec2(d, 3) + vec2(-2147483648) / vec2(d);
    u[id.x] = u[id.x] / vec2(id.x % 2u, 7u);
}

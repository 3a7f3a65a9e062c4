@group(0) @binding(0) var<storage, read_write> i: array<vec2<i64>>;
@group(0) @binding(1) var<storage, read_write> u: array<u64>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let d = i64(id.x) - 3li;
    i[id.x] = (i[id.x] - vec2(40000000000li)) / vec2(d, -7li) + i[id.x] % vec2(d, 1000003li);
    u[id.x] = u[id.x] / u64(id.x % 4u) + u[id.x] % (u64(id.x) << 20u);
}

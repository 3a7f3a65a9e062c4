@group(0) @binding(0) var<storage, read_write> o: array<vec2<i32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x0: vec2<i32> = vec2(1, 2);
    let i1 = select(vec2(1, 0), vec2(0, 1), x0.x < x0.y);
    o[id.x] = select(o[id.x], i1 * 9, id.x % 3u == 1u) + select(vec2(3), vec2(4), vec2(o[id.x].x > 9, id.x < 4u));
}

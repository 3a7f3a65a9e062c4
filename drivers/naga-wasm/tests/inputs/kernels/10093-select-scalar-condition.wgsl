@group(0) @binding(0) var<storage, read_write> o: array<vec4<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = o[id.x];
    o[id.x] = select(v.wzyx * 2.0, v, v.x > v.y) + select(vec4(1.0), vec4(-1.0), id.x % 3u == 0u);
}

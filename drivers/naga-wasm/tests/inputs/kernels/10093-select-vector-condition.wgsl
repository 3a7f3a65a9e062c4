@group(0) @binding(0) var<storage, read_write> o: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> n: array<vec3<i32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = o[id.x];
    o[id.x] = select(v, vec4(0.5, 1.5, 2.5, 3.5), v < v.yzwx);
    let m = n[id.x];
    n[id.x] = select(-m, m, (m & vec3(1)) == vec3(1));
}

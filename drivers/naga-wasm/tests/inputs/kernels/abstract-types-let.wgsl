@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = 3;
    let f = 1.5;
    let v = vec3(1, 2, 3.5);
    let typed: vec2<u32> = vec2(4, 5);
    let m = mat2x2(vec2(1, 2), vec2(3.0, 4));
    let a = array(vec2(1, 2), vec2(3, 4));
    o[id.x] = f32(i) * f + v.z + f32(typed.x << id.x % 3u) + m[1].y + f32(a[id.x % 2u].y);
}

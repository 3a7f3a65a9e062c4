struct Thing { a: vec4<f32>, b: i32 }
@group(0) @binding(0) var<storage, read_write> o: array<Thing>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = Thing(vec4(1.0), 1);
    let m = mat2x2<f32>(1.0, 0.0, o[id.x].a.x, 1.0);
    let n = mat4x4<f32>(vec4(1.0), o[id.x].a, vec4(vec2(2.0), 3.0, 4.0), vec4(5.0, vec3(6.0)));
    let zeros = vec3<f32>() + vec3(f32(), 1.0, 0.0);
    let same = vec2<u32>(vec2(id.x, 3u));
    let copy = mat2x2<f32>(m);
    let converted = vec4<i32>(o[id.x].a);
    let flags = vec2<bool>(true, id.x > 3u);
    let list = array<i32, 4>(0, 1, t.b + 1, 3);
    o[id.x] = Thing(n * t.a + vec4(zeros, copy[1].x), list[id.x % 4u] + converted.y + i32(same.y) + i32(flags.y));
}

var<private> global: vec2<f32> = vec2(1, 2.5);
var<private> table: array<vec2<i32>, 2> = array(vec2(1, 2), vec2(3, 4));
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var i = 42;
    var f = 42.5;
    var u: u32 = 7;
    var v: vec3<f32> = vec3(1, 2, 3);
    var m: mat2x3<f32> = mat2x3(1, 2, 3, 4, 5, 6);
    i += 2; f *= 2; u = 9; v.y = 5; m[1] = v; global.x += 4; table[id.x & 1u].y = -6;
    o[id.x] = f32(i) + f + f32(u) + v.y + m[1][id.x % 3u] + global.x + f32(table[0].y + table[1].y);
}

const int = 1;
const uint = 1u;
const float = 1f;
const either = 1.0;
const boolean = true;
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var i = int;
    var u = uint + id.x;
    var f = float;
    var e = either + o[id.x];
    var b = boolean;
    var v = vec3(f, e, 2);
    var m = mat2x2(v.xy, v.yz);
    if b { i += i32(u); }
    o[id.x] = f32(i) + m[1].x + v.z;
}

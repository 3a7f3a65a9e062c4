struct Result { ok: bool, value: vec2<f32> }
@group(0) @binding(0) var<storage, read_write> o: array<vec2<f32>>;
fn several(x: vec2<f32>) -> Result {
    if x.x > 5.0 { return Result(true, x.yx); }
    for (var i = 0; i < 4; i++) { if x.y + f32(i) > 3.0 { return Result(i > 1, x * f32(i)); } }
    return Result();
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let r = several(o[id.x]);
    o[id.x] = select(vec2(-1.0), r.value, r.ok) + r.value;
}

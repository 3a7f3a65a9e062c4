@group(0) @binding(0) var<storage, read_write> o: array<f32>;
var<private> p: f32 = 1.0;
fn touch() -> f32 { p += 1.0; return p; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = o[id.x];
    let before = x;
    x = x + 1.0;
    let held = p;
    let after = touch() + touch();
    o[id.x] = x;
    let again = o[id.x];
    o[id.x] = again * 100.0 + before + held * 10.0 + after + p;
}

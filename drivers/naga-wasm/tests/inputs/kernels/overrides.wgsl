@id(0) override has_point: bool = true;
@id(1300) override gain: f32 = 0.5;
override width: f32 = 0.0;
override depth: f32 = 2.3;
override height = 2.0 * depth;
override count: u32 = 4u;
override wide: i32 = -3;
var<private> gain_x_10: f32 = gain * 10.0;
var<workgroup> held: array<f32, count>;
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(count * 2u) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    var t = height * 5.0 + f32(wide);
    let a = !has_point;
    if a { t += 1000.0; }
    if l < count { held[l] = t + width; }
    workgroupBarrier();
    gain_x_10 += gain;
    o[id.x] = held[l % count] + gain_x_10;
}

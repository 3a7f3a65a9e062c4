struct Held { at: vec3<f32>, tint: vec3<f32> }
@group(0) @binding(0) var<storage, read_write> o: array<Held>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var h = o[id.x];
    for (var i = 0; i < 10; i++) {
        let ii = f32(i);
        h.tint.x += ii * 0.0625;
        h.tint.y -= ii * 0.125;
    }
    h.at *= 2.0;
    o[id.x] = h;
}

@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = vec4(0.0);
    for (var i = 0u; i < 4u + id.x; i++) {
        var once = vec4(0.0);
        if i % 2u == 0u { once += vec4(1.0, f32(i), 2.0, 3.0); }
        sum += once;
    }
    o[id.x] = sum.x * 8.0 + sum.y + sum.w;
}

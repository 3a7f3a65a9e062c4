enable f16;
var<private> p: f16;
@group(0) @binding(0) var<storage, read_write> o: array<vec4<f16>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = o[id.x];
    p = v.y;
    let packed = pack2x16float(vec2<f32>(v.xy));
    o[id.x] = max(v, vec4(1.5h)) * vec4(p) + vec4(vec2<f16>(unpack2x16float(packed)), abs(-v.z), sqrt(v.w));
}

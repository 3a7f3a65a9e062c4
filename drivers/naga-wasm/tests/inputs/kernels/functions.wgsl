@group(0) @binding(0) var<storage, read_write> o: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> n: array<i32>;
fn fused(v: vec2<f32>) -> vec2<f32> { return fma(v, vec2(0.5), vec2(1.5, -0.5)); }
fn dots(x: i32) -> i32 {
    let signed = dot(vec4(x, 2, 3, 4), vec4(-1, x, 2, 5));
    let unsigned = dot(vec3(u32(x)), vec3(1u, 2u, 3u));
    return signed + i32(unsigned);
}
fn packed(x: u32) -> i32 { return dot4I8Packed(x * 0x01020304u, 0xff02fe03u) + i32(dot4U8Packed(x * 0x010101u, 0x05ff0201u)); }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = vec4(fused(o[id.x].xy), normalize(o[id.x].zw + 20.0));
    n[id.x] = dots(n[id.x]) + packed(u32(n[id.x]));
}

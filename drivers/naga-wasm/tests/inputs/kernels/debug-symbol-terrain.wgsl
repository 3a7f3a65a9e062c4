const SIZE = vec2<u32>(4u, 4u);
@group(0) @binding(0) var<storage, read_write> height: array<vec4<f32>>;
fn mixed(x: vec3<f32>) -> vec3<f32> { return (x * 34.0 + 1.0) * x - floor((x * 34.0 + 1.0) * x / 289.0) * 289.0; }
fn noise(v: vec2<f32>) -> f32 {
    let c = vec4(0.25, 0.375, -0.5, 0.0625);
    var i = floor(v + dot(v, c.yy));
    let x0 = v - i + dot(i, c.xx);
    var i1 = select(vec2(0.0, 1.0), vec2(1.0, 0.0), x0.x > x0.y);
    var x12 = x0.xyxy + c.xxzz;
    x12.x -= i1.x;
    x12.y -= i1.y;
    let p = mixed(mixed(i.y + vec3(0.0, i1.y, 1.0)) + i.x + vec3(0.0, i1.x, 1.0));
    var m = max(0.5 - vec3(dot(x0, x0), dot(x12.xy, x12.xy), dot(x12.zw, x12.zw)), vec3(0.0));
    m *= m;
    return dot(m, fract(p * c.www) * 2.0 - 1.0);
}
fn octaves(p: vec2<f32>) -> f32 {
    var x = p * 0.125;
    var v = 0.0;
    var a = 0.5;
    let turn = mat2x2<f32>(vec2(0.75, 0.5), vec2(-0.5, 0.75));
    for (var i = 0u; i < 5u; i++) { v += a * noise(x); x = turn * x * 2.0 + 1.0; a *= 0.5; }
    return v;
}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= SIZE.x * SIZE.y { return; }
    let at = vec2(f32(id.x % SIZE.x), f32(id.x / SIZE.x));
    let here = octaves(at);
    let slope = vec2(octaves(at + vec2(0.5, 0.0)), octaves(at + vec2(0.0, 0.5))) - here;
    height[id.x] = vec4(here, slope, length(vec3(slope, 1.0)));
}

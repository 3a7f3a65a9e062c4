@group(0) @binding(0) var<storage, read_write> o: array<array<vec4<f32>, 4>>;
@group(0) @binding(1) var<storage, read_write> n: array<vec4<i32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = o[id.x][0];
    let p = abs(v) + 0.5;
    let parts = modf(v);
    let split = frexp(v.zw);
    o[id.x][0] = degrees(v) + saturate(v) + parts.whole + parts.fract + ldexp(v, vec4(1, 2, -1, 0));
    o[id.x][1] = vec4(exp(v.x * 0.25), log2(p.y), pow(p.z, 1.5), inverseSqrt(p.w));
    o[id.x][2] = vec4(atan2(v.x, p.y), sin(v.z), cosh(v.w * 0.25), distance(v.xy, p.zw));
    o[id.x][3] = vec4(reflect(v.xy, vec2(1.0, 0.0)), faceForward(v.xy, v.yz, v.zw).y, step(v.x, v.y) + smoothstep(-9.0, 9.0, v.w) + trunc(v.x) + round(v.y) + ceil(v.z)) + vec4(refract(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), 0.5), 0.0);
    n[id.x] = sign(n[id.x]) + abs(n[id.x] - 30) + vec4(vec2(split.exp), countLeadingZeros(n[id.x].zw)) + vec4(frexp(1.5).exp);
    n[id.x] += vec4(dot(n[id.x].xy, vec2(2, 3)));
}

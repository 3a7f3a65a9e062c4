@group(0) @binding(0) var<storage, read_write> i: array<vec4<i32>>;
@group(0) @binding(1) var<storage, read_write> u: array<vec3<u32>>;
@group(0) @binding(2) var<storage> f: array<vec4<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var a = i[id.x];
    var b = u[id.x];
    let v = f[id.x] * 0.1;
    let packed = pack4x8snorm(v) ^ pack4x8unorm(v) ^ pack2x16snorm(v.xy) ^ pack2x16unorm(v.zw) ^ pack2x16float(v.yz);
    let bytes = pack4xI8(a) + pack4xU8(b.xyzx) + pack4xI8Clamp(a * 9) + pack4xU8Clamp(b.xyzx * 9u);
    a = insertBits(a, a.yzwx, 5u, 10u) + extractBits(a, 3u, id.x) + firstTrailingBit(a) + firstLeadingBit(a);
    b = insertBits(b, b.yzx, id.x, 6u) + extractBits(b, 5u, 10u) + firstTrailingBit(b) + firstLeadingBit(b);
    a = reverseBits(a) ^ countOneBits(a) ^ countLeadingZeros(a) ^ countTrailingZeros(a);
    b = reverseBits(b) ^ countOneBits(b) ^ countLeadingZeros(b) ^ countTrailingZeros(b);
    i[id.x] = a + vec4<i32>(unpack4xI8(packed)) + bitcast<vec4<i32>>(unpack4x8snorm(bytes));
    u[id.x] = b + unpack4xU8(packed).xyz + bitcast<vec3<u32>>(unpack4x8unorm(bytes).xyz) + vec3(u32(unpack2x16snorm(packed).x * 99.0) + packed, bytes, u32(unpack2x16unorm(packed).y * 99.0));
}

// Bytes and bits of words, in place.
var<immediate> c: u32;
@group(0) @binding(7) var<storage, read_write> o: array<u32>;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * 8u;
    if i < arrayLength(&o) {
        let v = unpack4xU8(o[i]).wzyx + vec4(c, 1u, i, 255u);
        o[i] = insertBits(pack4xU8(v), reverseBits(i), c % 32u, 5u) ^ dot4U8Packed(o[i], c);
    }
}

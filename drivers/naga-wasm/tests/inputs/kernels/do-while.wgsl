@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var n = id.x;
    loop {
        o[id.x] += n;
        continuing { n += 2u; break if !(n < 9u); }
    }
    loop { if true { break; } }
}

@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var i = 0u;
    loop {
        i += 1u;
        if i % 3u == 0u { continue; }
        o[id.x] += i;
        continuing {
            i += 1u;
            let last = i > id.x;
            break if last || i > 9u;
        }
    }
    loop { continuing { break if true; } }
    loop { var again = id.x > 40u; again = !again; continuing { break if again == (i > 0u); } }
    o[id.x] = o[id.x] * 100u + i;
}

@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var i = 0u;
    var sum = 0u;
    loop {
        if i >= id.x + 2u { break; }
        if i == 4u { continue; }
        sum += 100u;
        continuing {
            if i % 2u == 0u { sum += 1u; } else { var k = sum % 3u; k++; sum += k; }
            for (var j = 0u; j < 2u; j++) { sum ^= j; }
            i++;
        }
    }
    o[id.x] = sum;
}

@group(0) @binding(0) var<storage, read_write> v: array<u32>;
fn steps(from_: u32) -> u32 {
    var n = from_;
    var count = 0u;
    while n > 1u && count < 200u {
        if n % 2u == 0u { n = n / 2u; } else { n = 3u * n + 1u; }
        count++;
    }
    return count;
}
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    v[id.x] = steps(v[id.x]);
}
@compute @workgroup_size(6) fn in_gangs(@builtin(global_invocation_id) id: vec3<u32>) {
    v[id.x] = steps(v[id.x]);
}

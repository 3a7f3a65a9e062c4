// A loop of 50,000 rounds: below the 65,535 at which some software devices end an invocation.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(1)
fn sum(@builtin(global_invocation_id) id: vec3<u32>) {
    var total = 0u;
    for (var i = 0u; i < 50000u; i++) { total += input[i & 3u] + id.x; }
    output[id.x] = total;
}

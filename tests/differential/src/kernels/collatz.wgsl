// Loops of different length in each invocation, at most 200 rounds.
@group(0) @binding(1) var<storage> a: array<u32>;
@group(0) @binding(2) var<storage, read_write> o: array<vec2<u32>>;

@compute @workgroup_size(5)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * 5u;
    if i >= arrayLength(&o) {
        return;
    }
    var n = a[i % arrayLength(&a)] % 1000u + 1u;
    var rounds = 0u;
    loop {
        if n == 1u {
            break;
        }
        if n % 2u == 0u {
            n /= 2u;
            continue;
        }
        n = 3u * n + 1u;
        continuing {
            rounds++;
            break if rounds == 200u;
        }
    }
    o[i] = vec2(rounds, n);
}

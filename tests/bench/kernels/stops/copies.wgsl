// Large private arrays that are copied whole, each invocation its own.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) index: u32) {
    var a: array<u32, 4096>;
    var b: array<u32, 4096>;
    var at = index + input[index];
    loop {
        a[at % 4096u] += 1u;
        b = a;
        b[(at * 7u) % 4096u] += at;
        a = b;
        at = at * 3u + a[(at * 5u) % 4096u];
        if at == 1u {
            break;
        }
    }
    output[index] = at;
}

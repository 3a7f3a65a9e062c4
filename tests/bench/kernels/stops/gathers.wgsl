// Reads all over a buffer that no cache holds; where the next one is depends on what came.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var at = id.x * 2654435761u;
    loop {
        at = (at + input[at & 0x3ffffffu]) * 1664525u + 1013904223u;
        at ^= at >> 15u;
        if at == 0u {
            at = 1u;
        }
        if at == input[0] {
            break;
        }
    }
    output[id.x & 63u] = at;
}

// Every invocation counts in the same word, which all processors then pass to each other.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) index: u32) {
    loop {
        if atomicAdd(&output[0], 2u) == input[0] + 1u {
            break;
        }
    }
    atomicAdd(&output[index & 63u], 1u);
}

// A loop that does not end, and has next to nothing in it.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) index: u32) {
    var x = input[index];
    loop {
        x = x * 2u + 1u;
        if x == 0u {
            break;
        }
    }
    output[index] = x;
}

// Arithmetic on integers of 64 bits, that carries from one word into the other.
@group(0) @binding(0) var<storage, read_write> data: array<i64>;

@compute @workgroup_size(4)
fn wide(@builtin(local_invocation_index) at: u32) {
    data[at] = data[at] * 10li - 7li;
}

// Loops in loops whose ends are all known: none of them is endless, and all of them together are.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) index: u32) {
    var x = input[index];
    for (var i = 0u; i < 4000000000u; i++) {
        for (var j = 0u; j < 8u; j++) {
            for (var k = 0u; k < 1000u; k++) {
                for (var l = 0u; l < 4u; l++) {
                    x = x * 3u + (x >> 7u);
                }
            }
        }
    }
    output[index] = x;
}

// Sums and products of numbers so small that some processors take a hundred times as long for them.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) index: u32) {
    let tiny = bitcast<f32>(index + input[index] + 1000u);
    var a = tiny;
    var b = tiny * 3.0;
    var c = tiny * 5.0;
    var d = tiny * 7.0;
    loop {
        a = a * 0.75 + tiny;
        b = b * 0.625 + tiny;
        c = c * 0.5 + tiny;
        d = d * 0.375 + tiny;
        if a == 1.0 {
            break;
        }
    }
    output[index] = a + b + c + d;
}

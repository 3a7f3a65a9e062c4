// Adds one to each element as often as it is told: the loop's end is not known before, so no driver takes it for a small one.

struct Times { times: u32 }

var<immediate> constants: Times;
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = input[id.x];
    for (var i = 0u; i < constants.times; i++) {
        x += 1.0;
    }
    output[id.x] = x;
}

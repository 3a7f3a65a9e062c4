// RMS normalisation, as before every block of a Llama-style transformer:
// output = input / sqrt(mean(input^2) + epsilon) * weight. A workgroup a row.

const WORKGROUP_SIZE: u32 = 256;
const EPSILON: f32 = 1e-6;

struct Params {
    hidden_size: u32,
}

var<immediate> params: Params;
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

var<workgroup> sums: array<f32, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup_id: vec3<u32>, @builtin(local_invocation_id) local_id: vec3<u32>) {
    let tid = local_id.x;
    let base = workgroup_id.x * params.hidden_size;

    var sum_of_squares = 0.0;
    for (var i = tid; i < params.hidden_size; i += WORKGROUP_SIZE) {
        let x = input[base + i];
        sum_of_squares += x * x;
    }
    sums[tid] = sum_of_squares;
    workgroupBarrier();

    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride >>= 1u) {
        if (tid < stride) {
            sums[tid] += sums[tid + stride];
        }
        workgroupBarrier();
    }

    let scale = inverseSqrt(sums[0] / f32(params.hidden_size) + EPSILON);
    for (var i = tid; i < params.hidden_size; i += WORKGROUP_SIZE) {
        output[base + i] = input[base + i] * scale * weight[i];
    }
}

// Inclusive prefix sums within blocks of a workgroup's size (Hillis and Steele): the first pass of a scan of a long array.

const BLOCK_SIZE: u32 = 256;

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

var<workgroup> block: array<f32, BLOCK_SIZE>;

@compute @workgroup_size(BLOCK_SIZE)
fn main(@builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_id) local_id: vec3<u32>) {
    let i = global_id.x;
    let tid = local_id.x;
    let count = arrayLength(&input);

    if (i < count) {
        block[tid] = input[i];
    } else {
        block[tid] = 0.0;
    }
    workgroupBarrier();

    for (var offset = 1u; offset < BLOCK_SIZE; offset <<= 1u) {
        var sum = block[tid];
        if (tid >= offset) {
            sum += block[tid - offset];
        }
        workgroupBarrier();
        block[tid] = sum;
        workgroupBarrier();
    }

    if (i < count) {
        output[i] = block[tid];
    }
}

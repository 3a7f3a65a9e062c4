// y = W x with weights and input of eight bits: a workgroup a row.
//
// 32 values in a row are a block: 8 words of 4 signed bytes each, the first value lowest, and an f16 scale. Words of all rows stand one
// after the other, and so do scales, two a word, the first one lowest. Sums inside a block are exact integers.

const THREADS = 64u;

struct Size { columns: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> weights: array<u32>;
@group(0) @binding(1) var<storage, read> weight_scales: array<u32>;
@group(0) @binding(2) var<storage, read> input: array<u32>;
@group(0) @binding(3) var<storage, read> input_scales: array<u32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

var<workgroup> partial: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let blocks = size.columns / 32;
    var sum = 0.0;
    for (var block = index; block < blocks; block += THREADS) {
        let at = group.x * blocks + block;
        var inner = 0;
        for (var i = 0u; i < 8; i++) {
            inner += dot4I8Packed(weights[at * 8 + i], input[block * 8 + i]);
        }
        let weight_pair = unpack2x16float(weight_scales[at / 2]);
        let weight_scale = select(weight_pair.x, weight_pair.y, at % 2 == 1);
        let input_pair = unpack2x16float(input_scales[block / 2]);
        let input_scale = select(input_pair.x, input_pair.y, block % 2 == 1);
        sum += f32(inner) * weight_scale * input_scale;
    }
    partial[index] = sum;
    workgroupBarrier();
    for (var half = THREADS / 2; half > 0; half /= 2) {
        if index < half {
            partial[index] += partial[index + half];
        }
        workgroupBarrier();
    }
    if index == 0 {
        output[group.x] = partial[0];
    }
}

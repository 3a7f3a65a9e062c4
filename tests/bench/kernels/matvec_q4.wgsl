// y = W x with weights of four bits: a workgroup a row.
//
// 32 weights in a row are a block: 4 words of 8 nibbles each, the first weight lowest, and an f16 scale. A weight is (nibble - 8) * scale.
// Words of all rows stand one after the other, and so do scales, two a word, the first one lowest.

const THREADS = 64u;

struct Size { columns: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> nibbles: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

var<workgroup> partial: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let words = size.columns / 8;
    let row = group.x * words;
    var sum = 0.0;
    for (var word = index; word < words; word += THREADS) {
        let packed = nibbles[row + word];
        var inner = 0.0;
        for (var i = 0u; i < 8; i++) {
            let weight = i32((packed >> (i * 4)) & 15) - 8;
            inner += f32(weight) * input[word * 8 + i];
        }
        let block = (row + word) / 4;
        let pair = unpack2x16float(scales[block / 2]);
        sum += inner * select(pair.x, pair.y, block % 2 == 1);
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

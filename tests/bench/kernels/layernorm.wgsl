// Each row to mean 0 and variance 1, then scaled and shifted by column: a workgroup a row.

const THREADS = 64u;
const EPSILON = 1.0e-5;

struct Size { columns: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> scale: array<f32>;
@group(0) @binding(2) var<storage, read> shift: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

var<workgroup> partial: array<f32, THREADS>;

fn sum_of_all(index: u32) -> f32 {
    workgroupBarrier();
    for (var half = THREADS / 2; half > 0; half /= 2) {
        if index < half {
            partial[index] += partial[index + half];
        }
        workgroupBarrier();
    }
    let sum = partial[0];
    workgroupBarrier();
    return sum;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let row = group.x * size.columns;
    var sum = 0.0;
    for (var i = index; i < size.columns; i += THREADS) {
        sum += input[row + i];
    }
    partial[index] = sum;
    let mean = sum_of_all(index) / f32(size.columns);

    var squares = 0.0;
    for (var i = index; i < size.columns; i += THREADS) {
        let difference = input[row + i] - mean;
        squares += difference * difference;
    }
    partial[index] = squares;
    let factor = inverseSqrt(sum_of_all(index) / f32(size.columns) + EPSILON);

    for (var i = index; i < size.columns; i += THREADS) {
        output[row + i] = (input[row + i] - mean) * factor * scale[i] + shift[i];
    }
}

// Softmax of each row: a workgroup a row, and reductions in the form of a tree.

const THREADS = 64u;

struct Size { columns: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

var<workgroup> partial: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let row = group.x * size.columns;
    var largest = -3.0e38;
    for (var i = index; i < size.columns; i += THREADS) {
        largest = max(largest, input[row + i]);
    }
    partial[index] = largest;
    workgroupBarrier();
    for (var half = THREADS / 2; half > 0; half /= 2) {
        if index < half {
            partial[index] = max(partial[index], partial[index + half]);
        }
        workgroupBarrier();
    }
    largest = partial[0];
    workgroupBarrier();

    var sum = 0.0;
    for (var i = index; i < size.columns; i += THREADS) {
        sum += exp(input[row + i] - largest);
    }
    partial[index] = sum;
    workgroupBarrier();
    for (var half = THREADS / 2; half > 0; half /= 2) {
        if index < half {
            partial[index] += partial[index + half];
        }
        workgroupBarrier();
    }
    let scale = 1.0 / partial[0];

    for (var i = index; i < size.columns; i += THREADS) {
        output[row + i] = exp(input[row + i] - largest) * scale;
    }
}

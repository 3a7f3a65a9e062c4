// y = W x: a workgroup a row, and a reduction in the form of a tree.

const THREADS = 64u;

struct Size { columns: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> weights: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

var<workgroup> partial: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let row = group.x * size.columns;
    var sum = 0.0;
    for (var i = index; i < size.columns; i += THREADS) {
        sum += weights[row + i] * input[i];
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

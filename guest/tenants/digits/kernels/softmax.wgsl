// Softmax of each row: probabilities = exp(logits - largest) / sum, row-major, at least one column.
//
// Dispatch one group per row in x.

struct Constants {
    columns: u32,
}

// The invocations that share a row, a power of two. Ten classes leave few of sixteen idle.
const WIDTH: u32 = 16u;

var<immediate> constants: Constants;

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read_write> probabilities: array<f32>;

var<workgroup> partial: array<f32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn softmax(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let begin = group.x * constants.columns;

    // The largest logit is taken off first, so that no exponential overflows.
    var largest = logits[begin];
    for (var column = lane; column < constants.columns; column += WIDTH) {
        largest = max(largest, logits[begin + column]);
    }
    partial[lane] = largest;
    workgroupBarrier();
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        if lane < half {
            partial[lane] = max(partial[lane], partial[lane + half]);
        }
        workgroupBarrier();
    }
    largest = partial[0];
    // Everyone has read the maximum before the sums take its place.
    workgroupBarrier();

    var sum = 0.0;
    for (var column = lane; column < constants.columns; column += WIDTH) {
        let exponential = exp(logits[begin + column] - largest);
        probabilities[begin + column] = exponential;
        sum += exponential;
    }
    partial[lane] = sum;
    workgroupBarrier();
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        if lane < half {
            partial[lane] += partial[lane + half];
        }
        workgroupBarrier();
    }

    for (var column = lane; column < constants.columns; column += WIDTH) {
        probabilities[begin + column] /= partial[0];
    }
}

// One head of attention, scores, softmax and sum in one kernel: a workgroup a query, an invocation a column of the head.

const HEAD = 64u;
const MAX_KEYS = 512u;

struct Size { keys: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> queries: array<f32>;
@group(0) @binding(1) var<storage, read> keys: array<f32>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

var<workgroup> query: array<f32, HEAD>;
var<workgroup> scores: array<f32, MAX_KEYS>;
var<workgroup> partial: array<f32, HEAD>;

@compute @workgroup_size(HEAD)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    query[index] = queries[group.x * HEAD + index];
    workgroupBarrier();

    var largest = -3.0e38;
    for (var key = index; key < size.keys; key += HEAD) {
        var score = 0.0;
        for (var i = 0u; i < HEAD; i++) {
            score += query[i] * keys[key * HEAD + i];
        }
        score *= inverseSqrt(f32(HEAD));
        scores[key] = score;
        largest = max(largest, score);
    }
    partial[index] = largest;
    workgroupBarrier();
    for (var half = HEAD / 2; half > 0; half /= 2) {
        if index < half {
            partial[index] = max(partial[index], partial[index + half]);
        }
        workgroupBarrier();
    }
    largest = partial[0];
    workgroupBarrier();

    var sum = 0.0;
    for (var key = index; key < size.keys; key += HEAD) {
        let weight = exp(scores[key] - largest);
        scores[key] = weight;
        sum += weight;
    }
    partial[index] = sum;
    workgroupBarrier();
    for (var half = HEAD / 2; half > 0; half /= 2) {
        if index < half {
            partial[index] += partial[index + half];
        }
        workgroupBarrier();
    }
    sum = partial[0];

    var result = 0.0;
    for (var key = 0u; key < size.keys; key++) {
        result += scores[key] * values[key * HEAD + index];
    }
    output[group.x * HEAD + index] = result / sum;
}

// A dense layer for a batch: output = activation(input * weight + bias), all matrices row-major.
//
// input is rows x inner, weight is inner x columns, bias has one number per column, output is rows x columns.
// Dispatch ceil(columns / 16) groups in x and ceil(rows / 16) in y; no size need be a multiple of 16.

struct Constants {
    rows: u32,
    inner: u32,
    columns: u32,
}

// Whether negative results become zero.
override relu: bool = false;

// The edge of a tile. Each group makes one tile of the output, each invocation one element of it.
const TILE: u32 = 16u;

var<immediate> constants: Constants;

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

var<workgroup> input_tile: array<array<f32, TILE>, TILE>;
var<workgroup> weight_tile: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn dense(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let row = group.y * TILE + local.y;
    let column = group.x * TILE + local.x;
    var sum = 0.0;

    // Invocations outside the output go round as often as the others: all must reach the barriers.
    for (var start = 0u; start < constants.inner; start += TILE) {
        // Zeros stand for what lies outside the matrices; they add nothing to the sums.
        var input_element = 0.0;
        if row < constants.rows && start + local.x < constants.inner {
            input_element = input[row * constants.inner + start + local.x];
        }
        var weight_element = 0.0;
        if start + local.y < constants.inner && column < constants.columns {
            weight_element = weight[(start + local.y) * constants.columns + column];
        }
        input_tile[local.y][local.x] = input_element;
        weight_tile[local.y][local.x] = weight_element;
        workgroupBarrier();

        for (var k = 0u; k < TILE; k++) {
            sum += input_tile[local.y][k] * weight_tile[k][local.x];
        }
        workgroupBarrier();
    }

    if row < constants.rows && column < constants.columns {
        var result = sum + bias[column];
        if relu {
            result = max(result, 0.0);
        }
        output[row * constants.columns + column] = result;
    }
}

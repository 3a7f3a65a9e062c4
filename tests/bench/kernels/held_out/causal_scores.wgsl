// Scores of causal attention: scores = Q K^T / sqrt(head_dim), and a large negative number where a key comes after the
// query. Q and K are [heads, length, head_dim]; head_dim is a multiple of TILE. A workgroup a tile of TILE x TILE scores.

const TILE: u32 = 16;
const MASKED: f32 = -1e9;

struct Params {
    length: u32,
    head_dim: u32,
}

var<immediate> params: Params;
@group(0) @binding(0) var<storage, read> queries: array<f32>;
@group(0) @binding(1) var<storage, read> keys: array<f32>;
@group(0) @binding(2) var<storage, read_write> scores: array<f32>;

var<workgroup> query_tile: array<array<f32, TILE>, TILE>;
var<workgroup> key_tile: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE, 1)
fn main(@builtin(workgroup_id) workgroup_id: vec3<u32>, @builtin(local_invocation_id) local_id: vec3<u32>) {
    let col = workgroup_id.x * TILE + local_id.x;
    let row = workgroup_id.y * TILE + local_id.y;
    let head = workgroup_id.z;
    let in_range = row < params.length && col < params.length;
    let head_base = head * params.length * params.head_dim;

    // The key that this invocation loads; the one that it multiplies with is `col`.
    let key_row = workgroup_id.x * TILE + local_id.y;
    let visible = in_range && col <= row;

    var score = MASKED;
    // A tile above the diagonal has nothing to compute.
    if (workgroup_id.x <= workgroup_id.y) {
        var sum = 0.0;
        for (var k = 0u; k < params.head_dim; k += TILE) {
            var query = 0.0;
            if (row < params.length) {
                query = queries[head_base + row * params.head_dim + k + local_id.x];
            }
            var key = 0.0;
            if (key_row < params.length) {
                key = keys[head_base + key_row * params.head_dim + k + local_id.x];
            }
            query_tile[local_id.y][local_id.x] = query;
            key_tile[local_id.y][local_id.x] = key;
            workgroupBarrier();

            if (visible) {
                for (var i = 0u; i < TILE; i++) {
                    sum += query_tile[local_id.y][i] * key_tile[local_id.x][i];
                }
            }
            workgroupBarrier();
        }
        if (visible) {
            score = sum * inverseSqrt(f32(params.head_dim));
        }
    }

    if (in_range) {
        scores[(head * params.length + row) * params.length + col] = score;
    }
}

// C = A B through tiles of 64 x 64; an invocation has 4 x 4 elements of one, side by side. Sizes are multiples of 64.

const TILE = 64u;
const DEPTH = 16u;
const SIDE = 16u;
const EACH = 4u;

struct Size { m: u32, n: u32, k: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

var<workgroup> a_tile: array<f32, TILE * DEPTH>;
var<workgroup> b_tile: array<f32, DEPTH * TILE>;

@compute @workgroup_size(SIDE, SIDE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let row = group.y * TILE;
    let column = group.x * TILE;
    var sums: array<f32, EACH * EACH>;
    for (var first = 0u; first < size.k; first += DEPTH) {
        for (var load = 0u; load < EACH; load++) {
            let at = index + load * SIDE * SIDE;
            a_tile[at] = a[(row + at / DEPTH) * size.k + first + at % DEPTH];
            b_tile[at] = b[(first + at / TILE) * size.n + column + at % TILE];
        }
        workgroupBarrier();
        for (var p = 0u; p < DEPTH; p++) {
            var left: array<f32, EACH>;
            var right: array<f32, EACH>;
            for (var i = 0u; i < EACH; i++) {
                left[i] = a_tile[(local.y * EACH + i) * DEPTH + p];
                right[i] = b_tile[p * TILE + local.x * EACH + i];
            }
            for (var i = 0u; i < EACH; i++) {
                for (var j = 0u; j < EACH; j++) {
                    sums[i * EACH + j] += left[i] * right[j];
                }
            }
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < EACH; i++) {
        for (var j = 0u; j < EACH; j++) {
            c[(row + local.y * EACH + i) * size.n + column + local.x * EACH + j] = sums[i * EACH + j];
        }
    }
}

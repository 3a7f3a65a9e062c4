// C = A B through tiles of 64 x 64, all in vectors of four; an invocation has 4 rows of one vector. Sizes are multiples of 64.

const TILE = 64u;
const DEPTH = 16u;
const SIDE = 16u;

struct Size { m: u32, n: u32, k: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4<f32>>;

var<workgroup> a_tile: array<vec4<f32>, TILE * DEPTH / 4>;
var<workgroup> b_tile: array<vec4<f32>, DEPTH * TILE / 4>;

@compute @workgroup_size(SIDE, SIDE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let row = group.y * TILE;
    let column = group.x * TILE / 4;
    var sums: array<vec4<f32>, 4>;
    for (var first = 0u; first < size.k; first += DEPTH) {
        a_tile[index] = a[((row + index / 4) * size.k + first) / 4 + index % 4];
        b_tile[index] = b[(first + local.y) * size.n / 4 + column + local.x];
        workgroupBarrier();
        for (var p = 0u; p < DEPTH / 4; p++) {
            let right_0 = b_tile[(p * 4) * SIDE + local.x];
            let right_1 = b_tile[(p * 4 + 1) * SIDE + local.x];
            let right_2 = b_tile[(p * 4 + 2) * SIDE + local.x];
            let right_3 = b_tile[(p * 4 + 3) * SIDE + local.x];
            for (var i = 0u; i < 4; i++) {
                let left = a_tile[(local.y * 4 + i) * (DEPTH / 4) + p];
                sums[i] += left.x * right_0 + left.y * right_1 + left.z * right_2 + left.w * right_3;
            }
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < 4; i++) {
        c[(row + local.y * 4 + i) * size.n / 4 + column + local.x] = sums[i];
    }
}

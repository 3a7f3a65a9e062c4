// C = A B through tiles of 16 x 16 in workgroup memory. Sizes are multiples of 16.

const TILE = 16u;

struct Size { m: u32, n: u32, k: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

var<workgroup> a_tile: array<f32, TILE * TILE>;
var<workgroup> b_tile: array<f32, TILE * TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    var sum = 0.0;
    for (var first = 0u; first < size.k; first += TILE) {
        a_tile[index] = a[id.y * size.k + first + local.x];
        b_tile[index] = b[(first + local.y) * size.n + id.x];
        workgroupBarrier();
        for (var p = 0u; p < TILE; p++) {
            sum += a_tile[local.y * TILE + p] * b_tile[p * TILE + local.x];
        }
        workgroupBarrier();
    }
    c[id.y * size.n + id.x] = sum;
}

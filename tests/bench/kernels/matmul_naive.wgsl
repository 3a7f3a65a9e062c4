// C = A B, row by row: an invocation an element.

struct Size { m: u32, n: u32, k: u32 }

var<immediate> size: Size;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= size.n || id.y >= size.m {
        return;
    }
    var sum = 0.0;
    for (var p = 0u; p < size.k; p++) {
        sum += a[id.y * size.k + p] * b[p * size.n + id.x];
    }
    c[id.y * size.n + id.x] = sum;
}

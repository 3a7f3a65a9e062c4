struct Leaf { m: mat2x3<f32>, rows: array<vec3<f32>, 2>, n: i32 }
struct Tree { leaf: Leaf, leaves: array<Leaf, 3>, more: array<u32> }
@group(0) @binding(0) var<storage, read_write> t: Tree;
@group(0) @binding(1) var<storage, read_write> counts: array<array<atomic<i32>, 3>, 20>;
@group(0) @binding(2) var<storage, read_write> o: array<vec4<f32>>;
fn read(p: ptr<function, array<array<f32, 3>, 4>>, a: u32, b: u32) -> f32 { return (*p)[a][b]; }
fn write(p: ptr<function, array<array<f32, 3>, 4>>, a: u32) { (*p)[a] = array(1.0, 2.0, 4.0); }
fn assign(p: ptr<function, vec4<f32>>) { (*p).z = 9.0; (*p)[1] = 8.0; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x % 2u;
    var v = vec4<f32>(t.leaf.m[i], f32(t.leaf.n));
    assign(&v);
    var a: array<array<f32, 3>, 4>;
    write(&a, id.x % 4u);
    let whole = t.leaves[id.x % 3u];
    v.x += whole.m[i].y + whole.rows[i].z + read(&a, id.x & 3u, id.x % 3u) + f32(arrayLength(&t.more));
    v[id.x % 4u] += t.leaves[2].rows[1][id.x % 3u] + t.leaf.m[1][2];
    atomicAdd(&counts[id.x][id.x % 3u], 5);
    o[id.x] = v;
    if id.x < arrayLength(&t.more) { t.more[id.x] += u32(whole.n); }
}

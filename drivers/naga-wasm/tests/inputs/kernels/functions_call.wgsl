@group(0) @binding(0) var<storage, read_write> o: array<f32>;
fn swap(a: ptr<function, f32>, b: ptr<function, f32>) { let t = *a; *a = *b; *b = t; }
fn both(a: ptr<function, f32>, b: ptr<function, f32>) { swap(a, b); *a += 1.0; swap(b, a); }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = o[id.x];
    var y = 2.0;
    both(&x, &y);
    swap(&y, &x);
    o[id.x] = x * 10.0 - y;
}

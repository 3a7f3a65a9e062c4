struct S { a: vec3<f32> }
struct T { a: S, b: f32 }
struct U { a: array<vec3<f32>, 2>, b: f32 }
struct V { a: mat4x3<f32>, b: f32 }
@group(0) @binding(0) var<uniform> t: T;
@group(0) @binding(1) var<uniform> u: U;
@group(0) @binding(2) var<uniform> v: V;
@group(0) @binding(3) var<storage, read_write> o: array<V>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x].a[id.x % 4u] = t.a.a + u.a[id.x % 2u] * u.b;
    o[id.x].b = t.b + v.b + v.a[3].z;
}

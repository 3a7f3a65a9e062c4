const LIMIT: bool = true;
struct Foo { v3: vec3<f32>, v1: f32 }
@group(0) @binding(0) var<storage, read_write> foo: Foo;
@group(0) @binding(1) var<storage> many: array<vec2<f32>>;
@group(0) @binding(2) var<uniform> few: array<vec4<f32>, 20>;
@group(0) @binding(3) var<uniform> third: vec3<f32>;
@group(0) @binding(4) var<uniform> turned: mat3x2<f32>;
@group(0) @binding(5) var<uniform> deep: array<array<mat2x4<f32>, 2>, 2>;
@group(0) @binding(6) var<storage, read_write> o: array<f32>;
var<workgroup> w: array<f32, 10>;
var<workgroup> at: atomic<u32>;
fn by_value(v: vec3<f32>) -> f32 { return v.x; }
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3<u32>) {
    if g.x == 0u {
        foo.v1 = 1.0;
        foo.v3 = third;
        let i = 1;
        foo.v3.x = 4.0;
        foo.v3[i] = 5.0;
    }
    w[7] = (turned * vec3(1.0, 2.0, 3.0)).x;
    w[6] = (deep[1][0] * vec2(2.0, 0.5)).w;
    w[5] = many[g.x + 1u].y;
    w[4] = few[7].w;
    w[3] = by_value(vec3(2.0));
    atomicStore(&at, 2u);
    o[g.x] = w[7] + w[6] + w[5] + w[4] + w[3] + w[2] + f32(atomicLoad(&at)) + f32(arrayLength(&many)) + f32(LIMIT);
}

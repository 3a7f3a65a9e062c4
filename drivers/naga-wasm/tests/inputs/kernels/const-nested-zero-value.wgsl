struct Deep { list: array<vec3<f32>, 2>, n: u32 }
const ZERO = Deep();
const LIST = array<Deep, 2>();
@group(0) @binding(0) var<storage, read_write> o: array<Deep>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = LIST[id.x % 2u];
    o[id.x].n += ZERO.n + 5u + vec4<u32>().y;
    o[id.x].list[1] = mat2x3<f32>()[0] + ZERO.list[id.x % 2u];
}

@group(0) @binding(0) var<storage, read_write> o: array<vec3<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = cross(vec3(0.0, 1.0, 2.0), vec3(0.0, 1.0, 2.0));
    o[id.x] = cross(o[id.x], vec3(1.0, 2.0, f32(id.x))) + a;
}

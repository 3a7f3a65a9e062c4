struct Tail { head: vec2<u32>, rest: array<vec3<f32>> }
@group(0) @binding(0) var<storage> t: Tail;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let last = arrayLength(&t.rest) - 1u;
    o[id.x] = arrayLength(&o) * 100u + last + u32(t.rest[last].y) + u32(t.rest[last + 9u].y);
}

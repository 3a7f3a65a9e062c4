struct Place { x: atomic<f32>, rest: array<atomic<f32>, 20> }
@group(0) @binding(0) var<storage, read_write> p: Place;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicAdd(&p.x, 1.0);
    o[id.x] = atomicAdd(&p.rest[id.x], 1.5) + atomicExchange(&p.rest[id.x], 3.0) + atomicLoad(&p.rest[id.x]);
    atomicStore(&p.rest[id.x], o[id.x] * 2.0);
}

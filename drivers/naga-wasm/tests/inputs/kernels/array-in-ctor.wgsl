struct Held { inner: array<f32, 2> }
@group(0) @binding(0) var<storage> held: Held;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let read = held.inner;
    let made = Held(array(read[1], o[id.x]));
    let nested = array(made.inner, read);
    o[id.x] = nested[id.x % 2u][1] + made.inner[0];
}

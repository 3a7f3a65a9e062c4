alias Two = vec2<f32>;
alias Four = array<Two, 2>;
@group(0) @binding(0) var<storage, read_write> o: array<vec2<f32>>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let four = Four(Two(o[id.x].y, 1.0), Two(2.0));
    o[id.x] = four[0] + four[id.x % 2u];
}

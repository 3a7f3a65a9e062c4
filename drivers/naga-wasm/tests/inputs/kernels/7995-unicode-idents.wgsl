@group(0) @binding(0) var<storage, read_write> θ: array<f32>;
fn größe(ε: f32) -> f32 { return ε * 2.0 + 0.5; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let λ = θ[id.x];
    θ[id.x] = größe(λ);
}

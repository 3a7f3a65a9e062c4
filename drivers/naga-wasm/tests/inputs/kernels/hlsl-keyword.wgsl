struct float4 { sample: f32, matrix_: u32 }
@group(0) @binding(0) var<storage, read_write> pass_: array<float4>;
fn technique(row_major_: f32) -> f32 { return row_major_ + 1.0; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let texture2D = technique(pass_[id.x].sample);
    var cbuffer_ = pass_[id.x].matrix_;
    cbuffer_ += 2u;
    pass_[id.x] = float4(texture2D, cbuffer_);
}

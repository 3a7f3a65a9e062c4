alias FVec3 = vec3<f32>;
alias IVec3 = vec3<i32>;
alias Mat2 = mat2x2<f32>;
alias I = i32;
alias F = f32;
@group(0) @binding(0) var<storage, read_write> o: array<FVec3>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = FVec3(0.0, 1.0, F(id.x));
    let b = IVec3(I(3), 0, I(o[id.x].x));
    let m = Mat2(1.0, a.y, 3.0, 4.0);
    o[id.x] = a + FVec3(b) + FVec3(m * a.yz, F(b.z));
}

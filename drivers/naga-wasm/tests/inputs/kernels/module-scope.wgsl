struct S { x: i32 }
const Value = 1;
@group(0) @binding(0) var<storage, read_write> o: array<i32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    statement();
    o[id.x] = returns(i32(id.x)).x;
}
fn statement() {}
fn returns(n: i32) -> S { return S(n + later); }
const later: i32 = Value + 40;

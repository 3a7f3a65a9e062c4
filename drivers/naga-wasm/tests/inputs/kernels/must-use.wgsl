@group(0) @binding(0) var<storage, read_write> o: array<i32>;
@must_use fn kept(x: i32) -> i32 { return x + 3; }
fn dropped(x: i32) -> i32 { return x * 3; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = kept(i32(id.x));
    dropped(x);
    _ = kept(x);
    o[id.x] = x;
}

@group(0) @binding(0) var<storage, read_write> o: array<i32>;
fn scoped(a: bool, n: i32) -> i32 {
    let t = n;
    if a { let t = 2; { let t = t * 10; if t > n { return t; } } return t + n; }
    var sum = t;
    for (var a = 0; a < 3; a++) { let t = a; var sum_ = t; sum += sum_; }
    switch n { case 0: { var a = 3; a++; sum += a; } default: { let a = 5; sum += a; } }
    return sum;
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = scoped(id.x % 2u == 0u, i32(id.x) * 3);
}

@group(0) @binding(0) var<storage, read_write> o: array<i32>;
fn early(n: i32) -> i32 {
    switch n % 7 {
        case 0: { return 1; }
        case 1, 2: { if n > 8 { break; } return 2; }
        case 3, default: { return 3; }
        case 4: {}
        case 5: { loop { if n > 2 { break; } return 4; } }
    }
    return 5;
}
fn only_default(n: i32) -> i32 { switch n { default: { return n * 2; } } }
fn in_loop(n: i32) -> i32 {
    var k = 0;
    loop {
        switch k % 4 { case 1: { k += 2; continue; } case 3: { break; } default: { k++; } }
        if k > n { break; }
        k++;
    }
    while true { if k > 20 { break; } k += 5; }
    return k;
}
fn nested(n: i32, m: i32) -> i32 {
    var r = 0;
    for (var i = 0; i < 3; i++) {
        switch n { case 1: { continue; } case 2: { switch m { case 1: { continue; } default: {} } } default: {} }
        r += 1 + i;
    }
    return r;
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = i32(id.x);
    storageBarrier();
    workgroupBarrier();
    { { o[id.x] = early(n); } }
    if n > 12 { o[id.x] += 100; } else if n > 4 { o[id.x] += 200; } else { }
    o[id.x] = o[id.x] * 1000 + only_default(n) + 10 * in_loop(n) + nested(n % 3, n % 2);
}

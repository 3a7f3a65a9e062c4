@group(0) @binding(0) var<storage, read_write> o: array<i32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var k = i32(id.x);
    loop {
        k -= 2;
        let low = k < 0;
        o[id.x] += 1;
        continuing { break if low; }
    }
}

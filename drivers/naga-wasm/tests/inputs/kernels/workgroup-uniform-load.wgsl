const SIZE = 8u;
var<workgroup> list: array<i32, SIZE>;
@group(0) @binding(0) var<storage, read_write> o: array<i32>;
@compute @workgroup_size(SIZE) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    list[l] = i32(id.x) * 3;
    let x = &list[(g.x + 3u) % SIZE];
    let v = workgroupUniformLoad(x);
    if v > 10 { workgroupBarrier(); o[id.x] = list[7u - l]; }
    o[id.x] += v * 100;
}

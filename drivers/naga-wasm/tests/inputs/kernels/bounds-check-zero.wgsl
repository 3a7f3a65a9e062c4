struct Row { v: vec4<f32>, list: array<f32, 5> }
@group(0) @binding(0) var<storage> rows: array<Row>;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
var<workgroup> near: array<f32, 4>;
var<private> own: array<f32, 3>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    near[l] = rows[l + 100u].v[l];
    own[l] = rows[l].list[l + 3u];
    workgroupBarrier();
    o[id.x] = near[l * 7u] + own[l + 2u] + rows[id.x - 100u].list[id.x];
}

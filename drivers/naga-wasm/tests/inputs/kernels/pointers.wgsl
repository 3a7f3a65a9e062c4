struct Bar { rows: array<vec2<i32>> }
@group(0) @binding(0) var<storage, read_write> bar: Bar;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var v: vec2<i32>;
    let px = &v;
    (*px).x = i32(id.x);
    let row = &bar.rows[id.x];
    (*row).y += v.x;
    let all = &bar.rows;
    (*all)[id.x][v.x % 2] *= 3;
    let count = arrayLength(&bar.rows);
    *row += vec2(i32(count), (*px).x * 2);
}

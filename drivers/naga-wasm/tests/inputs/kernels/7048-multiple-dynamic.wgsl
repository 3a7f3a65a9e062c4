struct Row { cells: array<array<vec3<f32>, 3>, 2> }
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@group(0) @binding(1) var<uniform> r: Row;
fn cell(m: array<array<f32, 2>, 3>, a: u32, b: u32) -> f32 { return m[a][b]; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var local = r;
    let x = id.x % 2u;
    let y = id.x % 3u;
    local.cells[x][y][y] += 1.5;
    let copy = local.cells;
    let m = array(array(1.0, 2.0), array(3.0, 4.0), array(5.0, 6.0));
    o[id.x] = copy[x][y][y] + copy[1u - x][y].z * m[y][x] + cell(m, y, 1u - x);
}

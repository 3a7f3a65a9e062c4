@group(0) @binding(0) var<storage, read_write> n: i32;
@group(0) @binding(1) var<storage, read_write> o: array<i32>;
fn five() -> i32 { n += 1; return 5; }
@compute @workgroup_size(1) fn main() {
    _ = o[0];
    _ = five();
    let a = five();
    _ = a;
    _ = n;
}

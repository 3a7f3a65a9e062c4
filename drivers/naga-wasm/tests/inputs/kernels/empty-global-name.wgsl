struct Wrapped { inner: i32 }
@group(0) @binding(0) var<storage, read_write> b: Wrapped;
@compute @workgroup_size(1) fn main() {
    b.inner = b.inner + 1;
}

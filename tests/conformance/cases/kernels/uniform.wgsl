// A uniform and an override.
override factor: u32;
struct Numbers { a: vec4<u32> }
@group(0) @binding(0) var<uniform> numbers: Numbers;
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(4)
fn multiply(@builtin(local_invocation_index) index: u32) {
    output[index] = numbers.a[index] * factor;
}

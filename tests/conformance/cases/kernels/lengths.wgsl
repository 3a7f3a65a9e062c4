// How long a binding is, and reads and writes past its end, which stay inside of it.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(1)
fn look() {
    output[0] = arrayLength(&data);
    output[1] = data[arrayLength(&data) + output[2]];
    data[arrayLength(&data) + output[2]] = 0xdeadbeefu;
}

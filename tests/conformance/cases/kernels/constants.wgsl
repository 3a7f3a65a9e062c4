// Four constants, in order.
struct Constants { a: u32, b: u32, c: u32, d: u32 }
var<immediate> constants: Constants;
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(1)
fn write_constants() {
    output[0] = constants.a;
    output[1] = constants.b;
    output[2] = constants.c;
    output[3] = constants.d;
}

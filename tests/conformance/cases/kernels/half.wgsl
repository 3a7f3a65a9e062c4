// Arithmetic in f16, on two numbers in each word. All results are exact: a device may round either way.
enable f16;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn half(@builtin(local_invocation_index) at: u32) {
    let pair = vec2<f16>(unpack2x16float(data[at]));
    data[at] = pack2x16float(vec2<f32>(pair * 3h + 0.25h));
}

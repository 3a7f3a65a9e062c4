// Direct 3x3 convolution of an image in CHW with weights in OIHW, stride 1, zero padding of 1, then bias and ReLU.
// An invocation an output pixel; z is the output channel.

struct Params {
    in_channels: u32,
    out_channels: u32,
    height: u32,
    width: u32,
}

var<immediate> params: Params;
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(8, 8, 1)
fn main(@builtin(global_invocation_id) global_id: vec3<u32>) {
    let x = global_id.x;
    let y = global_id.y;
    let oc = global_id.z;
    if (x >= params.width || y >= params.height || oc >= params.out_channels) {
        return;
    }

    let width = i32(params.width);
    let height = i32(params.height);
    var sum = bias[oc];
    for (var ic = 0u; ic < params.in_channels; ic++) {
        let kernel_base = (oc * params.in_channels + ic) * 9u;
        for (var ky = 0; ky < 3; ky++) {
            let iy = i32(y) + ky - 1;
            if (iy < 0 || iy >= height) {
                continue;
            }
            for (var kx = 0; kx < 3; kx++) {
                let ix = i32(x) + kx - 1;
                if (ix < 0 || ix >= width) {
                    continue;
                }
                let pixel = input[(ic * params.height + u32(iy)) * params.width + u32(ix)];
                sum += pixel * weights[kernel_base + u32(ky * 3 + kx)];
            }
        }
    }
    output[(oc * params.height + y) * params.width + x] = max(sum, 0.0);
}

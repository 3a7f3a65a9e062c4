// Rotary position embedding of [tokens, heads, head_dim]: element i of a head is rotated together with element
// i + head_dim / 2. An invocation a pair; x runs over the pairs of all heads of a token, y over tokens.

const BASE: f32 = 10000.0;

struct Params {
    tokens: u32,
    heads: u32,
    head_dim: u32,
    // Position of the first token: how many are in the cache already.
    first_position: u32,
}

var<immediate> params: Params;
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global_id: vec3<u32>) {
    let half_dim = params.head_dim / 2u;
    let token = global_id.y;
    if (token >= params.tokens || global_id.x >= params.heads * half_dim) {
        return;
    }
    let head = global_id.x / half_dim;
    let i = global_id.x % half_dim;

    let frequency = pow(BASE, -2.0 * f32(i) / f32(params.head_dim));
    let angle = f32(params.first_position + token) * frequency;
    let c = cos(angle);
    let s = sin(angle);

    let first = (token * params.heads + head) * params.head_dim + i;
    let second = first + half_dim;
    let x0 = input[first];
    let x1 = input[second];
    output[first] = x0 * c - x1 * s;
    output[second] = x0 * s + x1 * c;
}

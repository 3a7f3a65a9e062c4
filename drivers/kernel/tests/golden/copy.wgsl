struct HalLaunch {
    base: vec3<u32>,
    chunk: i32,
    groups: vec3<u32>,
    chunks_per_invocation: u32,
    chunks: u32,
}

@group(0) @binding(0)
var<storage> input: array<u32>;
@group(0) @binding(1)
var<storage, read_write> output: array<u32>;
@group(1) @binding(0)
var<uniform> hal_launch: HalLaunch;

@compute @workgroup_size(64, 1, 1)
fn copy(@builtin(global_invocation_id) id: vec3<u32>) {
    let _e3 = hal_launch.base;
    let id_1 = (id + (_e3 * vec3<u32>(64u, 1u, 1u)));
    let _e17 = input[id_1.x];
    output[id_1.x] = _e17;
    return;
}

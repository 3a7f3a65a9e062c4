// y = a * x + y, for the first `count` elements.

struct Params {
    a: f32,
    count: u32,
}

var<immediate> params: Params;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    // A stride, so that more elements than one dimension of workgroups covers are no special case.
    let stride = groups.x * 64u;
    for (var i = id.x; i < params.count; i += stride) {
        y[i] = params.a * x[i] + y[i];
    }
}

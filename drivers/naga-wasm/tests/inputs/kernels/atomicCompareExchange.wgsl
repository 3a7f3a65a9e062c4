@group(0) @binding(0) var<storage, read_write> a: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> b: array<atomic<i32>>;
@group(0) @binding(2) var<storage, read_write> shared_sum: atomic<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var old = atomicLoad(&a[id.x]);
    var done = false;
    while !done {
        let new_ = bitcast<u32>(bitcast<f32>(old) + 1.0);
        let result = atomicCompareExchangeWeak(&a[id.x], old, new_);
        old = result.old_value;
        done = result.exchanged;
    }
    let never = atomicCompareExchangeWeak(&b[id.x], -12345, 6);
    atomicStore(&b[id.x], never.old_value + select(0, 100, never.exchanged));
    loop {
        let seen = atomicLoad(&shared_sum);
        if atomicCompareExchangeWeak(&shared_sum, seen, seen + id.x).exchanged { break; }
    }
}

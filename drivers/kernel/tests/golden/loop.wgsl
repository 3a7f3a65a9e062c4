struct HalLaunch {
    base: vec3<u32>,
    chunk: u32,
    groups: vec3<u32>,
    chunks_per_invocation: u32,
    chunks: u32,
}

struct HalStatus {
    spent: atomic<u32>,
    error: atomic<u32>,
}

@group(0) @binding(0)
var<storage, read_write> o: array<u32>;
@group(1) @binding(0)
var<uniform> hal_launch: HalLaunch;
@group(1) @binding(1)
var<storage, read_write> hal_status: HalStatus;
var<private> hal_left: u32;
var<private> hal_used: u32;

fn hal_refill() -> bool {
    var spent: u32;

    let _e1 = hal_used;
    if (_e1 == 4294967295u) {
        return true;
    }
    let _e7 = hal_launch.chunks_per_invocation;
    if (_e1 >= _e7) {
        atomicOr((&hal_status.error), 1u);
        hal_left = 0u;
        hal_used = 4294967295u;
        return true;
    }
    if (_e1 == 0u) {
        let _e21 = atomicLoad((&hal_status.spent));
        spent = _e21;
    } else {
        let _e25 = atomicAdd((&hal_status.spent), 1u);
        spent = _e25;
    }
    let _e28 = hal_launch.chunks;
    let _e29 = spent;
    if (_e29 >= _e28) {
        atomicOr((&hal_status.error), 2u);
        hal_left = 0u;
        hal_used = 4294967295u;
        return true;
    }
    hal_used = (_e1 + 1u);
    let _e42 = hal_launch.chunk;
    hal_left = max(_e42, 1u);
    return false;
}

@compute @workgroup_size(1, 1, 1)
fn main() {
    loop {
        let _e7 = hal_left;
        if (_e7 < 1u) {
            let _e9 = hal_refill();
            if _e9 {
                break;
            }
        }
        let _e10 = hal_left;
        hal_left = (_e10 - 1u);
        let _e2 = o[0];
        o[0] = (_e2 + 1u);
    }
    return;
}

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
var<private> hal_group_left: u32;
var<private> hal_group_used: u32;
var<workgroup> hal_stop: atomic<u32>;

fn hal_group_refill() -> bool {
    var spent: u32;

    let _e1 = hal_group_used;
    if (_e1 == 4294967295u) {
        return true;
    }
    let _e7 = hal_launch.chunks_per_invocation;
    if (_e1 >= _e7) {
        atomicOr((&hal_status.error), 1u);
        hal_group_left = 0u;
        hal_group_used = 4294967295u;
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
        atomicOr((&hal_stop), 1u);
    }
    workgroupBarrier();
    let _e36 = atomicLoad((&hal_stop));
    workgroupBarrier();
    if (_e36 != 0u) {
        hal_group_left = 0u;
        hal_group_used = 4294967295u;
        return true;
    }
    hal_group_used = (_e1 + 1u);
    let _e47 = hal_launch.chunk;
    hal_group_left = max(_e47, 32768u);
    return false;
}

@compute @workgroup_size(8, 1, 1)
fn main() {
    loop {
        let _e7 = hal_group_left;
        if (_e7 < 6u) {
            let _e9 = hal_group_refill();
            if _e9 {
                break;
            }
        }
        let _e10 = hal_group_left;
        hal_group_left = (_e10 - 6u);
        let _e2 = o[0];
        o[0] = (_e2 + 1u);
        workgroupBarrier();
    }
    return;
}

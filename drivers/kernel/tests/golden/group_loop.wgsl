struct HalLaunch {
    base: vec3<u32>,
    chunk: i32,
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
var<private> hal_group_left: i32;
var<private> hal_group_used: u32;
var<workgroup> hal_stop: atomic<u32>;
@group(1) @binding(0)
var<uniform> hal_launch: HalLaunch;
@group(1) @binding(1)
var<storage, read_write> hal_status: HalStatus;

fn hal_group_refill() -> bool {
    var over: bool = true;

    let _e3 = hal_group_used;
    let _e6 = hal_launch.chunks_per_invocation;
    if (_e3 < _e6) {
        let _e11 = atomicAdd((&hal_status.spent), 1u);
        let _e14 = hal_launch.chunks;
        if (_e11 >= _e14) {
            atomicOr((&hal_stop), 1u);
        }
        workgroupBarrier();
        let _e18 = atomicLoad((&hal_stop));
        workgroupBarrier();
        let _e20 = (_e18 != 0u);
        let _e23 = hal_group_left;
        let _e26 = hal_launch.chunk;
        hal_group_left = select((_e23 + _e26), 0i, _e20);
        hal_group_used = select((_e3 + 1u), 4294967294u, _e20);
        over = _e20;
    } else {
        hal_group_used = max(_e3, 4294967293u);
    }
    let _e36 = over;
    return _e36;
}

fn hal_end() {
    let _e1 = hal_group_used;
    if (_e1 >= 4294967292u) {
        atomicOr((&hal_status.error), (_e1 & 3u));
    }
    return;
}

@compute @workgroup_size(8, 1, 1)
fn main() {
    let _e22 = hal_launch.chunk;
    hal_group_left = _e22;
    hal_group_used = 1u;
    loop {
        loop {
            let _e6 = hal_group_left;
            let _e8 = (_e6 - 1i);
            hal_group_left = _e8;
            if (_e8 < 0i) {
                break;
            }
            let _e2 = o[0];
            o[0] = (_e2 + 1u);
            workgroupBarrier();
        }
        let _e12 = hal_group_left;
        if (_e12 >= 0i) {
            break;
        }
        hal_group_left = (_e12 + 1i);
        let _e17 = hal_group_refill();
        if _e17 {
            break;
        }
    }
    hal_end();
    return;
}

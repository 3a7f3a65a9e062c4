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
var<private> hal_left: i32;
var<private> hal_used: u32;
@group(1) @binding(0)
var<uniform> hal_launch: HalLaunch;
@group(1) @binding(1)
var<storage, read_write> hal_status: HalStatus;

fn hal_refill() -> bool {
    var over: bool = true;

    let _e3 = hal_used;
    let _e6 = hal_launch.chunks_per_invocation;
    if (_e3 < _e6) {
        let _e11 = atomicAdd((&hal_status.spent), 1u);
        let _e14 = hal_launch.chunks;
        let _e15 = (_e11 >= _e14);
        let _e18 = hal_left;
        let _e21 = hal_launch.chunk;
        hal_left = select((_e18 + _e21), 0i, _e15);
        hal_used = select((_e3 + 1u), 4294967294u, _e15);
        over = _e15;
    } else {
        hal_used = max(_e3, 4294967293u);
    }
    let _e31 = over;
    return _e31;
}

fn hal_end() {
    var seen: u32;

    let _e1 = hal_used;
    if (_e1 >= 4294967292u) {
        atomicOr((&hal_status.error), (_e1 & 3u));
    }
    let _e13 = hal_launch.chunk;
    let _e17 = ((bitcast<u32>(_e13) & 1u) + 2u);
    seen = 0u;
    loop {
        let _e18 = seen;
        if (_e18 >= _e17) {
            break;
        }
        seen = (_e18 + 1u);
    }
    let _e21 = seen;
    if (_e21 < _e17) {
        atomicOr((&hal_status.error), 1u);
    }
    return;
}

@compute @workgroup_size(1, 1, 1)
fn main(@builtin(local_invocation_index) hal_index: u32) {
    let _e20 = (hal_index >= 1u);
    let _e25 = hal_launch.chunk;
    hal_left = select(_e25, 0i, _e20);
    hal_used = select(1u, 4294967292u, _e20);
    loop {
        loop {
            let _e6 = hal_left;
            let _e8 = (_e6 - 1i);
            hal_left = _e8;
            if (_e8 < 0i) {
                break;
            }
            let _e2 = o[0];
            o[0] = (_e2 + 1u);
        }
        let _e12 = hal_left;
        if (_e12 >= 0i) {
            break;
        }
        hal_left = (_e12 + 1i);
        let _e17 = hal_refill();
        if _e17 {
            break;
        }
    }
    hal_end();
    return;
}

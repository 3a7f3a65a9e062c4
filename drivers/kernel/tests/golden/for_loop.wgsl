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
    let _e1 = hal_used;
    if (_e1 >= 4294967292u) {
        atomicOr((&hal_status.error), (_e1 & 3u));
    }
    return;
}

@compute @workgroup_size(1, 1, 1)
fn main() {
    var i: u32 = 0u;
    var j: u32;
    var hal_returned: bool;

    let _e59 = hal_launch.chunk;
    hal_left = _e59;
    hal_used = 1u;
    let _e2 = o[0];
    if (_e2 == 0u) {
        return;
    }
    loop {
        loop {
            let _e7 = i;
            let _e10 = o[0];
            let _e42 = hal_left;
            let _e44 = (_e42 - 18i);
            hal_left = _e44;
            if ((_e7 < _e10) & (_e44 >= 0i)) {
            } else {
                break;
            }
            {
                j = 0u;
                loop {
                    let _e14 = j;
                    if (_e14 < 16u) {
                    } else {
                        break;
                    }
                    {
                        let _e18 = j;
                        let _e20 = o[_e18];
                        let _e21 = i;
                        o[_e18] = (_e20 + _e21);
                    }
                    continuing {
                        let _e24 = j;
                        j = (_e24 + 1u);
                    }
                }
                let _e28 = o[1];
                switch _e28 {
                    case 7u: {
                        hal_returned = true;
                        break;
                    }
                    default: {
                    }
                }
                let _e38 = hal_returned;
                if _e38 {
                    break;
                }
            }
            continuing {
                let _e30 = i;
                i = (_e30 + 1u);
            }
        }
        let _e49 = hal_left;
        if (_e49 >= 0i) {
            break;
        }
        hal_left = (_e49 + 18i);
        let _e54 = hal_refill();
        if _e54 {
            break;
        }
    }
    let _e40 = hal_returned;
    if _e40 {
        hal_end();
        return;
    }
    o[2] = 3u;
    hal_end();
    return;
}

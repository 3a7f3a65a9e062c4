//! Kernels of every shape.

/// Kernels, each with one function, that between them have every construct.
pub const CORPUS: &[(&str, &str)] = &[
    (
        "plain arguments",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(4, 2) fn main(@builtin(workgroup_id) group: vec3<u32>,
             @builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
             o[id.x] = group.x + groups.y;
         }",
    ),
    (
        "a structure of arguments",
        "struct In { @builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>,
             @builtin(global_invocation_id) id: vec3<u32> }
         @group(0) @binding(0) var<storage, read_write> o: array<u32>;
         fn twice(in: In) -> u32 { return in.id.y * 2u; }
         @compute @workgroup_size(8) fn main(in: In, @builtin(num_workgroups) groups: vec3<u32>) {
             o[in.id.x] = in.index + in.group.z + groups.x + twice(in);
         }",
    ),
    (
        "all built-in values",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(4) fn main(@builtin(workgroup_id) a: vec3<u32>,
             @builtin(global_invocation_id) b: vec3<u32>, @builtin(num_workgroups) c: vec3<u32>,
             @builtin(local_invocation_id) d: vec3<u32>, @builtin(local_invocation_index) e: u32,
             @builtin(num_subgroups) f: u32, @builtin(subgroup_id) g: u32, @builtin(subgroup_size) h: u32,
             @builtin(subgroup_invocation_id) i: u32) {
             let sum = a + b + c + d;
             o[sum.x + sum.y] = e + f + g + h + i;
         }",
    ),
    ("nothing at all", "@compute @workgroup_size(1) fn main() {}"),
    (
        "loops inside each other",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             var sum = 0u;
             for (var i = 0u; i < id.x; i++) {
                 for (var j = 0u; j < i; j++) { while sum % 7u != j { sum += 3u; if sum > 100u { break; } } }
                 if i == 3u { continue; }
                 sum += i;
             }
             o[id.x] = sum;
         }",
    ),
    (
        "loops in called functions",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         fn inner(n: u32) -> u32 { var s = 0u; for (var i = 0u; i < n; i++) { s += i; } return s; }
         fn outer(n: u32) -> u32 { var s = 0u; loop { s += inner(n) + 1u; if s > n { return s; } } return 0u; }
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             o[id.x] = outer(id.x) + inner(3u);
         }",
    ),
    (
        "a continuing block and break if",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(4) fn main() {
             var i = 0u;
             loop {
                 let before = i;
                 if o[i] == 9u { continue; }
                 o[before] = i;
                 continuing { i += 1u; let done = i + before >= 40u; break if done; }
             }
         }",
    ),
    (
        "a switch in a loop",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(4) fn main() {
             for (var i = 0; i < 30; i++) {
                 switch i % 4 {
                     case 0 { continue; }
                     case 1, 2: { o[i] = 1u; break; }
                     default { for (var j = 0; j < 3; j++) { if j == 2 { break; } o[j] += 1u; } }
                 }
             }
         }",
    ),
    (
        "barriers in loops",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         var<workgroup> tile: array<u32, 64>;
         fn sync() { workgroupBarrier(); }
         @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
             tile[i] = o[i] % 8u;
             for (var s = 32u; s > 0u; s /= 2u) {
                 sync();
                 if i < s { for (var k = 0u; k < 2u; k++) { tile[i] += tile[i + s] / 2u; } }
             }
             var n = 0u;
             loop { if workgroupUniformLoad(&tile[0]) < n { break; } n += 5u; storageBarrier(); }
             o[i] = tile[0];
         }",
    ),
    (
        "a barrier under a condition that is the same for the group",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(4) fn main(@builtin(workgroup_id) group: vec3<u32>,
             @builtin(num_workgroups) groups: vec3<u32>) {
             if group.x == 0u { workgroupBarrier(); }
             if groups.x == 1u { return; }
             workgroupBarrier();
             o[0] = 1u;
         }",
    ),
    (
        "pointers to functions' and private variables",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         var<private> p: vec3<u32> = vec3(1u, 2u, 3u);
         fn bump(v: ptr<function, array<u32, 4>>, w: ptr<private, vec3<u32>>, i: u32) { (*v)[i] += (*w).y; (*w).x = i; }
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             var all = array<u32, 4>(1u, 2u, 3u, 4u);
             bump(&all, &p, id.x % 4u);
             o[id.x] = all[id.y] + p[id.z];
         }",
    ),
    (
        "atomics",
        "struct Head { count: atomic<u32>, low: atomic<i32>, rest: array<u32> }
         @group(0) @binding(0) var<storage, read_write> head: Head;
         @group(0) @binding(1) var<storage, read_write> only_loaded: atomic<u32>;
         var<workgroup> seen: atomic<u32>;
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             let at = atomicAdd(&head.count, 1u);
             atomicMin(&head.low, -i32(id.x));
             loop {
                 let swapped = atomicCompareExchangeWeak(&seen, at, at + 1u);
                 if swapped.exchanged { break; }
                 atomicAdd(&seen, 1u);
                 if swapped.old_value > 5u { break; }
             }
             head.rest[at] = atomicExchange(&seen, 3u) + atomicLoad(&only_loaded);
             atomicStore(&seen, 1u);
         }",
    ),
    (
        "subgroup operations",
        "@group(0) @binding(0) var<storage, read_write> o: array<vec4<u32>>;
         @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>,
             @builtin(subgroup_invocation_id) lane: u32) {
             var sum = 0u;
             for (var i = 0u; i < 4u; i++) {
                 sum += subgroupAdd(id.x) + subgroupExclusiveAdd(lane) + subgroupShuffle(id.x, i);
                 sum += subgroupBroadcast(id.y, 2u) + subgroupBroadcastFirst(sum) + subgroupShuffleXor(sum, 1u);
                 sum += quadSwapX(sum) + quadBroadcast(sum, 1u);
                 if subgroupAny(sum == 3u) { subgroupBarrier(); }
             }
             o[id.x] = subgroupBallot(sum > 2u) + subgroupBallot();
         }",
    ),
    (
        "constants, uniforms and a read-only buffer",
        "struct C { n: u32, scale: f32 }
         var<immediate> c: C;
         @group(0) @binding(3) var<uniform> u: array<vec4<f32>, 4>;
         @group(0) @binding(5) var<storage, read_write> only_read: array<f32>;
         @group(0) @binding(2) var<storage, read_write> o: array<f32>;
         @group(0) @binding(9) var<storage, read_write> unused: array<f32>;
         fn not_called() { unused[0] = 1.0; }
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             for (var i = 0u; i < c.n; i++) {
                 o[id.x] += dot(u[i % 4u], vec4(only_read[i], c.scale, f32(arrayLength(&only_read)), 1.0));
             }
         }",
    ),
    (
        "expressions of every kind",
        "struct P { m: mat3x3<f32>, v: array<vec2<f32>, 3>, i: vec4<i32> }
         @group(0) @binding(0) var<storage, read_write> o: array<P>;
         const LIMIT = 3;
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             var p = P();
             let q = o[id.x];
             p.m = q.m * transpose(q.m);
             p.v[id.y % 3u] = vec2(q.m[1].zx).yx * -q.v[2];
             p.i = select(q.i, ~q.i, q.i < vec4(LIMIT)) | bitcast<vec4<i32>>(vec4<f32>(f32(id.x)));
             if all(q.i == p.i) || any(!(q.i > p.i)) { p.i.w = clamp(p.i.x, -1, 1) + insertBits(p.i.y, 3, 1u, 2u); }
             let f = frexp(q.v[0].x);
             let m = modf(q.v[0].yy);
             p.v[0].x = f.fract + m.whole.x + ldexp(1.0, f.exp) + unpack2x16float(pack2x16float(q.v[1])).x;
             o[id.x] = p;
         }",
    ),
    (
        "names that are the driver's",
        "@group(0) @binding(0) var<storage, read_write> hal_status: array<u32>;
         var<private> hal_left: u32 = 5u;
         struct HalLaunch { hal_launch: u32 }
         fn hal_refill(hal_used: u32) -> bool { return hal_left > hal_used + 4u; }
         @compute @workgroup_size(4) fn hal_launch(@builtin(workgroup_id) hal_stop: vec3<u32>) {
             var launch = HalLaunch(3u);
             loop { hal_left += 1u; if hal_refill(launch.hal_launch) { break; } hal_status[hal_stop.x] += 1u; }
         }",
    ),
];

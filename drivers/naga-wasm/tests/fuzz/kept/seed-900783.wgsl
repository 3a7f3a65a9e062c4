// size 2 1 1 groups 1 1 1 seed 900783
enable f16;
const SIZE = 2u; const TOTAL = 2u;
struct Item { n: i32, v: vec3<f32>, list: array<u32, 3>, m: mat2x3<f32>, p: vec2<u32> }
struct Mixed { n: f16, v: vec3<f16>, m: mat2x3<f16>, p: vec2<u64> }
struct Uniform { a: vec4<u32>, list: array<vec4<u32>, 3> }
// Any, any, one and zero; the compiler cannot know.
var<immediate> known: vec4<u32>;
@group(0) @binding(0) var<storage> in_u: array<u32>;
@group(0) @binding(1) var<storage> in_f: array<f32>;
@group(0) @binding(2) var<storage> in_v: array<Item>;
@group(0) @binding(3) var<uniform> shared_in: Uniform;
@group(0) @binding(14) var<storage> in_4: array<vec4<f32>>;
@group(0) @binding(15) var<storage> in_h: array<Mixed>;
@group(0) @binding(16) var<storage> in_w: array<i64>;
// What each invocation leaves: elements of its own.
@group(0) @binding(4) var<storage, read_write> rows: array<array<u32, 6>>;
@group(0) @binding(5) var<storage, read_write> items: array<Item>;
@group(0) @binding(6) var<storage, read_write> vectors: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> columns: array<u32>;
@group(0) @binding(8) var<storage, read_write> floats: array<f32>;
@group(0) @binding(9) var<storage, read_write> early: array<u32>;
@group(0) @binding(10) var<storage, read_write> passed: array<u32>;
@group(0) @binding(11) var<storage, read_write> atomic_u: array<atomic<u32>, 24>;
@group(0) @binding(12) var<storage, read_write> atomic_i: array<atomic<i32>, 24>;
@group(0) @binding(13) var<storage, read_write> atomic_own: array<atomic<u32>>;
@group(0) @binding(17) var<storage, read_write> halves: array<f16>;
@group(0) @binding(18) var<storage, read_write> wides: array<u64>;
@group(0) @binding(19) var<storage, read_write> mixed: array<Mixed>;
@group(0) @binding(20) var<storage, read_write> atomic_f: array<atomic<f32>, 12>;
@group(0) @binding(21) var<storage, read_write> atomic_own_f: array<atomic<f32>>;
const table = array<u32, 5>(3u, 0x80000001u, 0u, 77u, 0xffffffffu);
var<workgroup> combined: atomic<i32>;
var<workgroup> said: u32;
// The bits of a number; all that are no number count the same.
fn bits(x: f32) -> u32 { return select(bitcast<u32>(x), 7u, x != x); }
fn words(x: u64) -> u32 { return u32(x) ^ u32(x >> 32u); }
fn left(last: u32, value: u32) -> u32 { return ((last << 5u) | (last >> 27u)) ^ value; }
var<workgroup> shared_words: array<f16, SIZE>;
var<workgroup> told: f16;
var<private> mine: vec4<u32>;
@compute @workgroup_size(2, 1, 1)
fn main(@builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) gang: u32,
        @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
        @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>, @builtin(subgroup_size) lanes: u32,
        @builtin(num_subgroups) gangs: u32) {
let number = group.x + groups.x * (group.y + groups.y * group.z);
var last = 0u;
let place = id.x;
mine = shared_in.list[u32() * l];
switch vec3<i32>(((28i) + i32(known.w)))[mine.w % 3u] {
case default: {
}
case 0i, 1i: {
}
}
early[place] = last;
}

// size 2 1 1 groups 1 1 1 seed 1
const SIZE = 2u; const TOTAL = 2u;
struct Item { n: i32, v: vec3<f32>, list: array<u32, 3>, m: mat2x3<f32>, p: vec2<u32> }
struct Uniform { a: vec4<u32>, list: array<vec4<u32>, 3> }
// Any, any, one and zero; the compiler cannot know.
var<immediate> known: vec4<u32>;
@group(0) @binding(0) var<storage> in_u: array<u32>;
@group(0) @binding(1) var<storage> in_f: array<f32>;
@group(0) @binding(2) var<storage> in_v: array<Item>;
@group(0) @binding(3) var<uniform> shared_in: Uniform;
@group(0) @binding(14) var<storage> in_4: array<vec4<f32>>;
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
const table = array<u32, 5>(3u, 0x80000001u, 0u, 77u, 0xffffffffu);
var<workgroup> combined: atomic<i32>;
var<workgroup> said: u32;
// The bits of a number; all that are no number count the same.
fn bits(x: f32) -> u32 { return select(bitcast<u32>(x), 7u, x != x); }
fn left(last: u32, value: u32) -> u32 { return ((last << 5u) | (last >> 27u)) ^ value; }
var<workgroup> shared_words: array<i32, SIZE>;
var<private> mine: bool;
@compute @workgroup_size(2, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
        @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
let number = group.x + groups.x * (group.y + groups.y * group.z);
var last = 0u;
let place = id.x;
var v3: vec4<i32> = vec4<i32>();
for (var u101 = 0u; u101 < (38u + known.w) % 4u; u101++) {
workgroupBarrier(); if l == SIZE - 1u { atomicStore(&combined, v3[shared_in.list[1].y]); } workgroupBarrier();
workgroupBarrier(); v3[items[place].p.x] = atomicLoad(&combined);
}
early[place] = last;
}

const SIX = 6u;
const PAIR = vec2<i32>(2 - 1, 2);
const FOUR = vec4(PAIR.y, PAIR.x, PAIR);
const TABLE = array<u32, SIX / 2u>(SIX, SIX + 1u, SIX * 2u);
const TRUTH = SIX > 5u && PAIR.x != 2;
const BITS = countOneBits(0x7fu) + u32(sqrt(16.0));
@group(0) @binding(0) var<storage, read_write> o: array<i32>;
fn swizzled() -> vec4<i32> { return FOUR.wzyx; }
fn folded(x: i32) -> i32 { switch x { case PAIR.x: { return 10; } case i32(SIX): { return 20; } default: { return 30; } } }
@compute @workgroup_size(SIX) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var first = TRUTH;
    if first { o[id.x] = swizzled()[id.x % 4u] + i32(TABLE[id.x % 3u]) + folded(i32(id.x)) + i32(BITS); }
}

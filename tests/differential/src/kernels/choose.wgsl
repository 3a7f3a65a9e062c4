// A uniform, structures, a private array and a switch.
struct Item { key: u32, value: u32 }
struct Out { head: vec2<u32>, items: array<Item> }
@group(0) @binding(0) var<uniform> u: array<vec4<u32>, 2>;
@group(0) @binding(1) var<storage> a: array<Item>;
@group(0) @binding(2) var<storage, read_write> o: Out;
var<private> own: array<u32, 4>;

fn pick(x: u32) -> u32 {
    switch x % 5u {
        case 0u: { return own[x % 4u]; }
        case 1u, 2u: { own[x % 4u] += 3u; }
        case 3u: { return u[x % 2u][x % 4u]; }
        default: {}
    }
    return own[(x + 1u) % 4u];
}

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * 4u;
    let item = a[i % arrayLength(&a)];
    for (var k = 0u; k < 4u; k++) {
        own[k] = item.key >> (k * 8u);
    }
    if i == 0u {
        o.head = vec2(arrayLength(&a), arrayLength(&o.items));
    }
    if i < arrayLength(&o.items) {
        let last = o.items[i].value;
        o.items[i] = Item(pick(item.value) + pick(last), pick(item.key));
    }
}

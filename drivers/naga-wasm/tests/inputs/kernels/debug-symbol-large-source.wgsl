@group(0) @binding(0) var<storage, read_write> o: array<u32>;
// A comment that is longer than what a debugger takes at once, said again and again: 0123456789 0123456789 0123456789
// A comment that is longer than what a debugger takes at once, said again and again: 0123456789 0123456789 0123456789
// A comment that is longer than what a debugger takes at once, said again and again: ßßßßßßßßßß ßßßßßßßßßß ßßßßßßßßßß
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = (o[id.x] ^ 61u) * 9u;
}

struct Pair { name_: u32, name: u32 }
@group(0) @binding(0) var<storage, read_write> o: array<Pair>;
fn name__() -> u32 { return 3u; }
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let main_ = o[id.x];
    let name_ = main_.name_ + name__();
    let name = main_.name * 2u;
    o[id.x] = Pair(name, name_);
}

// A word in each page of memory that nobody has touched: the system has to find and clear every one of them.

@group(0) @binding(0) var<storage, read_write> fresh: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var at = id.x * 1024u;
    loop {
        fresh[at] = 1u;
        at += groups.x * 64u * 1024u;
        if at == 1u {
            break;
        }
    }
}

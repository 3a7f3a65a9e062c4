// Workgroup counts for an indirect dispatch.
var<immediate> count: u32;
@group(0) @binding(0) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(1)
fn write_counts() {
    counts[0] = count;
    counts[1] = 1u;
    counts[2] = 1u;
}

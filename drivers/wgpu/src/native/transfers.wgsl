// Fills and copies at any byte. Native ones move whole words at multiples of four only.

struct Range {
    // Bytes of the target binding: from here ...
    start: u32,
    // ... to before here.
    end: u32,
    // Added to a byte of the target it names a byte of the source binding.
    delta: i32,
    // What is repeated, as it stands at a multiple of four.
    pattern: u32,
}

var<immediate> range: Range;
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read> source: array<u32>;

// The byte at which an invocation's word begins; past the end for those that have none.
fn first_byte(id: vec3<u32>, groups: vec3<u32>) -> u32 {
    return (range.start / 4u + id.x + id.y * groups.x * 256u) * 4u;
}

fn put(first: u32, value: u32) {
    var mask = 0xffffffffu;
    if first < range.start {
        mask = mask << (8u * (range.start - first));
    }
    if range.end - first < 4u {
        mask = mask & (0xffffffffu >> (8u * (4u - (range.end - first))));
    }
    // Bytes beside the range may be anybody's business: a whole word is not read, and part of one keeps the rest.
    if mask == 0xffffffffu {
        words[first / 4u] = value;
    } else {
        words[first / 4u] = (words[first / 4u] & ~mask) | (value & mask);
    }
}

@compute @workgroup_size(256)
fn fill(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let first = first_byte(id, groups);
    if first < range.end {
        put(first, range.pattern);
    }
}

@compute @workgroup_size(256)
fn copy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let first = first_byte(id, groups);
    if first < range.end {
        // Below zero for bytes before the range, which the mask takes out.
        let from_byte = i32(first) + range.delta;
        let from_word = u32(from_byte >> 2u);
        let shift = 8u * (u32(from_byte) & 3u);
        var value = source[from_word];
        if shift != 0u {
            value = (value >> shift) | (source[from_word + 1u] << (32u - shift));
        }
        put(first, value);
    }
}

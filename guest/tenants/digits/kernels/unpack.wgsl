// Turns bytes into floats: numbers[4 * i + j] is byte j of words[i], the lowest byte first.
//
// Dispatch ceil(word_count / 64) groups in x; words past the end are left alone.

struct Constants {
    // How many words there are, a quarter of the number of bytes.
    word_count: u32,
}

var<immediate> constants: Constants;

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> numbers: array<f32>;

@compute @workgroup_size(64)
fn unpack(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = id.x;
    if index >= constants.word_count {
        return;
    }
    let word = words[index];
    numbers[4u * index] = f32(word & 0xffu);
    numbers[4u * index + 1u] = f32((word >> 8u) & 0xffu);
    numbers[4u * index + 2u] = f32((word >> 16u) & 0xffu);
    numbers[4u * index + 3u] = f32(word >> 24u);
}

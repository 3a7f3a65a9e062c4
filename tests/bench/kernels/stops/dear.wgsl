// A long body without branches, of the operations that take longest, in a loop whose end is known and far.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) index: u32) {
    var x = input[index] + index;
    var y = x + 7u;
    var a = f32(x) + 0.5;
    var b = f32(y) - 0.5;
    for (var i = 0u; i < 4000000000u; i++) {
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
        x = x / (y | 1u) + (y % (x | 3u));
        a = sin(a) + pow(abs(b) + 1.0, 1.5);
        b = tan(a) / (abs(b) + 0.5);
        a += atan2(a, b) + log2(abs(a) + 1.0);
        b = sqrt(abs(a) + 1.0) / (b * b + 1.0);
        y = (y ^ x) * 3u + x / (y | 5u);
    }
    output[index] = x + y + bitcast<u32>(a + b);
}

//! What every kernel has to compute, in f64 and in the plainest way.

/// A row-major product of m x k and k x n.
pub fn matmul(a: &[f32], b: &[f32], k: usize, n: usize) -> Vec<f64> {
    let mut c = vec![0.0; a.len() / k * n];
    for (a, c) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
        for (left, b) in a.iter().zip(b.chunks_exact(n)) {
            let left = f64::from(*left);
            c.iter_mut().zip(b).for_each(|(c, right)| *c += left * f64::from(*right));
        }
    }
    c
}

/// Softmax of each row.
pub fn softmax(input: &[f32], columns: usize) -> Vec<f64> {
    input.chunks_exact(columns).flat_map(|row| softmax_row(row.iter().map(|x| f64::from(*x)).collect())).collect()
}

fn softmax_row(mut row: Vec<f64>) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|x| *x = (*x - largest).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|x| *x /= sum);
    row
}

/// Each row to mean 0 and variance 1, then scaled and shifted by column.
pub fn layernorm(input: &[f32], scale: &[f32], shift: &[f32], epsilon: f64) -> Vec<f64> {
    let count = scale.len() as f64;
    let row = |row: &[f32]| {
        let mean = row.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
        let variance = row.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / count;
        let factor = 1.0 / (variance + epsilon).sqrt();
        let columns = row.iter().zip(scale).zip(shift);
        let normal = |((x, scale), shift): ((&f32, &f32), &f32)| {
            (f64::from(*x) - mean) * factor * f64::from(*scale) + f64::from(*shift)
        };
        columns.map(normal).collect::<Vec<f64>>()
    };
    input.chunks_exact(scale.len()).flat_map(row).collect()
}

/// One head of attention: softmax of scaled scores, times values.
pub fn attention(queries: &[f32], keys: &[f32], values: &[f32], head: usize) -> Vec<f64> {
    let scale = 1.0 / (head as f64).sqrt();
    let one = |query: &[f32]| {
        let score = |key: &[f32]| dot(query, key) * scale;
        let weights = softmax_row(keys.chunks_exact(head).map(score).collect());
        let mut output = vec![0.0; head];
        for (weight, value) in weights.iter().zip(values.chunks_exact(head)) {
            output.iter_mut().zip(value).for_each(|(output, value)| *output += weight * f64::from(*value));
        }
        output
    };
    queries.chunks_exact(head).flat_map(one).collect()
}

fn dot(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum()
}

/// GELU by way of tanh.
pub fn gelu(input: &[f32]) -> Vec<f64> {
    let one = |x: f64| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh());
    input.iter().map(|x| one(f64::from(*x))).collect()
}

/// A block of weights that share a scale.
pub const BLOCK: usize = 32;

/// Products of rows of scaled integers with a vector.
pub fn scaled_matvec(weights: &[i8], scales: &[f32], input: &[f64]) -> Vec<f64> {
    let scaled = weights.chunks_exact(BLOCK).zip(scales).flat_map(|(block, scale)| {
        let scale = f64::from(*scale);
        block.iter().map(move |weight| f64::from(*weight) * scale)
    });
    let scaled: Vec<f64> = scaled.collect();
    scaled.chunks_exact(input.len()).map(|row| row.iter().zip(input).map(|(weight, x)| weight * x).sum()).collect()
}

/// Products of rows of scaled integers with a vector of them: exact integers inside of a block.
pub fn integer_matvec(weights: &[i8], scales: &[f32], input: &[i8], input_scales: &[f32]) -> Vec<f64> {
    let rows = weights.chunks_exact(input.len()).zip(scales.chunks_exact(input_scales.len()));
    let row = |(weights, scales): (&[i8], &[f32])| {
        let blocks = weights.chunks_exact(BLOCK).zip(input.chunks_exact(BLOCK));
        let sums = blocks.map(|(weights, input)| {
            weights.iter().zip(input).map(|(weight, x)| i32::from(*weight) * i32::from(*x)).sum::<i32>()
        });
        let scales = scales.iter().zip(input_scales).map(|(left, right)| f64::from(*left) * f64::from(*right));
        sums.zip(scales).map(|(sum, scale)| f64::from(sum) * scale).sum()
    };
    rows.map(row).collect()
}

/// Each row divided by the root of its mean square, then scaled by column.
pub fn rmsnorm(input: &[f32], weights: &[f32], epsilon: f64) -> Vec<f64> {
    let row = |row: &[f32]| {
        let root = (dot(row, row) / row.len() as f64 + epsilon).sqrt();
        row.iter().zip(weights).map(|(x, weight)| f64::from(*x) / root * f64::from(*weight)).collect::<Vec<f64>>()
    };
    input.chunks_exact(weights.len()).flat_map(row).collect()
}

/// Rotary position embedding of tokens x heads x head; a head's first half holds the one coordinate of each pair, its second half the other.
pub fn rope(input: &[f32], heads: usize, head: usize, first_position: usize, base: f64) -> Vec<f64> {
    let mut output = vec![0.0; input.len()];
    for (at, (x, y)) in input.chunks_exact(head).zip(output.chunks_exact_mut(head)).enumerate() {
        let position = first_position + at / heads;
        let (first, second) = x.split_at(head / 2);
        let (to_first, to_second) = y.split_at_mut(head / 2);
        let pairs = first.iter().zip(second).zip(to_first.iter_mut().zip(to_second));
        for (i, ((a, b), (to_a, to_b))) in pairs.enumerate() {
            let (sin, cos) = (position as f64 * base.powf(-2.0 * i as f64 / head as f64)).sin_cos();
            *to_a = f64::from(*a) * cos - f64::from(*b) * sin;
            *to_b = f64::from(*a) * sin + f64::from(*b) * cos;
        }
    }
    output
}

/// A 3x3 convolution with a border of zeros, then bias and ReLU: channels x height x width, with weights out x in x 3 x 3.
pub fn conv3x3(input: &[f32], weights: &[f32], bias: &[f32], height: usize, width: usize) -> Vec<f64> {
    let channels = input.len() / (height * width);
    let mut output = Vec::new();
    for (weights, bias) in weights.chunks_exact(channels * 9).zip(bias) {
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let mut sum = f64::from(*bias);
            for (plane, weights) in input.chunks_exact(height * width).zip(weights.chunks_exact(9)) {
                for (at, weight) in weights.iter().enumerate() {
                    // One too many, as there is nothing below 0.
                    let (y, x) = (y + at / 3, x + at % 3);
                    let inside = (1..=height).contains(&y) && (1..=width).contains(&x);
                    let cell = if inside { plane.get((y - 1) * width + x - 1) } else { None };
                    sum += f64::from(*weight) * cell.map_or(0.0, |cell| f64::from(*cell));
                }
            }
            output.push(sum.max(0.0));
        }
    }
    output
}

/// Sums of each element and all before it in its block.
pub fn prefix_sums(input: &[f32], block: usize) -> Vec<f64> {
    let sums = |block: &[f32]| {
        let sums = block.iter().scan(0.0, |sum, x| {
            *sum += f64::from(*x);
            Some(*sum)
        });
        sums.collect::<Vec<f64>>()
    };
    input.chunks(block).flat_map(sums).collect()
}

/// Scaled scores of each head, and `masked` where the key comes after the query.
pub fn causal_scores(queries: &[f32], keys: &[f32], length: usize, head: usize, masked: f64) -> Vec<f64> {
    let scale = 1.0 / (head as f64).sqrt();
    let mut scores = Vec::new();
    for (queries, keys) in queries.chunks_exact(length * head).zip(keys.chunks_exact(length * head)) {
        for (row, query) in queries.chunks_exact(head).enumerate() {
            for (column, key) in keys.chunks_exact(head).enumerate() {
                scores.push(if column > row { masked } else { dot(query, key) * scale });
            }
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_product_of_matrices() {
        // Not square, so that no two sizes can be exchanged unseen.
        let product = matmul(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[7.0, 8.0, 9.0, 10.0, 11.0, 12.0], 3, 2);
        close(&product, &[58.0, 64.0, 139.0, 154.0]);
    }

    #[test]
    fn softmax_and_layernorm_of_short_rows() {
        let log = f32::ln;
        close(&softmax(&[log(1.0), log(3.0), 5.0, 5.0], 2), &[0.25, 0.75, 0.5, 0.5]);
        // Mean 3, variance 4.
        close(&layernorm(&[1.0, 5.0], &[1.0, 10.0], &[0.5, 0.0], 0.0), &[-0.5, 10.0]);
        close(&layernorm(&[1.0, 5.0], &[1.0, 1.0], &[0.0, 0.0], 12.0), &[-0.5, 0.5]);
    }

    #[test]
    fn attention_weighs_values() {
        // Scores 0 and 2 ln 3 / 2 = ln 3, so weights 1/4 and 3/4.
        let keys = [0.0, 0.0, 0.0, 0.0, 3f32.ln(), 0.0, 0.0, 0.0];
        let values = [0.0, 4.0, 0.0, 1.0, 4.0, 8.0, 0.0, 1.0];
        close(&attention(&[2.0, 9.0, 9.0, 9.0], &keys, &values, 4), &[3.0, 7.0, 0.0, 1.0]);
    }

    #[test]
    fn gelu_at_known_places() {
        close(&gelu(&[0.0, 1.0, -1.0, 10.0]), &[0.0, 0.841_192, -0.158_808, 10.0]);
    }

    #[test]
    fn scaled_rows_times_a_vector() {
        let mut weights = vec![0_i8; 4 * BLOCK];
        (weights[0], weights[BLOCK], weights[2 * BLOCK + 1]) = (3, -2, 5);
        let scales = [1.0, 2.0, 0.5, 1.0];
        let mut input = vec![0_i8; 2 * BLOCK];
        (input[0], input[1], input[BLOCK]) = (1, 2, 4);
        let plain: Vec<f64> = input.iter().map(|x| f64::from(*x)).collect();
        close(&scaled_matvec(&weights, &scales, &plain), &[3.0 - 16.0, 5.0]);
        close(&integer_matvec(&weights, &scales, &input, &[10.0, 1.0]), &[30.0 - 16.0, 50.0]);
    }

    #[test]
    fn rmsnorm_divides_by_the_root_of_the_mean_square() {
        // Mean squares 25 and 4.
        close(&rmsnorm(&[1.0, 7.0, 2.0, -2.0], &[1.0, 10.0], 0.0), &[0.2, 14.0, 1.0, -10.0]);
        close(&rmsnorm(&[1.0, 7.0], &[1.0, 1.0], 75.0), &[0.1, 0.7]);
    }

    #[test]
    fn rope_turns_by_position() {
        // Angles 0 for both pairs of both heads, then 1 and 1/2.
        let turned = rope(&[1.0, 0.0, 0.0, 1.0].repeat(4), 2, 4, 0, 4.0);
        close(&turned[..8], &[1.0, 0.0, 0.0, 1.0].repeat(2));
        close(&turned[8..], &[0.540_302_3, -0.479_425_5, 0.841_471, 0.877_582_6].repeat(2));
        close(&rope(&[1.0, 0.0, 0.0, 1.0], 1, 4, 1, 4.0), &turned[8..12]);
    }

    #[test]
    fn a_convolution_looks_around_and_not_beyond() {
        let input = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let mut weights = [0.0; 36];
        // The pixel itself and its right neighbour, then the one above it in the other channel.
        (weights[4], weights[5], weights[9 + 1]) = (1.0, 1.0, 1.0);
        // Into the other output, the pixel negated.
        weights[18 + 4] = -1.0;
        let expected = [3.5, 5.5, 3.5, 19.5, 11.5, 6.5, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0];
        close(&conv3x3(&input, &weights, &[0.5, 4.0], 2, 3), &expected);
    }

    #[test]
    fn prefix_sums_start_again_with_each_block() {
        close(&prefix_sums(&[1.0, 2.0, 3.0, 4.0, 5.0], 3), &[1.0, 3.0, 6.0, 4.0, 9.0]);
    }

    #[test]
    fn scores_of_later_keys_are_masked() {
        let left = [2.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let right = [1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 6.0];
        let (queries, keys) = ([left, right].concat(), [right, left].concat());
        close(&causal_scores(&queries, &keys, 2, 4, -9.0), &[1.0, -9.0, 5.0, 3.0, 1.0, -9.0, 0.0, 3.0]);
    }
}

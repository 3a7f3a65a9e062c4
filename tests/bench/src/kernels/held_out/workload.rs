//! What the kernels that are held out work on.

use crate::kernels::{
    reference,
    workload::{BYTES, FLOPS, Workload, bytes, numbers, traffic},
};

/// RMS normalisation of rows.
pub fn rmsnorm(rows: usize, columns: usize) -> Workload {
    let (input, weights) = (numbers(31, rows * columns), numbers(32, columns));
    Workload {
        expected: reference::rmsnorm(&input, &weights, 1e-6),
        inputs: vec![bytes(&input), bytes(&weights)],
        tolerance: 1e-5,
        constants: vec![columns as u32],
        work: traffic(2 * rows * columns),
        unit: BYTES,
    }
}

/// Rotary position embedding.
pub fn rope(tokens: usize, heads: usize, head: usize) -> Workload {
    // As if there were a prompt before them.
    let position = 100;
    let input = numbers(33, tokens * heads * head);
    Workload {
        expected: reference::rope(&input, heads, head, position, 1e4),
        inputs: vec![bytes(&input)],
        // WGSL's sine and cosine may each be off by 2^-11.
        tolerance: 2e-3,
        constants: vec![tokens as u32, heads as u32, head as u32, position as u32],
        work: traffic(2 * input.len()),
        unit: BYTES,
    }
}

/// A convolution of a square image to as many channels as it has.
pub fn conv3x3(channels: usize, side: usize) -> Workload {
    let input = numbers(34, channels * side * side);
    let (weights, bias) = (numbers(35, channels * channels * 9), numbers(36, channels));
    Workload {
        expected: reference::conv3x3(&input, &weights, &bias, side, side),
        inputs: [&input, &weights, &bias].map(|numbers| bytes(numbers)).into(),
        tolerance: 1e-4,
        constants: [channels, channels, side, side].map(|size| size as u32).into(),
        work: 2e-9 * (channels * channels * 9 * side * side) as f64,
        unit: FLOPS,
    }
}

/// Prefix sums within blocks.
pub fn scan(count: usize) -> Workload {
    let input = numbers(37, count);
    Workload {
        expected: reference::prefix_sums(&input, 256),
        inputs: vec![bytes(&input)],
        tolerance: 1e-5,
        constants: Vec::new(),
        work: traffic(2 * count),
        unit: BYTES,
    }
}

/// Scores of causal attention.
pub fn causal_scores(heads: usize, length: usize, head: usize) -> Workload {
    let [queries, keys] = [38, 39].map(|seed| numbers(seed, heads * length * head));
    Workload {
        expected: reference::causal_scores(&queries, &keys, length, head, -1e9),
        inputs: vec![bytes(&queries), bytes(&keys)],
        tolerance: 1e-5,
        constants: vec![length as u32, head as u32],
        // Without what the mask hides.
        work: 1e-9 * (heads * length * (length + 1) * head) as f64,
        unit: FLOPS,
    }
}

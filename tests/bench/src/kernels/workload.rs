//! What kernels work on: inputs that are the same in every run, and what has to come out.

use super::reference::{self, BLOCK};
use crate::statistics::Random;
use anyhow::{Result, bail};
use half::f16;

/// Inputs and the expected output.
pub struct Workload {
    /// Bytes at bindings 0, 1, ...; the output, f32, is at the binding behind them.
    pub inputs: Vec<Vec<u8>>,
    /// What the output has to be.
    pub expected: Vec<f64>,
    /// How far an element may be off, for each unit of `1 + |expected|`: several times what f32 and WGSL's accuracy allow, and far less than
    /// what any mistake leads to.
    pub tolerance: f64,
    /// 32-bit words of constants.
    pub constants: Vec<u32>,
    /// What is done, in units of `unit` times seconds.
    pub work: f64,
    /// In which speed is shown.
    pub unit: &'static str,
}

/// Not a number.
const CANARY: [u8; 4] = 0x7fff_5a5a_u32.to_le_bytes();

/// Arithmetic.
pub const FLOPS: &str = "GFLOP/s";
/// Memory.
pub const BYTES: &str = "GB/s";
const WEIGHTS: &str = "G weights/s";

impl Workload {
    /// Checks an output.
    ///
    /// # Errors
    /// The first element that is off, or not a number.
    pub fn check(&self, output: &[f32]) -> Result<()> {
        if output.len() != self.expected.len() {
            bail!("{} elements came out, not {}", output.len(), self.expected.len());
        }
        for (at, (found, expected)) in output.iter().zip(&self.expected).enumerate() {
            // Not a number is not within anything.
            let fits = (f64::from(*found) - expected).abs() <= self.tolerance * (1.0 + expected.abs());
            if !fits {
                bail!("element {at} is {found}, not {expected}");
            }
        }
        Ok(())
    }

    /// What an output holds at first: not one number, so that an element that no kernel writes is found.
    pub fn untouched(&self) -> Vec<u8> {
        CANARY.repeat(self.expected.len())
    }
}

/// Numbers from -1 to 1.
pub fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.signed()).collect()
}

/// As they lie in a buffer.
pub fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// GB that numbers take.
pub fn traffic(numbers: usize) -> f64 {
    numbers as f64 * 4e-9
}

/// C = A B, all square.
pub fn matmul(n: usize) -> Workload {
    let (a, b) = (numbers(1, n * n), numbers(2, n * n));
    Workload {
        expected: reference::matmul(&a, &b, n, n),
        inputs: vec![bytes(&a), bytes(&b)],
        tolerance: 1e-4,
        constants: vec![n as u32; 3],
        work: 2e-9 * (n * n * n) as f64,
        unit: FLOPS,
    }
}

/// Softmax of n rows of n.
pub fn softmax(n: usize) -> Workload {
    let input: Vec<f32> = numbers(3, n * n).iter().map(|x| x * 8.0).collect();
    Workload {
        expected: reference::softmax(&input, n),
        inputs: vec![bytes(&input)],
        // Of numbers that are all far below 1.
        tolerance: 1e-7,
        constants: vec![n as u32],
        work: traffic(2 * n * n),
        unit: BYTES,
    }
}

/// Layer normalisation of n rows of n.
pub fn layernorm(n: usize) -> Workload {
    let (input, scale, shift) = (numbers(4, n * n), numbers(5, n), numbers(6, n));
    Workload {
        expected: reference::layernorm(&input, &scale, &shift, 1e-5),
        inputs: [&input, &scale, &shift].map(|numbers| bytes(numbers)).into(),
        tolerance: 1e-5,
        constants: vec![n as u32],
        work: traffic(2 * n * n),
        unit: BYTES,
    }
}

/// A square matrix times a vector.
pub fn matvec(n: usize) -> Workload {
    let (weights, input) = (numbers(7, n * n), numbers(8, n));
    Workload {
        expected: reference::matmul(&weights, &input, n, 1),
        inputs: vec![bytes(&weights), bytes(&input)],
        tolerance: 1e-4,
        constants: vec![n as u32],
        work: traffic(n * n),
        unit: BYTES,
    }
}

/// One head of attention.
pub fn attention(length: usize, head: usize) -> Workload {
    let [queries, keys, values] = [9, 10, 11].map(|seed| numbers(seed, length * head));
    // So that some keys matter more than others.
    let queries: Vec<f32> = queries.iter().map(|x| x * 4.0).collect();
    Workload {
        expected: reference::attention(&queries, &keys, &values, head),
        inputs: [&queries, &keys, &values].map(|numbers| bytes(numbers)).into(),
        tolerance: 1e-5,
        constants: vec![length as u32],
        work: 4e-9 * (length * length * head) as f64,
        unit: FLOPS,
    }
}

/// GELU.
pub fn gelu(count: usize) -> Workload {
    let input: Vec<f32> = numbers(12, count).iter().map(|x| x * 6.0).collect();
    Workload {
        expected: reference::gelu(&input),
        inputs: vec![bytes(&input)],
        tolerance: 1e-4,
        constants: Vec::new(),
        work: traffic(2 * count),
        unit: BYTES,
    }
}

/// The sum of two vectors.
pub fn add(count: usize) -> Workload {
    let (a, b) = (numbers(13, count), numbers(14, count));
    Workload {
        expected: a.iter().zip(&b).map(|(a, b)| f64::from(*a) + f64::from(*b)).collect(),
        inputs: vec![bytes(&a), bytes(&b)],
        tolerance: 1e-6,
        constants: Vec::new(),
        work: traffic(3 * count),
        unit: BYTES,
    }
}

/// A copy.
pub fn copy(count: usize) -> Workload {
    let input = numbers(15, count);
    Workload {
        expected: input.iter().map(|x| f64::from(*x)).collect(),
        inputs: vec![bytes(&input)],
        tolerance: 0.0,
        constants: Vec::new(),
        work: traffic(2 * count),
        unit: BYTES,
    }
}

/// A few additions to each element, one by one.
pub fn count(count: usize, times: u32) -> Workload {
    let input = numbers(23, count);
    Workload {
        expected: input.iter().map(|x| f64::from(*x) + f64::from(times)).collect(),
        inputs: vec![bytes(&input)],
        tolerance: 1e-6,
        constants: vec![times],
        work: traffic(2 * count),
        unit: BYTES,
    }
}

/// For kernels that do not end: more zeros than a cache holds, and a small output.
pub fn zeros() -> Workload {
    Workload {
        inputs: vec![vec![0; 256 << 20]],
        expected: vec![0.0; 64],
        tolerance: 0.0,
        constants: Vec::new(),
        work: 0.0,
        unit: BYTES,
    }
}

/// Scales of blocks, as f16 can hold them, and packed two a word.
fn scales(seed: u64, count: usize) -> (Vec<f32>, Vec<u8>) {
    let halves: Vec<f16> = numbers(seed, count).iter().map(|x| f16::from_f32(0.05 + x.abs() / 16.0)).collect();
    let packed = halves.iter().flat_map(|half| half.to_bits().to_le_bytes()).collect();
    (halves.iter().map(|half| half.to_f32()).collect(), packed)
}

/// Signed numbers of at most so many bits.
fn integers(seed: u64, bits: u32, count: usize) -> Vec<i8> {
    let mut random = Random::new(seed);
    (0..count).map(|_| ((random.next() as i64) >> (64 - bits)) as i8).collect()
}

/// A square matrix of 4-bit weights times a vector of f32.
pub fn q4(n: usize) -> Workload {
    let weights = integers(16, 4, n * n);
    let (scales, packed_scales) = scales(17, n * n / BLOCK);
    let input = numbers(18, n);
    let nibble = |word: u32, (at, weight): (u32, &i8)| word | (((i32::from(*weight) + 8) as u32) << (at * 4));
    let packed = weights.chunks_exact(8).map(|eight| (0..).zip(eight).fold(0, nibble));
    let plain: Vec<f64> = input.iter().map(|x| f64::from(*x)).collect();
    Workload {
        expected: reference::scaled_matvec(&weights, &scales, &plain),
        inputs: vec![words(packed), packed_scales, bytes(&input)],
        tolerance: 1e-4,
        constants: vec![n as u32],
        work: 1e-9 * (n * n) as f64,
        unit: WEIGHTS,
    }
}

/// A square matrix of 8-bit weights times a vector of them.
pub fn int8(n: usize) -> Workload {
    let (weights, input) = (integers(19, 8, n * n), integers(20, 8, n));
    let (scales, packed_scales) = scales(21, n * n / BLOCK);
    let (input_scales, packed_input_scales) = self::scales(22, n / BLOCK);
    let packed = |values: &[i8]| values.iter().map(|value| value.cast_unsigned()).collect::<Vec<u8>>();
    Workload {
        expected: reference::integer_matvec(&weights, &scales, &input, &input_scales),
        inputs: vec![packed(&weights), packed_scales, packed(&input), packed_input_scales],
        // Sums of numbers that are up to a thousand times as large.
        tolerance: 1e-2,
        constants: vec![n as u32],
        work: 1e-9 * (n * n) as f64,
        unit: WEIGHTS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(expected: Vec<f64>) -> Workload {
        Workload { expected, tolerance: 0.01, ..copy(0) }
    }

    #[test]
    fn what_is_off_is_found() {
        let workload = workload(vec![1.0, 100.0]);
        workload.check(&[1.019, 100.9]).unwrap();
        for (output, text) in [
            (&[1.03, 100.0][..], "element 0 is 1.03"),
            (&[1.0, f32::NAN], "element 1 is NaN"),
            (&[1.0, f32::INFINITY], "element 1"),
            (&[1.0], "1 elements came out"),
            (&[1.0, f32::from_le_bytes(CANARY)], "element 1 is NaN"),
        ] {
            assert!(workload.check(output).unwrap_err().to_string().starts_with(text), "{output:?}");
        }
    }

    #[test]
    fn weights_are_packed_lowest_first() {
        let workload = q4(BLOCK);
        let weights = integers(16, 4, BLOCK * BLOCK);
        assert!(weights.iter().all(|weight| (-8..8).contains(weight)));
        assert_eq!(i32::from(workload.inputs[0][0] & 15) - 8, i32::from(weights[0]));
        assert_eq!(i32::from(workload.inputs[0][0] >> 4) - 8, i32::from(weights[1]));
        assert_eq!(workload.inputs[0].len(), BLOCK * BLOCK / 2);
        assert_eq!(workload.inputs[1].len(), BLOCK * 2);
    }
}

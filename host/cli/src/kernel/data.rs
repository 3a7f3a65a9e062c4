//! What bindings begin with.

use crate::{file, text};
use anyhow::bail;
use std::path::{Path, PathBuf};

/// Most bytes of all bindings together. What a device leaves is held beside what it began with and what it is compared with, so
/// this times four is what a command may need.
pub const MAX_DATA_BYTES: u64 = 512 << 20;

/// What a binding begins with; sizes are multiples of 4, not 0 and at most [`MAX_DATA_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A file's bytes.
    File(PathBuf),
    /// Zeros.
    Zeros {
        /// How many.
        bytes: u64,
    },
    /// Floats from -1 to 1, without 1; multiples of 2^-23.
    RandomF32 {
        /// What they are made from.
        seed: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// Any bits.
    RandomU32 {
        /// What they are made from.
        seed: u64,
        /// How many bytes.
        bytes: u64,
    },
}

impl Content {
    /// The bytes. At most `left` of them.
    ///
    /// # Errors
    /// A sentence: too many, or a file that cannot be used.
    pub fn bytes(&self, left: u64) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::File(path) => read(path, left),
            Self::Zeros { bytes } => Ok(vec![0; fits(*bytes, left)?]),
            Self::RandomF32 { seed, bytes } => Ok(words(*seed, fits(*bytes, left)?, |bits| {
                // 24 bits, and so exact.
                (((bits >> 8) as f32) / (1 << 23) as f32 - 1.0).to_bits()
            })),
            Self::RandomU32 { seed, bytes } => Ok(words(*seed, fits(*bytes, left)?, |bits| bits)),
        }
    }
}

fn fits(bytes: u64, left: u64) -> anyhow::Result<usize> {
    if bytes > left {
        bail!("all bindings together have over {}", text::bytes(MAX_DATA_BYTES));
    }
    Ok(usize::try_from(bytes)?)
}

fn read(path: &Path, left: u64) -> anyhow::Result<Vec<u8>> {
    let bytes = file::read(path, left)?;
    if bytes.is_empty() || !bytes.len().is_multiple_of(4) {
        bail!("{} has {} bytes; a binding has a multiple of 4, and not 0", path.display(), bytes.len());
    }
    Ok(bytes)
}

/// `SplitMix64`, of which the upper half of each number is used.
fn words(seed: u64, bytes: usize, value: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut state = seed;
    let mut all = Vec::with_capacity(bytes);
    for _ in 0..bytes / 4 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        all.extend_from_slice(&value((mixed >> 32) as u32).to_le_bytes());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_are_those_of_their_seed() {
        // The first numbers of SplitMix64 from 0 are e220a8397b1dcdaf and 6e789e6aa1b965f4.
        let bytes = Content::RandomU32 { seed: 0, bytes: 8 }.bytes(8).unwrap();
        assert_eq!(bytes, [0x39, 0xa8, 0x20, 0xe2, 0x6a, 0x9e, 0x78, 0x6e]);
        let floats = Content::RandomF32 { seed: 3, bytes: 40_000 }.bytes(MAX_DATA_BYTES).unwrap();
        let floats: Vec<f32> = floats.chunks(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect();
        assert!(floats.iter().all(|value| (-1.0..1.0).contains(value)));
        let mean = floats.iter().sum::<f32>() / floats.len() as f32;
        assert!(mean.abs() < 0.05, "{mean}");
    }

    #[test]
    fn all_bindings_share_one_bound() {
        assert_eq!(Content::Zeros { bytes: 8 }.bytes(8).unwrap(), [0; 8]);
        let error = Content::Zeros { bytes: 12 }.bytes(8).unwrap_err().to_string();
        assert!(error.contains("512 MiB"), "{error}");
    }
}

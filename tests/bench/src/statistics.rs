//! Medians, and how far they can be trusted.

use serde::{Deserialize, Serialize};

/// Resamplings of a bootstrap: enough for two digits of a 95 % interval's ends.
const RESAMPLINGS: usize = 2000;

/// A median with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median of what was measured.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The smallest value that at least this share of the values does not exceed.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * share) as usize;
    values.get(index).or(values.last()).copied().unwrap_or(f64::NAN)
}

/// The median, without changing the order of the values.
pub fn median(values: &[f64]) -> f64 {
    quantile(&mut values.to_vec(), 0.5)
}

/// The median of one sample.
pub fn estimate(values: &[f64]) -> Estimate {
    combined(&[values], |medians| medians.first().copied().unwrap_or(f64::NAN))
}

/// The geometric mean of the samples' medians.
pub fn geometric_mean(samples: &[&[f64]]) -> Estimate {
    combined(samples, |medians| {
        let logarithms: f64 = medians.iter().map(|median| median.ln()).sum();
        (logarithms / medians.len() as f64).exp()
    })
}

/// What `combine` makes of the samples' medians. Its interval is a percentile bootstrap: every sample is drawn again from itself, all are
/// independent of each other.
pub fn combined(samples: &[&[f64]], combine: impl Fn(&[f64]) -> f64) -> Estimate {
    let mut random = Random::new(1);
    let mut resampled: Vec<f64> = (0..RESAMPLINGS)
        .map(|_| combine(&samples.iter().map(|sample| median(&random.resample(sample))).collect::<Vec<f64>>()))
        .collect();
    let (low, high) = (quantile(&mut resampled, 0.025), quantile(&mut resampled, 0.975));
    let medians: Vec<f64> = samples.iter().map(|sample| median(sample)).collect();
    Estimate { median: combine(&medians), low, high }
}

/// Numbers that are the same in every run (SplitMix64).
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A multiple of 2^-23 from -1 up to 1.
    pub fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn resample(&mut self, values: &[f64]) -> Vec<f64> {
        let count = values.len().max(1) as u64;
        (0..values.len()).filter_map(|_| values.get((self.next() % count) as usize).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_values_that_were_measured() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[5.0]), 5.0);
        assert!(median(&[]).is_nan());
        assert_eq!(quantile(&mut (1..=100).map(f64::from).collect::<Vec<_>>(), 0.99), 100.0);
    }

    #[test]
    fn an_interval_holds_the_median_and_no_more_than_the_sample() {
        let values: Vec<f64> = (1..=31).map(f64::from).collect();
        let Estimate { median, low, high } = estimate(&values);
        assert_eq!(median, 16.0);
        // What the exact distribution gives: the 10th and the 22nd of 31.
        assert!((9.0..=12.0).contains(&low), "{low}");
        assert!((20.0..=23.0).contains(&high), "{high}");
        assert_eq!(estimate(&[2.0; 31]), Estimate { median: 2.0, low: 2.0, high: 2.0 });
    }

    #[test]
    fn an_interval_narrows_with_rounds() {
        let width = |count: u32| {
            let values: Vec<f64> = (0..count).map(|n| 1.0 + f64::from(n % 31)).collect();
            let estimate = estimate(&values);
            estimate.high - estimate.low
        };
        assert!(width(31 * 16) < width(31) / 2.0);
    }

    #[test]
    fn ratios_are_averaged_as_ratios() {
        let mean = geometric_mean(&[&[2.0; 31], &[8.0; 31]]);
        assert!((mean.median - 4.0).abs() < 1e-12 && (mean.low - 4.0).abs() < 1e-12, "{mean:?}");
    }

    #[test]
    fn random_numbers_fill_their_range() {
        let mut random = Random::new(7);
        let values: Vec<f32> = (0..1000).map(|_| random.signed()).collect();
        assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
        assert!(values.iter().any(|value| *value < -0.9) && values.iter().any(|value| *value > 0.9));
    }
}

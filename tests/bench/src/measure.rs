//! Paired measurement.

use anyhow::Result;
use std::time::Instant;

/// What rounds of two contestants gave.
pub struct Pair {
    /// Median of ours.
    pub ours: f64,
    /// Median of the baseline.
    pub baseline: f64,
    /// Median of baseline / ours, round by round: above 1 if ours takes less.
    pub ratio: f64,
}

/// Rounds of each pair. Odd, so that a median is a value that was measured.
const ROUNDS: usize = 31;

/// Lets two contestants take turns, after one turn each that does not count. What they return takes the place of time: less is better.
///
/// # Errors
/// A contestant's own.
pub fn pair(mut ours: impl FnMut() -> Result<f64>, mut baseline: impl FnMut() -> Result<f64>) -> Result<Pair> {
    ours()?;
    baseline()?;
    let (mut mine, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (a, b) = (ours()?, baseline()?);
        mine.push(a);
        theirs.push(b);
        ratios.push(b / a);
    }
    Ok(Pair { ours: quantile(&mut mine, 0.5), baseline: quantile(&mut theirs, 0.5), ratio: quantile(&mut ratios, 0.5) })
}

/// The smallest value that at least this share of the values does not exceed.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * share) as usize;
    values.get(index).or(values.last()).copied().unwrap_or(f64::NAN)
}

/// Nanoseconds that each of `rounds` repetitions took, all of which one call makes.
///
/// # Errors
/// The call's own.
pub fn each(rounds: u32, call: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    call()?;
    Ok(start.elapsed().as_nanos() as f64 / f64::from(rounds))
}

//! Paired measurement.

use crate::statistics::{self, Estimate};
use anyhow::Result;
use std::time::Instant;

/// What rounds of two contestants gave.
pub struct Pair {
    /// Median of ours.
    pub ours: f64,
    /// Median of the baseline.
    pub baseline: f64,
    /// Of baseline / ours, round by round: above 1 if ours takes less.
    pub ratio: Estimate,
    /// How many rounds there were.
    pub rounds: usize,
}

/// Rounds of each pair, and the least that a figure needs. Odd, so that a median is a value that was measured.
pub const ROUNDS: usize = 31;

/// Lets contestants take turns. Answers what `turn` made of each one, round by round, which takes the place of time: less is better.
///
/// # Errors
/// A turn's own.
pub fn rounds<T>(
    contestants: &mut [T],
    rounds: usize,
    mut turn: impl FnMut(&mut T) -> Result<f64>,
) -> Result<Vec<Vec<f64>>> {
    let mut taken = vec![Vec::with_capacity(rounds); contestants.len()];
    for _ in 0..rounds {
        for (contestant, taken) in contestants.iter_mut().zip(&mut taken) {
            taken.push(turn(contestant)?);
        }
    }
    Ok(taken)
}

/// The figures of two contestants that took turns.
pub fn compare(ours: &[f64], baseline: &[f64]) -> Pair {
    Pair {
        ours: statistics::median(ours),
        baseline: statistics::median(baseline),
        ratio: statistics::estimate(&ratios(ours, baseline)),
        rounds: ours.len(),
    }
}

/// Each round's own ratio, above 1 where ours took less.
pub fn ratios(ours: &[f64], baseline: &[f64]) -> Vec<f64> {
    ours.iter().zip(baseline).map(|(ours, baseline)| baseline / ours).collect()
}

/// Lets two contestants take turns, after one turn each that does not count.
///
/// # Errors
/// A contestant's own.
pub fn pair(mut ours: impl FnMut() -> Result<f64>, mut baseline: impl FnMut() -> Result<f64>) -> Result<Pair> {
    ours()?;
    baseline()?;
    let mut both: [&mut dyn FnMut() -> Result<f64>; 2] = [&mut ours, &mut baseline];
    let taken = rounds(&mut both, ROUNDS, |turn| turn())?;
    let [ours, baseline] = &taken[..] else { anyhow::bail!("two contestants gave {} series", taken.len()) };
    Ok(compare(ours, baseline))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_round_by_round() {
        // A round in which the machine is slow is slow for both: the medians' own ratio would be 4 / 2.
        let pair = compare(&[1.0, 2.0, 30.0], &[4.0, 8.0, 3.0]);
        assert_eq!((pair.ours, pair.baseline, pair.ratio.median), (2.0, 4.0, 4.0));
        assert_eq!(ratios(&[1.0, 2.0], &[4.0, 1.0]), [4.0, 0.5]);
    }

    #[test]
    fn contestants_alternate() {
        let mut order = String::new();
        let taken = rounds(&mut [('a', 1.0), ('b', 2.0)], 3, |(name, value)| {
            order.push(*name);
            Ok(*value)
        });
        let taken = taken.unwrap();
        assert_eq!(order, "ababab");
        assert_eq!(taken, [vec![1.0; 3], vec![2.0; 3]]);
    }
}

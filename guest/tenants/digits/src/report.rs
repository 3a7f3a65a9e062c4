//! What came out, and how it compares.

use hal_guest::prelude::*;
use std::fmt;

/// How often each digit was taken for each.
pub struct Confusion {
    classes: usize,
    /// A row per true digit, a column per answer.
    counts: Vec<u32>,
}

impl Confusion {
    /// Counts the likeliest class of each row of `probabilities`.
    pub fn new(labels: &[u8], probabilities: &[f32], classes: usize) -> Result<Self> {
        if classes == 0 || probabilities.len() != labels.len() * classes {
            let message = format!("{} labels do not fit {} probabilities", labels.len(), probabilities.len());
            return Err(Error::new(Code::InvalidArgument, message));
        }
        let mut counts = vec![0; classes * classes];
        for (label, row) in labels.iter().zip(probabilities.chunks_exact(classes)) {
            let answer = (0..).zip(row).max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(class, _)| class);
            let count = counts
                .get_mut(usize::from(*label) * classes + answer)
                .ok_or_else(|| Error::new(Code::InvalidArgument, format!("there is no class {label}")))?;
            *count += 1;
        }
        Ok(Self { classes, counts })
    }

    /// Images that were classified.
    fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Images that were classified right: the diagonal.
    fn right(&self) -> u32 {
        self.counts.iter().step_by(self.classes + 1).sum()
    }

    /// How many of a hundred are right.
    pub fn percent(&self) -> f64 {
        100.0 * f64::from(self.right()) / f64::from(self.total().max(1))
    }
}

impl fmt::Display for Confusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is \\ taken for")?;
        for class in 0..self.classes {
            write!(f, "{class:>5}")?;
        }
        for (class, row) in self.counts.chunks_exact(self.classes).enumerate() {
            write!(f, "\n{class:>14}")?;
            for count in row {
                if *count == 0 { write!(f, "    .")? } else { write!(f, "{count:>5}")? }
            }
        }
        write!(f, "\naccuracy: {} of {} ({:.2} %)", self.right(), self.total(), self.percent())
    }
}

/// The largest difference between two lists of one length; NaN if either holds one.
pub fn largest_difference(expected: &[f32], actual: &[f32]) -> Result<f32> {
    if expected.len() != actual.len() {
        let message = format!("{} numbers were expected, {} came out", expected.len(), actual.len());
        return Err(Error::new(Code::InvalidArgument, message));
    }
    let differences = expected.iter().zip(actual).map(|(expected, actual)| (expected - actual).abs());
    Ok(differences.fold(
        0.0,
        |largest: f32, difference| {
            if largest.is_nan() || difference.is_nan() { f32::NAN } else { largest.max(difference) }
        },
    ))
}

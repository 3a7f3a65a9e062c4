//! One kernel by several contestants, by turns, each of which has to be right.

use super::workload::Workload;
use crate::measure;
use anyhow::{Context, Result};

/// Somebody with a workload of its own, whose output is untouched at first.
pub trait Contestant {
    /// Does the work and answers how many seconds it took.
    ///
    /// # Errors
    /// It cannot be done.
    fn turn(&mut self) -> Result<f64>;

    /// What came out.
    ///
    /// # Errors
    /// It cannot be read.
    fn output(&mut self) -> Result<Vec<f32>>;
}

/// A contestant under the name that its errors have.
pub type Named<'a> = (&'static str, Box<dyn Contestant + 'a>);

/// Answers how many seconds each contestant took, round by round, after one turn each that does not count. Outputs are checked after that turn
/// and after the last round.
///
/// # Errors
/// A contestant's own, or its output is wrong.
pub fn contest(contestants: &mut [Named<'_>], workload: &Workload, rounds: usize) -> Result<Vec<Vec<f64>>> {
    for (name, contestant) in &mut *contestants {
        contestant.turn().context(*name)?;
        workload.check(&contestant.output()?).context(*name)?;
    }
    let taken = measure::rounds(contestants, rounds, |(name, contestant)| contestant.turn().context(*name))?;
    for (name, contestant) in contestants {
        workload.check(&contestant.output()?).context(*name)?;
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::super::workload;
    use super::*;

    /// Answers what it holds, and loses the first element after so many turns.
    struct Tired {
        output: Vec<f32>,
        turns: usize,
    }

    impl Contestant for Tired {
        fn turn(&mut self) -> Result<f64> {
            self.turns = self.turns.wrapping_sub(1);
            if self.turns == 0 {
                self.output[0] = f32::NAN;
            }
            Ok(1.0)
        }

        fn output(&mut self) -> Result<Vec<f32>> {
            Ok(self.output.clone())
        }
    }

    #[test]
    fn outputs_are_checked_before_and_after() {
        let workload = workload::copy(8);
        let output: Vec<f32> = workload.expected.iter().map(|x| *x as f32).collect();
        let run = |turns| {
            let tired = Tired { output: output.clone(), turns };
            contest(&mut [("tired", Box::new(tired))], &workload, 3)
        };
        assert_eq!(run(5).unwrap(), [vec![1.0; 3]]);
        for turns in [1, 4] {
            assert!(format!("{:#}", run(turns).unwrap_err()).starts_with("tired: element 0 is NaN"), "{turns}");
        }
    }
}

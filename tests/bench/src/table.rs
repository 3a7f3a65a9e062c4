//! Rows and how they are shown.

use crate::{
    measure::{Pair, ROUNDS},
    statistics::Estimate,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One figure beside its baseline.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// What it belongs to.
    pub group: Cow<'static, str>,
    /// What was measured, and against what.
    pub name: String,
    /// Of `ours` and `baseline`.
    pub unit: Cow<'static, str>,
    /// The median.
    pub ours: f64,
    /// The median; none where there is nothing to compare with.
    pub baseline: Option<f64>,
    /// Above 1: ours is better. The median of the rounds' own ratios.
    pub ratio: Option<f64>,
    /// The ends of the ratio's 95 % interval, where rounds were paired.
    pub interval: Option<[f64; 2]>,
    /// How many rounds were paired.
    pub rounds: Option<usize>,
    /// The bar for the ratio, where one is set.
    pub at_least: Option<f64>,
}

/// What a run found.
#[derive(Default)]
pub struct Report {
    /// The figures.
    pub rows: Vec<Row>,
    /// Why some of them are missing, or count for nothing.
    pub failures: Vec<String>,
}

/// How a row stands to its bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The lower end of the interval meets it.
    Met,
    /// The median meets it, the lower end does not.
    Unsure,
    /// Not met.
    Missed,
}

impl Row {
    /// A row of paired rounds, without a bar. `unit` is that of what the contestants returned.
    pub fn paired(group: &'static str, name: impl Into<String>, pair: &Pair, unit: &'static str) -> Self {
        let Estimate { median, low, high } = pair.ratio;
        Self {
            group: group.into(),
            name: name.into(),
            unit: unit.into(),
            ours: pair.ours,
            baseline: Some(pair.baseline),
            ratio: Some(median),
            interval: Some([low, high]),
            rounds: Some(pair.rounds),
            at_least: None,
        }
    }

    /// A row whose baseline is a figure that must not be passed.
    pub fn bounded(group: &'static str, name: String, unit: &'static str, ours: Estimate, most: f64) -> Self {
        Self {
            group: group.into(),
            name,
            unit: unit.into(),
            ours: ours.median,
            baseline: Some(most),
            ratio: Some(most / ours.median),
            interval: Some([most / ours.high, most / ours.low]),
            rounds: None,
            at_least: Some(1.0),
        }
    }

    /// With both figures in another unit.
    #[must_use]
    pub fn shown(self, unit: &'static str, figure: impl Fn(f64) -> f64) -> Self {
        Self { unit: unit.into(), ours: figure(self.ours), baseline: self.baseline.map(figure), ..self }
    }

    /// With a bar.
    #[must_use]
    pub fn at_least(self, bar: Option<f64>) -> Self {
        Self { at_least: bar, ..self }
    }

    /// How it stands to its bar, if it has one.
    pub fn verdict(&self) -> Option<Verdict> {
        let (ratio, bar) = (self.ratio?, self.at_least?);
        let low = self.interval.map_or(ratio, |[low, _]| low);
        Some(match () {
            () if low >= bar => Verdict::Met,
            () if ratio >= bar => Verdict::Unsure,
            () => Verdict::Missed,
        })
    }

    /// Fewer rounds than a figure needs.
    pub fn is_short(&self) -> bool {
        self.rounds.is_some_and(|rounds| rounds < ROUNDS)
    }

    fn remark(&self) -> String {
        let verdict = match self.verdict() {
            None => "",
            Some(Verdict::Met) => "met",
            Some(Verdict::Unsure) => "unsure",
            Some(Verdict::Missed) => "missed",
        };
        let short = self.rounds.filter(|_| self.is_short()).map(|rounds| format!("only {rounds} rounds"));
        [verdict, short.as_deref().unwrap_or_default()].join(" ").trim().to_owned()
    }
}

/// Prints one table, and how many bars are met.
pub fn print(rows: &[Row]) {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    println!(
        "{:10} {:width$} {:>12} {:>12} {:11} {:>7} {:>15} {:>9}",
        "group", "figure", "ours", "baseline", "unit", "ratio", "95 %", "at least"
    );
    for row in rows {
        let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.2}"));
        let interval = row.interval.map_or_else(|| "-".into(), |[low, high]| format!("{low:.2}..{high:.2}"));
        let line = format!(
            "{:10} {:width$} {:>12} {:>12} {:11} {:>7} {:>15} {:>9} {}",
            row.group,
            row.name,
            number(Some(row.ours)),
            number(row.baseline),
            row.unit,
            number(row.ratio),
            interval,
            number(row.at_least),
            row.remark(),
        );
        println!("{}", line.trim_end());
    }
    let verdicts: Vec<Verdict> = rows.iter().filter_map(Row::verdict).collect();
    let met = verdicts.iter().filter(|verdict| **verdict == Verdict::Met).count();
    println!("{met} of {} bars met", verdicts.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_end_of_the_interval_decides() {
        let row = |low, median, at_least, rounds| {
            let pair = Pair { ours: 1.0, baseline: 1.0, ratio: Estimate { median, low, high: 9.0 }, rounds };
            Row::paired("g", "n", &pair, "s").at_least(at_least)
        };
        assert_eq!(row(5.0, 6.0, Some(5.0), 31).verdict(), Some(Verdict::Met));
        assert_eq!(row(4.9, 6.0, Some(5.0), 31).verdict(), Some(Verdict::Unsure));
        assert_eq!(row(4.0, 4.9, Some(5.0), 31).verdict(), Some(Verdict::Missed));
        assert_eq!(row(4.0, 4.9, None, 31).verdict(), None);
        assert_eq!(row(5.0, 6.0, Some(5.0), 30).remark(), "met only 30 rounds");
        assert_eq!(Row { interval: None, ..row(4.0, 5.0, Some(5.0), 31) }.verdict(), Some(Verdict::Met));
    }
}

//! Rows and how they are shown.

use serde::Serialize;

/// One figure beside its baseline.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What it belongs to.
    pub group: &'static str,
    /// What was measured, and against what.
    pub name: String,
    /// Of `ours` and `baseline`.
    pub unit: &'static str,
    /// The median.
    pub ours: f64,
    /// The median; none where there is nothing to compare with.
    pub baseline: Option<f64>,
    /// Above 1: ours is better. The median of the rounds' own ratios.
    pub ratio: Option<f64>,
    /// The bar for the ratio, where one is set.
    pub at_least: Option<f64>,
}

/// Prints one table.
pub fn print(rows: &[Row]) {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    println!(
        "{:10} {:width$} {:>12} {:>12} {:6} {:>7} {:>9}",
        "group", "figure", "ours", "baseline", "unit", "ratio", "at least"
    );
    for row in rows {
        let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.2}"));
        println!(
            "{:10} {:width$} {:>12} {:>12} {:6} {:>7} {:>9}",
            row.group,
            row.name,
            number(Some(row.ours)),
            number(row.baseline),
            row.unit,
            number(row.ratio),
            number(row.at_least),
        );
    }
}

//! What it costs that kernels count their work, beside the same kernels that do not.

use super::{
    NOISE, Run,
    alone::{self, Alone, Buffers},
    catalog::{Baseline, FAMILIES, Kernel},
    contest::{Named, contest},
    held_out,
    workload::Workload,
};
use crate::{
    Arguments, measure,
    statistics::{self, Estimate},
    table::{Report, Row},
};
use anyhow::{Result, bail};
use naga_wasm::Options;
use std::rc::Rc;
use wasmtime::Engine;

/// What the rows belong to.
pub const GROUP: &str = "counter";

/// How much longer a kernel may take for the counter, in the median over kernels and at worst.
const MEDIAN_BAR: f64 = 0.05;
const WORST_BAR: f64 = 0.15;

/// Measures the group.
///
/// # Errors
/// What keeps any of it from being measured; a kernel that fails is in the report.
pub fn measure(arguments: &Arguments, report: &mut Report) -> Result<()> {
    let run = Run::new(arguments)?;
    let engine = alone::engine()?;
    let mut all: Vec<Vec<f64>> = Vec::new();
    let (mut rows, mut void) = (Vec::new(), Vec::new());
    let failures = run.each_kernel(FAMILIES.iter().chain(&held_out::FAMILIES), |title, kernel, workload| {
        let taken = turns(&engine, kernel, workload, run.rounds)?;
        let [counted, uncounted, again @ ..] = &taken[..] else { bail!("there was no contestant") };
        for again in again {
            let itself = measure::compare(counted, again);
            if (itself.ratio.median - 1.0).abs() > NOISE {
                void.push(format!(
                    "VOID: {title}, counted, was {:.3} times as fast as itself: the machine is too busy for a figure to count",
                    itself.ratio.median
                ));
            }
            rows.push(row(format!("{title} / itself"), &itself));
        }
        rows.push(row(format!("{title} / uncounted"), &measure::compare(counted, uncounted)));
        all.push(measure::ratios(counted, uncounted));
        Ok(())
    });
    report.rows.extend(rows);
    report.rows.extend(summary(&all, run.rounds));
    report.failures.extend(void.into_iter().chain(failures));
    Ok(())
}

fn row(name: String, pair: &measure::Pair) -> Row {
    Row::paired(GROUP, name, pair, "ms").shown("ms", |seconds| seconds * 1e3)
}

/// The seconds that the kernel took, then those without the counter, then, where the catalog wants a control, its own once more.
fn turns(engine: &Engine, kernel: &Kernel, workload: &Workload, rounds: usize) -> Result<Vec<Vec<f64>>> {
    let buffers = Rc::new(Buffers::new(engine, workload)?);
    let alone = |counted| {
        let options = Options { counted, ..Options::default() };
        Ok::<_, anyhow::Error>(Box::new(Alone::new(engine, kernel, workload, &buffers, &options)?))
    };
    let mut contestants: Vec<Named<'_>> = vec![("counted", alone(true)?), ("uncounted", alone(false)?)];
    if kernel.is_beside(Baseline::Itself) {
        contestants.push(("counted again", alone(true)?));
    }
    contest(&mut contestants, workload, rounds)
}

/// Over all kernels, beside the bars.
fn summary(all: &[Vec<f64>], rounds: usize) -> Vec<Row> {
    let samples: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
    if samples.is_empty() {
        return Vec::new();
    }
    let row = |name: &str, Estimate { median, low, high }: Estimate, bar: f64| Row {
        group: GROUP.into(),
        name: format!("{name} of {} / uncounted", samples.len()),
        unit: "times".into(),
        ours: 1.0 / median,
        baseline: Some(1.0),
        ratio: Some(median),
        interval: Some([low, high]),
        rounds: Some(rounds),
        at_least: Some(1.0 / (1.0 + bar)),
    };
    vec![
        row("median", statistics::combined(&samples, statistics::median), MEDIAN_BAR),
        row(
            "worst",
            statistics::combined(&samples, |medians| medians.iter().copied().fold(f64::NAN, f64::min)),
            WORST_BAR,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{catalog, workload},
        table::Verdict,
    };

    #[test]
    fn both_are_right_and_the_control_is_there() {
        let engine = alone::engine().unwrap();
        let kernel = |beside| Kernel { name: "", source: catalog::COUNT, groups: [4, 1, 1], repeats: 2, beside };
        let workload = workload::count(1024, 5);
        let turns = |beside| turns(&engine, &kernel(beside), &workload, 3).unwrap();
        assert_eq!(turns(&[]).len(), 2);
        assert_eq!(turns(&[(Baseline::Itself, None)]).len(), 3);
    }

    #[test]
    fn median_and_worst_have_their_bars() {
        let ratios = |ratio: f64| vec![ratio; 31];
        let rows = summary(&[ratios(1.0), ratios(0.96), ratios(0.8)], 31);
        let [median, worst] = &rows[..] else { panic!("{} rows", rows.len()) };
        assert_eq!((median.ratio, median.verdict()), (Some(0.96), Some(Verdict::Met)));
        assert_eq!((worst.ratio, worst.verdict()), (Some(0.8), Some(Verdict::Missed)));
        assert!(summary(&[], 31).is_empty());
    }
}

//! How long it takes until something is done at all.

use super::{
    Run, catalog,
    driver::{self, Bound, Ready},
    workload,
};
use crate::{
    measure,
    statistics::{self, Estimate},
    table::Row,
};
use anyhow::{Result, bail};
use hal_driver::{Device, Driver};
use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Dispatches of a thousand elements that are timed together, and how often.
const BATCH: u32 = 100;
const BATCHES: usize = 101;
const SMALL: usize = 1024;

/// Dispatches onto an idle pool: as many as a 99th percentile needs.
const WAKES: usize = 501;
const LARGE: usize = 64 << 10;
/// Additions of each element: few, so that what is measured is the wake-up.
const TIMES: u32 = 4;
/// How long the pool is left alone before each of them.
const IDLE: Duration = Duration::from_millis(12);

/// Most microseconds.
const SMALL_BAR: f64 = 8.0;
const WAKE_BAR: f64 = 60.0;

/// A dispatch on the calling thread, and one that has to wake the pool.
///
/// # Errors
/// What any of it answers.
pub fn measure(run: &Run) -> Result<Vec<Row>> {
    let sync = driver::open(&*driver::driver(&run.cpu_factory, "local-sync")?)?;
    let workload = workload::add(SMALL);
    let small = Bound::new(&sync, &workload)?.load(catalog::ADD, &[], [SMALL as u32 / 256, 1, 1], 1)?;
    let mut taken = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        taken.push(measure::each(BATCH, || (0..BATCH).try_for_each(|_| small.turn().map(drop)))? / 1000.0);
    }
    workload.check(&small.output()?)?;
    let mut rows = vec![bounded("add of 1,024, submit and wait, local-sync, median", &taken, SMALL_BAR)];

    let pool = driver::open(&*run.cpu)?;
    let mut taken = wakes(&pool)?;
    rows.push(bounded("65,536 elements onto the idle pool, median", &taken, WAKE_BAR));
    let p99 = statistics::quantile(&mut taken, 0.99);
    rows.push(Row { ours: p99, interval: None, at_least: None, ..bounded("65,536 elements onto the idle pool, p99", &[p99], WAKE_BAR) });
    Ok(rows)
}

/// A row whose baseline is a time that must not be passed.
fn bounded(name: &str, microseconds: &[f64], most: f64) -> Row {
    let Estimate { median, low, high } = statistics::estimate(microseconds);
    Row {
        group: super::GROUP.into(),
        name: name.into(),
        unit: "us".into(),
        ours: median,
        baseline: Some(most),
        ratio: Some(most / median),
        interval: Some([most / high, most / low]),
        rounds: None,
        at_least: Some(1.0),
    }
}

/// Microseconds of each dispatch that woke the pool.
fn wakes(device: &Arc<dyn Device>) -> Result<Vec<f64>> {
    let mut workload = workload::copy(LARGE);
    // It counts up in its output, from zero.
    workload.inputs.clear();
    let ready = Bound::new(device, &workload)?.load(catalog::COUNT, &[TIMES], [LARGE as u32 / 256, 1, 1], 1)?;
    ready.turn()?;
    let mut taken = Vec::with_capacity(WAKES);
    for _ in 0..WAKES {
        thread::sleep(IDLE);
        let begin = Instant::now();
        let by = ready.run_once()?;
        taken.push(begin.elapsed().as_nanos() as f64 / 1000.0);
        if by == thread::current().id() {
            bail!("a kernel that was to wake the pool ran on the calling thread");
        }
    }
    let expected = f32::from(u16::try_from((WAKES + 1) * TIMES as usize)?);
    match ready.output()?.iter().find(|found| **found != expected) {
        Some(found) => bail!("an element is {found}, not {expected}"),
        None => Ok(taken),
    }
}

/// From source to the end of a first dispatch of one workgroup, on a new device each time. Neither driver has a cache that outlives a
/// device, and this process runs without Mesa's.
///
/// # Errors
/// What any of it answers.
pub fn first_dispatches(run: &Run, vulkan: &dyn Driver) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for family in catalog::FAMILIES.iter().chain(&catalog::STREAMS) {
        // Sizes make no difference to a compiler.
        if family.name == "matmul 1024" {
            continue;
        }
        let kernels: Vec<_> = family.kernels.iter().filter(|kernel| run.wants(&family.title(kernel))).collect();
        if kernels.is_empty() {
            continue;
        }
        let workload = (family.workload)();
        for kernel in kernels {
            let first = |driver: &dyn Driver| {
                let bound = Bound::new(&driver::open(driver)?, &workload)?;
                let begin = Instant::now();
                let ready: Ready = bound.load(kernel.source, &workload.constants, [1; 3], 1)?;
                ready.run_once()?;
                Ok(begin.elapsed().as_secs_f64())
            };
            let taken =
                measure::rounds(&mut [&mut || first(&*run.cpu), &mut || first(vulkan)], run.rounds)?;
            let [ours, baseline] = &taken[..] else { bail!("two contestants gave {} series", taken.len()) };
            let name = format!("first dispatch, {} / lavapipe", family.title(kernel));
            let row = Row::paired(super::GROUP, name, &measure::compare(ours, baseline), "s");
            rows.push(row.shown("ms", |seconds| seconds * 1e3).at_least(Some(10.0)));
        }
    }
    Ok(rows)
}

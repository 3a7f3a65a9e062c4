//! How long it takes until something is done at all.

use super::{
    Run, THREADS,
    catalog::{self, Baseline},
    contest::Contestant,
    driver::{self, Bound},
    workload::{self, Workload},
};
use crate::{measure, statistics, table::Row, tenants::Bench};
use anyhow::{Result, bail};
use hal_driver::{Device, Driver};
use hal_driver_cpu::{Config, CpuFactory};
use hal_host::CodeCache;
use std::{
    collections::HashSet,
    rc::Rc,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Small dispatches that are timed together, and how often.
const BATCH: u32 = 100;
const BATCHES: usize = 101;
const SMALL: usize = 1024;

/// Dispatches onto an idle pool: as many as a 99th percentile needs.
const WAKES: usize = 501;
const LARGE: usize = 64 << 10;
/// Additions to each element: few, so that what is measured is the wake-up.
const TIMES: u32 = 4;
/// How long the pool is left alone before each of them.
const IDLE: Duration = Duration::from_millis(12);

/// Most microseconds.
const SMALL_BAR: f64 = 8.0;
const WAKE_BAR: f64 = 60.0;
/// Most milliseconds of the slowest kernel.
const FIRST_BAR: f64 = 15.0;

/// A dispatch on the calling thread, and one that has to wake the pool.
///
/// # Errors
/// What any of it answers.
pub fn measure(run: &Run) -> Result<Vec<Row>> {
    let bench = Bench::new()?;
    let mut guest = bench.guest()?;
    let from_guest = batches(|| guest.each("dispatch", BATCH, 0))?;
    let sync = driver::open(&*driver::driver(&run.cpu_factory, "local-sync")?)?;
    let natively = small(&sync)?;
    let pool = driver::open(&*run.cpu)?;
    let mut woken = wakes(&pool, WAKES)?;
    let at_most = |name: &str, figures: &[f64], most| bounded(name, "us", figures, most);
    let p99 = [statistics::quantile(&mut woken, 0.99)];
    Ok(vec![
        at_most("1,024 elements, submit and wait in a guest, local-sync", &from_guest, SMALL_BAR),
        at_most("1,024 elements, submit and wait at the driver, local-sync", &natively, SMALL_BAR).at_least(None),
        at_most("65,536 elements onto the idle pool, median", &woken, WAKE_BAR),
        at_most("65,536 elements onto the idle pool, p99", &p99, WAKE_BAR).at_least(None),
    ])
}

fn bounded(name: &str, unit: &'static str, figures: &[f64], most: f64) -> Row {
    Row::bounded(super::GROUP, name.into(), unit, statistics::estimate(figures), most)
}

/// Microseconds, from nanoseconds, after one batch that does not count.
fn batches(mut batch: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
    batch()?;
    (0..BATCHES).map(|_| Ok(batch()? / 1000.0)).collect()
}

/// Microseconds of a small sum.
fn small(device: &Arc<dyn Device>) -> Result<Vec<f64>> {
    let workload = workload::add(SMALL);
    let small = Bound::new(device, &workload)?.load(catalog::ADD, &[], [SMALL as u32 / 256, 1, 1], 1)?;
    let taken = batches(|| measure::each(BATCH, || (0..BATCH).try_for_each(|_| small.run().map(drop))))?;
    workload.check(&Rc::new(small).output()?)?;
    Ok(taken)
}

/// Microseconds of each of `count` dispatches that woke the pool.
fn wakes(device: &Arc<dyn Device>, count: usize) -> Result<Vec<f64>> {
    let workload = workload::count(LARGE, TIMES);
    let constants = &workload.constants;
    let ready = Bound::new(device, &workload)?.load(catalog::COUNT, constants, [LARGE as u32 / 256, 1, 1], 1)?;
    ready.run()?;
    let mut taken = Vec::with_capacity(count);
    for _ in 0..count {
        thread::sleep(IDLE);
        let begin = Instant::now();
        let by = ready.run()?;
        taken.push(begin.elapsed().as_nanos() as f64 / 1000.0);
        if by == thread::current().id() {
            bail!("a kernel that was to wake the pool ran on the calling thread");
        }
    }
    workload.check(&Rc::new(ready).output()?)?;
    Ok(taken)
}

/// From source to the end of a first dispatch of one workgroup, on a new device each time. Neither driver has a cache that outlives a
/// device, and this process runs without Mesa's; besides, the cpu driver with a warm one on disk beside itself without.
///
/// # Errors
/// What any of it answers.
pub fn first_dispatches(run: &Run, vulkan: &dyn Driver) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let cached = Config::new().workers(THREADS).code_cache(Arc::new(CodeCache::open(folder.path())?));
    let cached = driver::driver(&CpuFactory::new(cached)?, "local-task")?;
    let (mut rows, mut from_cache, mut slowest) = (Vec::new(), Vec::new(), Vec::new());
    // Sizes make no difference to a compiler.
    let mut seen = HashSet::new();
    let failures = run.each_kernel(&catalog::FAMILIES, |title, kernel, workload| {
        if !kernel.is_beside(Baseline::Lavapipe) || !seen.insert(kernel.source) {
            return Ok(());
        }
        // It keeps the code for the turns that count.
        first(&*cached, kernel.source, workload)?;
        let mut drivers = [&*run.cpu, vulkan, &*cached];
        let taken = measure::rounds(&mut drivers, run.rounds, |driver| first(*driver, kernel.source, workload))?;
        let [ours, baseline, cached] = &taken[..] else { bail!("three contestants gave {} series", taken.len()) };
        let pair = measure::compare(ours, baseline);
        if pair.ours > statistics::median(&slowest) || slowest.is_empty() {
            slowest.clone_from(ours);
        }
        let paired = |name: &str, pair| Row::paired(super::GROUP, format!("first dispatch, {title}{name}"), pair, "ms");
        rows.push(paired(" / lavapipe", &pair).at_least(Some(10.0)));
        from_cache.push(paired(", code cache / none", &measure::compare(cached, ours)));
        Ok(())
    });
    if !failures.is_empty() {
        bail!("{}", failures.join("; "));
    }
    if !slowest.is_empty() {
        rows.push(bounded("first dispatch, the slowest of them", "ms", &slowest, FIRST_BAR));
    }
    rows.extend(from_cache);
    Ok(rows)
}

/// Milliseconds.
fn first(driver: &dyn Driver, source: &str, workload: &Workload) -> Result<f64> {
    let bound = Bound::new(&driver::open(driver)?, workload)?;
    let begin = Instant::now();
    bound.load(source, &workload.constants, [1; 3], 1)?.run()?;
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_stays_on_its_thread_and_the_other_wakes_the_pool() {
        let factory = CpuFactory::new(Config::new().workers(2)).unwrap();
        let device = |name| driver::open(&*driver::driver(&factory, name).unwrap()).unwrap();
        assert_eq!(small(&device("local-sync")).unwrap().len(), BATCHES);
        assert_eq!(wakes(&device("local-task"), 3).unwrap().len(), 3);
        // There is no pool, and that is found.
        assert!(wakes(&device("local-sync"), 1).is_err());
    }
}

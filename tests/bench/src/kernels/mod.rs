//! Kernels on the cpu driver beside the same kernels on Mesa's lavapipe, with two threads each.
//!
//! What may be concluded from a figure rests on this:
//!
//! - Contestants take turns, and the ratio is the median of at least 31 rounds' own ratios; a bar is met if the lower end of its 95 %
//!   interval meets it. A control lets one contestant run against itself: if that is not 1 within 5 %, the run says nothing.
//! - Both drivers get the same bytes of WGSL, with bounds checks and bounds of loops, which they always have. Another control
//!   compares our own vulkan driver with a plain program over wgpu.
//! - Every contestant's output is compared with a reference in f64, at the beginning and after the last round that is timed.
//! - Throughput is measured with Mesa's cache of compiled kernels, compile times without.
//! - An invocation makes fewer than 60,000 iterations: lavapipe ends it, without a word, after 65,535.
//!
//! What the counting of iterations costs is not among the rows: the compiler has no option to leave it out.

mod bare;
mod catalog;
mod driver;
mod held_out;
mod host;
mod latency;
pub mod machine;
mod reference;
mod workload;

use crate::{
    Arguments, measure, statistics,
    table::{self, Row},
};
use anyhow::{Context, Result, bail};
use bare::Bare;
use catalog::{Family, Kernel};
use driver::Ready;
use hal_driver::{Device, Driver};
use hal_driver_cpu::CpuFactory;
use hal_driver_wgpu::WgpuFactory;
use host::Memory;
use std::{process::Stdio, sync::Arc};
use workload::Workload;

/// What the rows belong to.
pub const GROUP: &str = "kernels";

/// Threads of each contestant.
pub const THREADS: usize = 2;

/// How far from 1 a contestant may be from itself.
const NOISE: f64 = 0.05;

/// What a run of this group needs.
pub struct Run {
    cpu_factory: CpuFactory,
    cpu: Arc<dyn Driver>,
    filter: Option<String>,
    rounds: usize,
}

/// What it found.
#[derive(Default)]
pub struct Report {
    /// The figures.
    pub rows: Vec<Row>,
    /// Kernels without one, and why.
    pub failures: Vec<String>,
}

/// Ratios by round of a kernel that counts towards a mean.
type Ratios = Vec<f64>;

impl Run {
    fn new(arguments: &Arguments) -> Result<Self> {
        machine::pin()?;
        let cpu_factory = CpuFactory::new(hal_driver_cpu::Config::new().workers(THREADS))?;
        let cpu = driver::driver(&cpu_factory, "local-task")?;
        Ok(Self { cpu_factory, cpu, filter: arguments.kernel.clone(), rounds: arguments.rounds })
    }

    fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()))
    }

    fn wanted<'a>(&self, families: &'a [Family]) -> Vec<(&'a Family, Vec<&'a Kernel>)> {
        let kernels = |family: &'a Family| {
            let kernels = family.kernels.iter().filter(|kernel| self.wants(&family.title(kernel))).collect::<Vec<_>>();
            (!kernels.is_empty()).then_some((family, kernels))
        };
        families.iter().filter_map(kernels).collect()
    }
}

fn vulkan() -> Result<Arc<dyn Driver>> {
    driver::driver(&WgpuFactory::new(hal_driver_wgpu::Config::new()), "vulkan")
}

/// Measures the group.
///
/// # Errors
/// What keeps any of it from being measured; a kernel that fails is in the report.
pub fn measure(arguments: &Arguments) -> Result<Report> {
    let run = Run::new(arguments)?;
    if arguments.only_cpu() {
        println!("{}", machine::describe(None));
        return only_cpu(&run);
    }
    let vulkan = vulkan()?;
    println!("{}", machine::describe(Some(&*vulkan)));
    let mut report = Report::default();
    let device = driver::open(&*vulkan)?;
    controls(&run, &device, &mut report)?;
    against_lavapipe(&run, &device, &catalog::FAMILIES, &mut report);
    let means = against_lavapipe(&run, &device, held_out::FAMILIES, &mut report);
    held_out_mean(&run, &means, &mut report.rows);
    against_native(&run, &mut report);
    if run.filter.is_none() {
        report.rows.extend(latency::measure(&run)?);
    }
    report.rows.extend(first_dispatches(&run)?);
    Ok(report)
}

/// The cpu driver alone, for whoever works on its compiler.
fn only_cpu(run: &Run) -> Result<Report> {
    let mut report = Report::default();
    let device = driver::open(&*run.cpu)?;
    let families = catalog::FAMILIES.iter().chain(held_out::FAMILIES).chain(&catalog::STREAMS);
    for family in families {
        for (family, kernels) in run.wanted(std::slice::from_ref(family)) {
            let workload = (family.workload)();
            for kernel in kernels {
                let title = family.title(kernel);
                eprintln!("  {title}");
                match alone(run, &device, kernel, &workload) {
                    Err(error) => report.failures.push(format!("{title}: {error:#}")),
                    Ok(seconds) => {
                        let row = |unit: &'static str, ours| Row {
                            group: GROUP.into(),
                            name: title.clone(),
                            unit: unit.into(),
                            ours,
                            baseline: None,
                            ratio: None,
                            interval: None,
                            rounds: None,
                            at_least: None,
                        };
                        report.rows.extend([row("ms", seconds * 1e3), row(workload.unit, workload.work / seconds)]);
                    }
                }
            }
        }
    }
    Ok(report)
}

fn alone(run: &Run, device: &Arc<dyn Device>, kernel: &Kernel, workload: &Workload) -> Result<f64> {
    let ready = Ready::new(device, kernel, workload)?;
    checked(&ready, workload)?;
    let taken = measure::rounds(&mut [&mut || ready.turn()], run.rounds)?;
    workload.check(&ready.output()?)?;
    Ok(statistics::median(&taken.concat()))
}

/// One run whose output was spoiled before, and is checked. It also is the turn that does not count.
fn checked(ready: &Ready, workload: &Workload) -> Result<()> {
    ready.spoil()?;
    ready.turn()?;
    workload.check(&ready.output()?)
}

/// A driver against itself, and our vulkan driver against a plain program.
fn controls(run: &Run, vulkan: &Arc<dyn Device>, report: &mut Report) -> Result<()> {
    let bare = Bare::new()?;
    let device = driver::open(&*run.cpu)?;
    for family in &catalog::FAMILIES {
        for kernel in family.kernels.iter().filter(|kernel| kernel.is_control) {
            let title = family.title(kernel);
            eprintln!("  control: {title}");
            let workload = (family.workload)();
            let (cpu, own) = (Ready::new(&device, kernel, &workload)?, Ready::new(vulkan, kernel, &workload)?);
            let plain = bare.ready(kernel, &workload)?;
            checked(&cpu, &workload)?;
            checked(&own, &workload)?;
            plain.turn()?;
            workload.check(&plain.output()?)?;
            let taken = measure::rounds(
                &mut [&mut || cpu.turn(), &mut || cpu.turn(), &mut || own.turn(), &mut || plain.turn()],
                run.rounds,
            )?;
            workload.check(&own.output()?)?;
            let [first, second, own, plain] = &taken[..] else { bail!("{} contestants", taken.len()) };
            let same = measure::compare(first, second);
            if (same.ratio.median - 1.0).abs() > NOISE {
                report.failures.push(format!(
                    "VOID: {title} took {:.3} times as long as itself; the machine is too busy for any figure here to count",
                    same.ratio.median
                ));
            }
            let speed = |seconds| workload.work / seconds;
            let row = |name: String, pair| Row::paired(GROUP, name, &pair, "s").shown(workload.unit, speed);
            report.rows.push(row(format!("control: {title}, cpu / itself"), same));
            let pair = measure::compare(own, plain);
            report.rows.push(row(format!("control: {title}, vulkan driver / plain wgpu"), pair).at_least(Some(0.9)));
        }
    }
    Ok(())
}

/// The cpu driver against our vulkan driver. Answers the ratios of each kernel.
fn against_lavapipe(run: &Run, vulkan: &Arc<dyn Device>, families: &[Family], report: &mut Report) -> Vec<Ratios> {
    let mut all = Vec::new();
    for (family, kernels) in run.wanted(families) {
        let workload = (family.workload)();
        for kernel in kernels {
            let title = family.title(kernel);
            eprintln!("  {title}");
            match duel(run, vulkan, kernel, &workload) {
                Err(error) => report.failures.push(format!("{title}: {error:#}")),
                Ok((ours, baseline)) => {
                    let pair = measure::compare(&ours, &baseline);
                    let row = Row::paired(GROUP, format!("{title} / lavapipe"), &pair, "s").at_least(kernel.at_least);
                    report.rows.push(row.shown(workload.unit, |seconds| workload.work / seconds));
                    all.push(measure::ratios(&ours, &baseline));
                }
            }
        }
    }
    all
}

fn duel(run: &Run, vulkan: &Arc<dyn Device>, kernel: &Kernel, workload: &Workload) -> Result<(Vec<f64>, Vec<f64>)> {
    // A device of its own, so that none inherits another one's memory.
    let device = driver::open(&*run.cpu)?;
    let ours = Ready::new(&device, kernel, workload).context("cpu")?;
    let theirs = Ready::new(vulkan, kernel, workload).context("vulkan")?;
    checked(&ours, workload).context("cpu")?;
    checked(&theirs, workload).context("vulkan")?;
    let taken = measure::rounds(&mut [&mut || ours.turn(), &mut || theirs.turn()], run.rounds)?;
    workload.check(&ours.output()?).context("cpu")?;
    workload.check(&theirs.output()?).context("vulkan")?;
    let [ours, theirs] = <[Vec<f64>; 2]>::try_from(taken).map_err(|taken| anyhow::anyhow!("{} series", taken.len()))?;
    Ok((ours, theirs))
}

fn held_out_mean(run: &Run, ratios: &[Ratios], rows: &mut Vec<Row>) {
    if ratios.is_empty() {
        eprintln!("  held out: no kernels yet");
        return;
    }
    let samples: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
    let mean = statistics::geometric_mean(&samples);
    rows.push(Row {
        group: GROUP.into(),
        name: format!("held out, geometric mean of {} / lavapipe", ratios.len()),
        unit: "times".into(),
        ours: mean.median,
        baseline: Some(1.0),
        ratio: Some(mean.median),
        interval: Some([mean.low, mean.high]),
        rounds: Some(run.rounds),
        at_least: Some(held_out::AT_LEAST),
    });
}

/// The cpu driver against native code with as many threads.
fn against_native(run: &Run, report: &mut Report) {
    let products = catalog::FAMILIES.iter().filter(|family| family.kernels.iter().any(|kernel| kernel.name == catalog::STRIDED));
    let native: [(&str, f64, fn(&mut Memory) -> Result<f64>); 2] =
        [("gemm", 0.15, Memory::gemm), ("native", 0.8, Memory::stream)];
    for family in products.chain(&catalog::STREAMS) {
        let is_product = family.kernels.len() > 1;
        let [product, stream] = &native;
        let (name, at_least, turn) = if is_product { product } else { stream };
        for kernel in family.kernels.iter().filter(|kernel| !is_product || kernel.name == catalog::STRIDED) {
            let title = family.title(kernel);
            if !run.wants(&title) {
                continue;
            }
            eprintln!("  {title} / {name}");
            let workload = (family.workload)();
            match native_duel(run, kernel, &workload, *turn) {
                Err(error) => report.failures.push(format!("{title} / {name}: {error:#}")),
                Ok(pair) => {
                    let row = Row::paired(GROUP, format!("{title} / {name}"), &pair, "s").at_least(Some(*at_least));
                    report.rows.push(row.shown(workload.unit, |seconds| workload.work / seconds));
                }
            }
        }
    }
}

fn native_duel(
    run: &Run,
    kernel: &Kernel,
    workload: &Workload,
    turn: fn(&mut Memory) -> Result<f64>,
) -> Result<measure::Pair> {
    let device = driver::open(&*run.cpu)?;
    let ours = Ready::new(&device, kernel, workload)?;
    checked(&ours, workload)?;
    let mut memory = Memory::new(workload);
    turn(&mut memory)?;
    workload.check(memory.output())?;
    let taken = measure::rounds(&mut [&mut || ours.turn(), &mut || turn(&mut memory)], run.rounds)?;
    workload.check(&ours.output()?)?;
    let [ours, native] = &taken[..] else { bail!("{} contestants", taken.len()) };
    Ok(measure::compare(ours, native))
}

/// Has first dispatches measured in a process without Mesa's cache.
fn first_dispatches(run: &Run) -> Result<Vec<Row>> {
    eprintln!("  first dispatches");
    let mut command = machine::uncached()?;
    command.args(["--first-dispatches", "--rounds", &run.rounds.to_string(), GROUP]).args(&run.filter);
    let output = command.stderr(Stdio::inherit()).output().context("starting the process for first dispatches")?;
    if !output.status.success() {
        bail!("the process for first dispatches failed: {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("reading the rows of first dispatches")
}

/// What that process does: prints rows as JSON.
///
/// # Errors
/// What keeps any of it from being measured.
pub fn print_first_dispatches(arguments: &Arguments) -> Result<()> {
    let run = Run::new(arguments)?;
    let rows = latency::first_dispatches(&run, &*vulkan()?)?;
    println!("{}", serde_json::to_string(&rows)?);
    Ok(())
}

/// Says at the end what the table alone does not.
pub fn conclude(report: &Report) {
    let verdicts: Vec<_> = report.rows.iter().filter_map(Row::verdict).collect();
    let met = verdicts.iter().filter(|verdict| **verdict == table::Verdict::Met).count();
    println!("{met} of {} bars met", verdicts.len());
    report.failures.iter().for_each(|failure| println!("{failure}"));
}

//! Kernels on the cpu driver beside the same kernels on Mesa's lavapipe and beside native code, with two threads each.
//!
//! What may be concluded from a figure rests on this:
//!
//! - Contestants take turns, and the ratio is the median of at least 31 rounds' own ratios; a bar is met if the lower end of its 95 %
//!   interval meets it. Controls let the cpu driver run against itself: if one is not 1 within 5 %, the run says nothing.
//! - Both drivers get the same bytes of WGSL, with bounds checks and bounds of loops, which they always have. Other controls compare our vulkan
//!   driver with a plain program over wgpu.
//! - Every contestant's output, which holds no number at first, is compared with a reference in f64, after the turn that does not count and after
//!   the last one that does.
//! - Throughput is measured with Mesa's cache of compiled kernels, first dispatches without: in another process, on a new device each.
//! - An invocation makes fewer than 60,000 iterations: lavapipe ends it, without a word, after 65,535.
//! - The process is kept on two processors. A machine that has other work is told by the load that is printed, and by the controls.

mod alone;
mod bare;
mod catalog;
mod contest;
pub mod counter;
pub mod driver;
mod held_out;
mod host;
mod latency;
pub mod machine;
mod plain;
mod reference;
pub mod stops;
mod workload;

pub use bare::measure as bare;

use crate::{
    Arguments, measure, statistics,
    table::{Report, Row},
};
use anyhow::{Context, Result, bail};
use catalog::{Baseline, Family, Kernel};
use contest::{Contestant, Named, contest};
use driver::Ready;
use hal_driver::{Device, Driver};
use hal_driver_cpu::CpuFactory;
use hal_driver_wgpu::WgpuFactory;
use host::{Memory, Routine};
use plain::Plain;
use std::{process::Stdio, rc::Rc, sync::Arc};
use workload::Workload;

/// What the rows belong to.
pub const GROUP: &str = "kernels";

/// Threads of each contestant.
pub const THREADS: usize = 2;

/// How far from 1 a contestant may be from itself.
const NOISE: f64 = 0.05;

/// What a run of this group needs.
struct Run {
    cpu_factory: CpuFactory,
    cpu: Arc<dyn Driver>,
    filter: Option<String>,
    rounds: usize,
}

impl Run {
    fn new(arguments: &Arguments) -> Result<Self> {
        machine::pin()?;
        let cpu_factory = CpuFactory::new(hal_driver_cpu::Config::new().workers(THREADS))?;
        let cpu = driver::driver(&cpu_factory, "local-task")?;
        Ok(Self { cpu_factory, cpu, filter: arguments.kernel.clone(), rounds: arguments.rounds })
    }

    fn wants(&self, title: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| title.contains(filter))
    }

    /// Hands every kernel that is wanted over, under its title and with its workload. Answers why some failed.
    fn each_kernel<'a>(
        &self,
        families: impl IntoIterator<Item = &'a Family>,
        mut each: impl FnMut(String, &Kernel, &Workload) -> Result<()>,
    ) -> Vec<String> {
        let mut failures = Vec::new();
        for family in families {
            let mut workload = None;
            for kernel in family.kernels {
                let title = family.title(kernel);
                if !self.wants(&title) {
                    continue;
                }
                eprintln!("  {title}");
                let workload = workload.get_or_insert_with(family.workload);
                if let Err(error) = each(title.clone(), kernel, workload) {
                    failures.push(format!("{title}: {error:#}"));
                }
            }
        }
        failures
    }
}

/// Measures the group.
///
/// # Errors
/// What keeps any of it from being measured; a kernel that fails is in the report.
pub fn measure(arguments: &Arguments, report: &mut Report) -> Result<()> {
    let run = Run::new(arguments)?;
    let vulkan = vulkan()?;
    println!("{}", machine::describe(&*vulkan));
    let others = Others { vulkan: driver::open(&*vulkan)?, plain: Plain::new()? };
    figures(&run, &others, &catalog::FAMILIES, report);
    let held_out = figures(&run, &others, &held_out::FAMILIES, report);
    report.rows.extend(held_out_mean(&run, &held_out));
    // What was measured before counts, whatever comes of these.
    let mut rest = vec![("first dispatches", first_dispatches(&run))];
    if run.filter.is_none() {
        rest.push(("latencies", latency::measure(&run)));
    }
    for (what, rows) in rest {
        match rows {
            Ok(rows) => report.rows.extend(rows),
            Err(error) => report.failures.push(format!("{what}: {error:#}")),
        }
    }
    Ok(())
}

fn vulkan() -> Result<Arc<dyn Driver>> {
    driver::driver(&WgpuFactory::new(hal_driver_wgpu::Config::new()), "vulkan")
}

/// Those beside whom the cpu driver is measured, as far as they are there all the time.
struct Others {
    vulkan: Arc<dyn Device>,
    plain: Plain,
}

impl Others {
    fn contestant<'a>(
        &'a self,
        baseline: Baseline,
        ours: &Rc<Ready>,
        kernel: &Kernel,
        workload: &Workload,
    ) -> Result<Box<dyn Contestant + 'a>> {
        Ok(match baseline {
            Baseline::Lavapipe => Box::new(Rc::new(Ready::new(&self.vulkan, kernel, workload)?)),
            Baseline::Gemm => Box::new(Memory::new(workload, Routine::Gemm)),
            Baseline::Loop => Box::new(Memory::new(workload, Routine::Loop)),
            Baseline::Itself => Box::new(ours.clone()),
            Baseline::PlainWgpu => Box::new(self.plain.ready(kernel, workload)?),
        })
    }
}

/// Adds a row for each kernel and baseline. Answers the ratios, by round, of each kernel to lavapipe.
fn figures(run: &Run, others: &Others, families: &[Family], report: &mut Report) -> Vec<Vec<f64>> {
    let (mut rows, mut void, mut to_lavapipe) = (Vec::new(), Vec::new(), Vec::new());
    let failures = run.each_kernel(families, |title, kernel, workload| {
        let taken = turns(run, others, kernel, workload)?;
        let [cpu, baselines @ ..] = &taken[..] else { bail!("there was no contestant") };
        let beside = || kernel.beside.iter().zip(baselines);
        let lavapipe = beside().find(|((baseline, _), _)| *baseline == Baseline::Lavapipe).map(|(_, taken)| taken);
        for ((baseline, at_least), taken) in beside() {
            let (ours, title) = match baseline {
                Baseline::PlainWgpu => (lavapipe.context("lavapipe is missing")?, format!("{title} on lavapipe")),
                _ => (cpu, title.clone()),
            };
            let pair = measure::compare(ours, taken);
            match baseline {
                Baseline::Lavapipe => to_lavapipe.push(measure::ratios(ours, taken)),
                Baseline::Itself if (pair.ratio.median - 1.0).abs() > NOISE => void.push(format!(
                    "VOID: {title} was {:.3} times as fast as itself: the machine is too busy for a figure to count",
                    pair.ratio.median
                )),
                _ => {}
            }
            let row = Row::paired(GROUP, format!("{title} / {}", baseline.name()), &pair, "s").at_least(*at_least);
            rows.push(row.shown(workload.unit, |seconds| workload.work / seconds));
        }
        Ok(())
    });
    report.rows.extend(rows);
    report.failures.extend(void.into_iter().chain(failures));
    to_lavapipe
}

/// The seconds that the cpu driver took, then those of each baseline.
fn turns(run: &Run, others: &Others, kernel: &Kernel, workload: &Workload) -> Result<Vec<Vec<f64>>> {
    // A device of its own, so that none inherits another one's memory.
    let device = driver::open(&*run.cpu)?;
    let ours = Rc::new(Ready::new(&device, kernel, workload).context("cpu")?);
    let mut contestants: Vec<Named<'_>> = vec![("cpu", Box::new(ours.clone()))];
    for (baseline, _) in kernel.beside {
        let name = baseline.name();
        contestants.push((name, others.contestant(*baseline, &ours, kernel, workload).context(name)?));
    }
    contest(&mut contestants, workload, run.rounds)
}

fn held_out_mean(run: &Run, ratios: &[Vec<f64>]) -> Option<Row> {
    if ratios.is_empty() {
        return None;
    }
    let samples: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
    let mean = statistics::geometric_mean(&samples);
    Some(Row {
        group: GROUP.into(),
        name: format!("held out, geometric mean of {} / lavapipe", ratios.len()),
        unit: "times".into(),
        ours: mean.median,
        baseline: Some(1.0),
        ratio: Some(mean.median),
        interval: Some([mean.low, mean.high]),
        rounds: Some(run.rounds),
        at_least: Some(held_out::AT_LEAST),
    })
}

/// Has first dispatches measured in a process without Mesa's cache.
fn first_dispatches(run: &Run) -> Result<Vec<Row>> {
    eprintln!("  first dispatches");
    let mut command = machine::uncached()?;
    command.args(["--first-dispatches", "--rounds", &run.rounds.to_string()]);
    command.args(run.filter.iter().flat_map(|filter| ["--kernel", filter]));
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

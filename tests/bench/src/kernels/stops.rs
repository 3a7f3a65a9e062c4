//! How long kernels run on that have to stop: at their deadline, or because their tenant ends.
//!
//! Every kernel of the catalog has its grid repeated along z, which none of them looks at, so that one dispatch does its usual work for many
//! seconds. Besides there are those that were built to last. What is measured ends when the waiting thread has been told, so the noise of the
//! machine is in it: threads that do nothing but look at the clock show how much that is.

use super::{
    Run, THREADS,
    catalog::{self, ENDLESS, FAMILIES, Kernel},
    driver::{self, Bound, PATIENCE, Ready},
    held_out,
    workload::Workload,
};
use crate::{
    Arguments, statistics,
    table::{Report, Row, Verdict},
};
use anyhow::{Result, bail};
use hal_driver::{Code, Control, Device, Error};
use std::{
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

/// What the rows belong to.
pub const GROUP: &str = "stops";

/// Stops of a kernel in each round: with the usual rounds, as many as a 99th percentile needs.
const EACH: usize = 7;

/// Most milliseconds that a kernel may run on.
const BAR: f64 = 10.0;

/// Milliseconds at the 99th percentile by which the machine alone may have a thread run on, for a missed bar to count.
const NOISE: f64 = 1.0;

/// Memory that nobody has touched: more than can be met within the time that a kernel runs here.
const FRESH_BYTES: u64 = 1 << 30;

/// Most workgroups along one axis, and in all.
const MAX_SIDE: u64 = 65_535;
const MAX_WORKGROUPS: u64 = MAX_SIDE * MAX_SIDE;

/// Why a kernel has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Deadline,
    Tenant,
}

impl End {
    const ALL: [Self; 2] = [Self::Deadline, Self::Tenant];

    fn name(self) -> &'static str {
        match self {
            Self::Deadline => "its deadline",
            Self::Tenant => "its tenant's end",
        }
    }

    fn code(self) -> Code {
        match self {
            Self::Deadline => Code::DeadlineExceeded,
            Self::Tenant => Code::Cancelled,
        }
    }
}

/// Measures the group.
///
/// # Errors
/// What keeps any of it from being measured; a kernel that fails is in the report.
pub fn measure(arguments: &Arguments, report: &mut Report) -> Result<()> {
    let run = Run::new(arguments)?;
    let mut stops = Stops { rounds: run.rounds, all: Default::default(), noise: Vec::new(), rows: Vec::new() };
    let families = FAMILIES.iter().chain(&held_out::FAMILIES).chain(&ENDLESS);
    let failures = run.each_kernel(families, |title, kernel, workload| {
        let ready = long(&run, kernel, workload)?;
        stops.take(&title, |end, at| stop(&ready, end, time(at)))
    });
    let title = "built to last: new pages";
    if run.wants(title) {
        eprintln!("  {title}");
        let device = driver::open(&*run.cpu)?;
        stops.take(title, |end, at| stop(&fresh(&device)?, end, Duration::from_millis(1 + at as u64 % 7)))?;
    }
    stops.report(report);
    report.failures.extend(failures);
    Ok(())
}

/// What was measured so far, in milliseconds.
struct Stops {
    rounds: usize,
    /// Of all kernels, by [`End::ALL`].
    all: [Vec<f64>; 2],
    /// Of threads that only look at the clock.
    noise: Vec<f64>,
    rows: Vec<Row>,
}

impl Stops {
    /// Stops one kernel as often as it takes; `stop` is told how and which time it is.
    fn take(&mut self, title: &str, mut stop: impl FnMut(End, usize) -> Result<f64>) -> Result<()> {
        for (end, all) in End::ALL.into_iter().zip(&mut self.all) {
            // The first one makes instances, and does not count.
            stop(end, 0)?;
            let mut late = (0..self.rounds * EACH).map(|at| stop(end, at)).collect::<Result<Vec<f64>>>()?;
            all.extend(&late);
            let [_, p99, _] = summary(&format!("{title}, past {}", end.name()), &mut late);
            self.rows.push(p99.at_least(Some(1.0)));
        }
        for at in 0..self.rounds {
            self.noise.push(clocks(time(at))?);
        }
        Ok(())
    }

    fn report(mut self, report: &mut Report) {
        for (end, mut late) in End::ALL.into_iter().zip(self.all).filter(|(_, late)| !late.is_empty()) {
            let [median, p99, most] = summary(&format!("all of them, past {}", end.name()), &mut late);
            self.rows.extend([median, p99.at_least(Some(1.0)), most]);
        }
        if !self.noise.is_empty() {
            let [_, p99, _] = summary("threads that only look at the clock, past a deadline", &mut self.noise);
            if p99.ours > NOISE && self.rows.iter().any(|row| row.verdict() == Some(Verdict::Missed)) {
                report.failures.push(format!(
                    "VOID: threads that only look at the clock were {:.1} ms late: the machine is too busy for a missed bar to count",
                    p99.ours
                ));
            }
            self.rows.push(p99);
        }
        report.rows.extend(self.rows);
    }
}

/// A kernel whose one dispatch takes longer than anybody waits.
fn long(run: &Run, kernel: &Kernel, workload: &Workload) -> Result<Ready> {
    let [x, y, _] = kernel.groups;
    let z = (MAX_WORKGROUPS / (u64::from(x) * u64::from(y)).max(1)).min(MAX_SIDE);
    let groups = [x, y, u32::try_from(z)?];
    Bound::new(&driver::open(&*run.cpu)?, workload)?.load(kernel.source, &workload.constants, groups, 1)
}

/// A kernel that meets new memory all the time.
fn fresh(device: &Arc<dyn Device>) -> Result<Ready> {
    Bound::untouched(device, FRESH_BYTES)?.load(catalog::FRESH, &[], [64, 64, MAX_SIDE as u32], 1)
}

/// How long a kernel runs before it has to stop: not always the same, as it looks at the clock in steps of its own.
fn time(stop: usize) -> Duration {
    Duration::from_micros(6_000 + 370 * (stop % 11) as u64)
}

/// Milliseconds from its end to when the waiting thread knows of it.
fn stop(ready: &Ready, end: End, time: Duration) -> Result<f64> {
    let deadline = Instant::now() + time;
    let limit = match end {
        End::Deadline => deadline,
        End::Tenant => deadline + PATIENCE,
    };
    let control = Arc::new(Control::new(Some(limit)));
    let submitted = ready.submit(&control);
    let begin = match end {
        End::Deadline => deadline,
        End::Tenant => {
            thread::sleep(time);
            let now = Instant::now();
            // What the host does with all that a tenant has submitted.
            control.stop(Error::new(Code::Cancelled, "the tenant ends"));
            now
        }
    };
    let outcome = submitted.wait()?;
    let late = begin.elapsed();
    match outcome {
        Ok(_) => bail!("it ended by itself"),
        Err(error) if error.code == end.code() => Ok(milliseconds(late)),
        Err(error) => Err(error.into()),
    }
}

/// As [`stop`], of as many threads as run kernels.
fn clocks(time: Duration) -> Result<f64> {
    let deadline = Instant::now() + time;
    let (sender, receiver) = mpsc::channel::<()>();
    for _ in 0..THREADS {
        let sender = sender.clone();
        thread::Builder::new().spawn(move || {
            while Instant::now() < deadline {
                std::hint::spin_loop();
            }
            drop(sender);
        })?;
    }
    drop(sender);
    // It ends when the last sender is gone.
    receiver.iter().for_each(drop);
    Ok(milliseconds(deadline.elapsed()))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Median, 99th percentile and maximum, without bars.
fn summary(name: &str, late: &mut [f64]) -> [Row; 3] {
    let figures = [statistics::median(late), statistics::quantile(late, 0.99), statistics::quantile(late, 1.0)];
    let [median, p99, most] = figures;
    eprintln!("    {name}: median {median:.2}, p99 {p99:.2}, most {most:.2} ms");
    let row = |what: &str, figure: f64| {
        Row::bounded(GROUP, format!("{name}, {what}"), "ms", statistics::estimate(&[figure]), BAR).at_least(None)
    };
    [row("median", median), row("p99", p99), row("most", most)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::workload;

    #[test]
    fn stops_are_told_from_ends() {
        let factory = hal_driver_cpu::CpuFactory::new(hal_driver_cpu::Config::new().workers(2)).unwrap();
        let device = driver::open(&*driver::driver(&factory, "local-task").unwrap()).unwrap();
        let workload = workload::add(1024);
        let ready = |groups| Bound::new(&device, &workload).unwrap().load(catalog::ADD, &[], groups, 1).unwrap();
        for end in End::ALL {
            assert!(stop(&ready([4, 1, 65_535]), end, time(1)).unwrap() < 1e4);
            assert_eq!(stop(&ready([4, 1, 1]), end, time(1)).unwrap_err().to_string(), "it ended by itself");
        }
        assert!(clocks(time(2)).unwrap() < 1e4);
    }

    #[test]
    fn the_bar_is_met_by_what_takes_less() {
        let [median, p99, most] = summary("s", &mut [1.0, 2.0, 3.0, 20.0]);
        assert_eq!([median.ours, p99.ours, most.ours], [3.0, 20.0, 20.0]);
        assert_eq!((median.ratio, most.ratio), (Some(BAR / 3.0), Some(0.5)));
    }
}

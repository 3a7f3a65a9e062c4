//! The machine and its settings: what a figure is worth nothing without.

use super::{THREADS, driver};
use anyhow::{Context, Result, bail};
use hal_driver::Driver;
use std::{env, fs, process::Command};

/// Mesa's threads; read when its library is loaded.
const MESA_THREADS: &str = "LP_NUM_THREADS";

/// Any of them switches Mesa's cache of compiled kernels off, the second under its old name. Mesa then compiles some kernels again for every
/// dispatch.
const UNCACHED: [&str; 2] = ["MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE"];

/// Whether this process was started as throughput demands.
pub fn is_set() -> bool {
    let is_uncached = UNCACHED.iter().any(|variable| env::var_os(variable).is_some());
    env::var(MESA_THREADS).is_ok_and(|threads| threads == THREADS.to_string()) && !is_uncached
}

/// This program again, with Mesa's settings in its environment, and with the same arguments.
///
/// # Errors
/// The program's path is not known.
pub fn again() -> Result<Command> {
    let mut command = program()?;
    command.args(env::args_os().skip(1));
    for variable in UNCACHED {
        command.env_remove(variable);
    }
    Ok(command)
}

/// This program again, without Mesa's cache.
///
/// # Errors
/// The program's path is not known.
pub fn uncached() -> Result<Command> {
    let mut command = program()?;
    command.envs(UNCACHED.map(|variable| (variable, "true")));
    Ok(command)
}

fn program() -> Result<Command> {
    let mut command = Command::new(env::current_exe().context("finding this program")?);
    command.env(MESA_THREADS, THREADS.to_string());
    Ok(command)
}

/// Keeps this thread, and those that it starts, on as many processors as contestants have threads.
///
/// # Errors
/// There are fewer.
#[cfg(target_os = "linux")]
pub fn pin() -> Result<()> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let all = sched_getaffinity(None)?;
    let mut few = CpuSet::new();
    (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).take(THREADS).for_each(|cpu| few.set(cpu));
    if few.count() as usize != THREADS {
        bail!("{} processors; the figures are defined for {THREADS}", few.count());
    }
    Ok(sched_setaffinity(None, &few)?)
}

/// Elsewhere the system decides.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn pin() -> Result<()> {
    Ok(())
}

/// What has to be known about a machine to judge its figures.
pub fn describe(vulkan: &dyn Driver) -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model =
        cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name);
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let known = |text: &str| if text.trim().is_empty() { "unknown".to_owned() } else { text.trim().to_owned() };
    let device = driver::in_software(vulkan).and_then(|device| Ok(vulkan.details(&device.path)?));
    let details = device.unwrap_or_default();
    format!(
        "processor: {}; governor: {}; load: {}\nvulkan: {}; {THREADS} threads each",
        known(model.unwrap_or_default()),
        known(&governor),
        known(&read("/proc/loadavg")),
        known(details.lines().next().unwrap_or_default()),
    )
}

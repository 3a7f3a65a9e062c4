//! Tenants: how fast one starts, and what an idle one costs.

use crate::{measure::each, statistics::quantile, table::Row};
use anyhow::{Context, Result};
use hal_core::{Grant, Session};
use hal_driver_cpu::CpuFactory;
use hal_driver_null::NullFactory;
use hal_host::{Host, Program, State, Tenant, TenantOptions};
use std::{sync::Arc, time::Instant};
use tokio::runtime::Runtime;
use wasmtime::{
    Store,
    component::{InstancePre, Linker},
};

/// Tenants started and dropped by turns.
const STARTS: usize = 500;

/// Tenants alive at one time when memory is measured.
const IDLE: usize = 500;

/// A host with the guest that makes the calls.
pub struct Bench {
    pub runtime: Runtime,
    host: Host,
    program: Program,
}

/// What a tenant is granted: the cpu driver's three names, then null.
///
/// # Errors
/// The cpu driver's own.
pub fn factories() -> Result<Vec<Arc<dyn hal_driver::Factory>>> {
    let cpu = CpuFactory::new(hal_driver_cpu::Config::new().workers(2))?;
    Ok(vec![Arc::new(cpu), Arc::new(NullFactory::new())])
}

impl Bench {
    /// Loads the guest.
    ///
    /// # Errors
    /// If `cargo xtask guests` has not been run.
    pub fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let registry = hal_test_support::component("registry")?;
        let mut builder = Host::builder().compile_in_process().registry_component(registry);
        for factory in factories()? {
            builder = builder.driver(factory);
        }
        let host = builder.build()?;
        let program = runtime.block_on(host.load(&hal_test_support::component("bench_calls")?))?;
        Ok(Self { runtime, host, program })
    }

    /// A session with everything granted.
    ///
    /// # Errors
    /// None expected.
    pub fn session(&self) -> Result<Session> {
        let grants = self.host.factories().iter().cloned().map(Grant::new);
        Ok(grants.fold(self.host.session("bench"), hal_core::SessionBuilder::grant).start()?)
    }

    fn tenant(&self) -> Result<Tenant> {
        let session = self.session()?;
        Ok(self.runtime.block_on(self.host.tenant(&self.program, session, &TenantOptions::new()))?)
    }

    /// A tenant to be called.
    ///
    /// # Errors
    /// None expected.
    pub fn guest(&self) -> Result<Guest<'_>> {
        Ok(Guest { bench: self, tenant: self.tenant()? })
    }
}

/// A live tenant.
pub struct Guest<'a> {
    bench: &'a Bench,
    tenant: Tenant,
}

impl Guest<'_> {
    /// Nanoseconds that one of `rounds` repetitions takes.
    ///
    /// # Errors
    /// What the guest answers.
    pub fn each(&mut self, operation: &str, rounds: u32, bytes: usize) -> Result<f64> {
        let input = format!("{operation} {rounds} {bytes}");
        each(rounds, || {
            let call = self.tenant.call::<(String,), (Result<String, String>,)>("run", (input,));
            let (answer,) = self.bench.runtime.block_on(call)?;
            answer.map(drop).map_err(anyhow::Error::msg)
        })
    }
}

/// Measures how fast a tenant starts, beside the same component on an engine without anything of ours in its store but the view.
///
/// # Errors
/// What any of it answers.
pub fn measure() -> Result<Vec<Row>> {
    let bench = Bench::new()?;
    let bare = bare(&bench)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let start = Instant::now();
        let tenant = bench.tenant()?;
        ours.push(start.elapsed().as_nanos() as f64 / 1000.0);
        drop(tenant);

        let session = bench.session()?;
        let state = hal_host::wit::State::new(session);
        let start = Instant::now();
        let mut store = Store::new(bench.host.engine(), state);
        store.set_epoch_deadline(1_000_000);
        let instance = bench.runtime.block_on(bare.instantiate_async(&mut store))?;
        theirs.push(start.elapsed().as_nanos() as f64 / 1000.0);
        drop((instance, store));
    }
    let mut rows = Vec::new();
    for (share, name, at_least) in [(0.5, "p50", Some(1.0 / 1.3)), (0.99, "p99", None)] {
        let (ours, baseline) = (quantile(&mut ours, share), quantile(&mut theirs, share));
        rows.push(Row {
            group: "tenants".into(),
            name: format!("session and instance, {name} / instance alone"),
            unit: "us".into(),
            ours,
            baseline: Some(baseline),
            ratio: Some(baseline / ours),
            interval: None,
            rounds: None,
            at_least,
        });
    }
    Ok(rows)
}

/// The same component over the same interfaces, without grants, limits or deadlines around it.
fn bare(bench: &Bench) -> Result<InstancePre<hal_host::wit::State>> {
    let mut linker = Linker::new(bench.host.engine());
    hal_host::wit::add_to_linker(&mut linker, hal_host::wit::State::view)?;
    Ok(linker.instantiate_pre(bench.program.component())?)
}

/// Measures the memory of tenants that do nothing.
///
/// # Errors
/// What any of it answers.
pub fn idle() -> Result<Vec<Row>> {
    let bench = Bench::new()?;
    // The first ones warm the pools up.
    drop((0..8).map(|_| bench.tenant()).collect::<Result<Vec<Tenant<State>>>>()?);
    let before = resident_bytes()?;
    let tenants = (0..IDLE).map(|_| bench.tenant()).collect::<Result<Vec<_>>>()?;
    let each = resident_bytes()?.saturating_sub(before) as f64 / tenants.len() as f64 / 1024.0;
    drop(tenants);
    Ok(vec![Row {
        group: "tenants".into(),
        name: format!("memory of each of {IDLE} idle tenants"),
        unit: "KiB".into(),
        ours: each,
        // What is wanted: 48 KiB each.
        baseline: Some(48.0),
        ratio: Some(48.0 / each),
        interval: None,
        rounds: None,
        at_least: Some(1.0),
    }])
}

/// Resident memory of this process.
fn resident_bytes() -> Result<u64> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("reading the resident size, which needs Linux")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS line")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_that_is_measured_works() {
        let bench = Bench::new().unwrap();
        let mut guest = bench.guest().unwrap();
        for operation in ["nothing", "ping", "enumerate", "try-create", "create-device", "write", "read", "dispatch"] {
            guest.each(operation, 2, 4096).unwrap();
        }
        assert!(guest.each("unknown", 1, 0).is_err());
    }
}

//! Runs a tenant on the processor: `cargo run -p hal-host --example embed -- FILE.wasm [INPUT]`, for any component that exports
//! `run: func(input: string) -> result<string, string>`, whatever else it imports of `hal:device` and `hal:registry`.
//! For exports with richer types, use wasmtime's `bindgen!` inside `Tenant::run`.

use hal_driver_cpu::{Config, CpuFactory};
use hal_host::{
    Host, TenantOptions,
    hal_core::{Grant, Limit, Limits},
};
use std::{error::Error, sync::Arc};

fn main() -> Result<(), Box<dyn Error>> {
    // First thing: this program is also started to compile tenants, confined.
    hal_host::worker::init();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let component = std::fs::read(arguments.next().ok_or("usage: embed FILE.wasm [INPUT]")?)?;
    let input = arguments.next().unwrap_or_default();

    // The host has the drivers named here and no others.
    let cpu = Arc::new(CpuFactory::new(Config::new())?);
    let host = Host::builder().driver(cpu.clone()).build()?;
    let program = host.load(&component).await?;

    // A tenant has what is granted here and nothing else.
    let grant = Grant::new(cpu).limits(Limits::new().with(Limit::MemoryBytes, 64 << 20));
    let session = host.session("example").grant(grant).start()?;
    let mut tenant = host.tenant(&program, session, &TenantOptions::new()).await?;
    let (answer,): (Result<String, String>,) = tenant.call("run", (input,)).await?;
    println!("{}", answer?);
    Ok(())
}

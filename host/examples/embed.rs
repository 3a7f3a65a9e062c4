//! Runs a tenant on the processor: `cargo run -p hal-host --example embed -- FILE.wasm [INPUT]`, for any component that exports
//! `run: func(input: string) -> result<string, string>`, whatever else it imports of `hal:device` and `hal:registry`.

use hal_driver_cpu::{Config, CpuFactory};
use hal_host::{
    Host, TenantOptions,
    hal_core::{Grant, Limit, Limits},
};
use std::{error::Error, sync::Arc, time::Duration};

wasmtime::component::bindgen!({
    inline: "package example:embed; world app { export run: func(input: string) -> result<string, string>; }",
    exports: { default: async },
});

fn main() -> Result<(), Box<dyn Error>> {
    // First thing: this program is also started as the compiler.
    hal_host::worker::init();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: embed FILE.wasm [INPUT]")?;
    let input = arguments.next().unwrap_or_default();

    // The host has the drivers named here and no others.
    let cpu = Arc::new(CpuFactory::new(Config::new())?);
    let host = Host::builder().driver(cpu.clone()).build()?;
    let program = host.load(&std::fs::read(file)?).await?;

    // A tenant has what is granted here and nothing else.
    let limits = Limits::new().with(Limit::MemoryBytes, 64 << 20).with(Limit::Buffers, 1_000);
    let session = host.session("example").grant(Grant::new(cpu).limits(limits)).start()?;
    let options = TenantOptions::new().call_timeout(Duration::from_secs(10));
    let mut tenant = host.tenant(&program, session, &options).await?;

    let answer = tenant
        .run(async |store, instance| App::new(&mut *store, instance)?.call_run(store, &input).await)
        .await?;
    println!("{}", answer.unwrap_or_else(|complaint| format!("the tenant failed: {complaint}")));
    for grant in tenant.report().session.grants {
        println!("used of {}: {:?}", grant.name, grant.limits.iter().filter(|limit| limit.peak > 0).collect::<Vec<_>>());
    }
    Ok(())
}

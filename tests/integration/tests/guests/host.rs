//! The way from bytes to a tenant, where it needs a whole process: compiling in a child, and the pool's places.

use hal_core::Grant;
use hal_host::{CodeCache, Host, TenantOptions};
use hal_test_support::{component, counted, null, runtime};
use std::time::Duration;

/// A host whose tenants are compiled by a process of their own, started from this crate's program.
#[test]
fn a_child_compiles_what_then_runs() {
    let folder = tempfile::tempdir().unwrap();
    let host = || {
        let builder = Host::builder().registry_component(component("registry").unwrap());
        let builder = builder.code_cache(CodeCache::open(folder.path()).unwrap());
        builder.compile_worker(env!("CARGO_BIN_EXE_compile-worker"), [""; 0]).build().unwrap()
    };
    let bytes = component("ok_buffer_transfer").unwrap();
    // The second host finds what the first one's child wrote.
    for host in [host(), host()] {
        runtime().block_on(async {
            let program = host.load(&bytes).await.unwrap();
            let (factory, counts) = counted(null());
            let session = host.session("child").grant(Grant::new(factory)).start().unwrap();
            let options = TenantOptions::new().call_timeout(Duration::from_secs(60));
            let mut tenant = host.tenant(&program, session, &options).await.unwrap();
            let (answer,) = tenant.call::<_, (Result<String, String>,)>("run", (String::new(),)).await.unwrap();
            assert_eq!(answer, Ok(String::new()));
            drop(tenant);
            counts.wait_for_none(Duration::from_secs(5)).unwrap();
        });
    }
}

/// One tenant more than the host has places for is an error that says so; a place that was given back is used again.
#[test]
fn one_tenant_too_many() {
    let host = Host::builder().registry_component(component("registry").unwrap()).compile_in_process().max_tenants(2);
    let host = host.build().unwrap();
    let bytes = component("deny_nothing_granted").unwrap();
    runtime().block_on(async {
        let program = host.load(&bytes).await.unwrap();
        let start = || async { host.tenant(&program, host.session("t").start().unwrap(), &TenantOptions::new()).await };
        let (first, _second) = (start().await.unwrap(), start().await.unwrap());
        for _ in 0..2 {
            let error = start().await.err().unwrap();
            assert!(matches!(error, hal_host::Error::Exhausted(_)), "{error}");
        }
        drop(first);
        start().await.unwrap();
    });
}

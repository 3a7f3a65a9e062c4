//! Compilation in a child process, and the cache of what it compiled.

use crate::{builder, guests};
use hal_host::{Builder, CodeCache, Error, LoadOptions, Screen, TenantOptions, hal_core::Code, worker::WorkerLimits};
use std::{
    fs,
    time::{Duration, Instant},
};

const WORKER: &str = env!("CARGO_BIN_EXE_hal-compile-worker");

fn in_child() -> Builder {
    builder().compile_worker(WORKER, [""; 0])
}

fn adder() -> Vec<u8> {
    guests::plain(r#"(func (export "f") (param i32) (result i32) local.get 0 i32.const 1 i32.add)"#, &["f"])
}

async fn run(host: &hal_host::Host, bytes: &[u8]) -> u32 {
    let program = host.load(bytes).await.expect("loads");
    let session = host.session("worker").start().expect("a session");
    let mut tenant = host.tenant(&program, session, &TenantOptions::default()).await.expect("starts");
    tenant.call::<(u32,), (u32,)>("f", (41,)).await.expect("runs").0
}

/// What a child compiles without a pool loads into an engine with one.
#[tokio::test]
async fn what_a_child_compiles_runs_here() {
    let host = in_child().build().expect("a host");
    assert!(host.engine().get_pooling_config().is_some());
    assert_eq!(run(&host, &adder()).await, 42);
    let composed = guests::tenant("0.1.0", &["hal:registry/registry"], &[]);
    assert!(host.load(&composed).await.expect("loads").composed());
}

#[tokio::test]
async fn a_child_over_its_memory_is_a_rejection() {
    let limits = WorkerLimits { memory_bytes: 512 << 20, ..WorkerLimits::default() };
    let host = in_child().worker_limits(limits).build().expect("a host");
    let options = LoadOptions { screen: Screen::large(), ..LoadOptions::default() };
    let result = host.load_with(&guests::conditions(40_000, 1_000), &options).await;
    let Err(Error::Rejected(rejection)) = result else { panic!("{result:?}") };
    assert_eq!(rejection.code, Code::ResourceExhausted);
    assert!(rejection.reason.contains("512 MiB"), "{rejection}");
    // The host goes on.
    assert_eq!(run(&host, &adder()).await, 42);
}

#[tokio::test]
async fn a_child_over_its_time_is_a_rejection() {
    let limits = WorkerLimits { cpu: Duration::from_secs(1), ..WorkerLimits::default() };
    let host = in_child().worker_limits(limits).build().expect("a host");
    let options = LoadOptions { screen: Screen::large(), ..LoadOptions::default() };
    let result = host.load_with(&guests::conditions(40_000, 1_000), &options).await;
    let Err(Error::Rejected(rejection)) = result else { panic!("{result:?}") };
    assert_eq!(rejection.code, Code::ResourceExhausted);
    assert!(rejection.reason.contains("processor time"), "{rejection}");

    let limits = WorkerLimits { wall: Duration::from_millis(200), ..WorkerLimits::default() };
    let host = in_child().worker_limits(limits).build().expect("a host");
    let began = Instant::now();
    let result = host.load_with(&guests::conditions(40_000, 1_000), &options).await;
    let Err(Error::Rejected(rejection)) = result else { panic!("{result:?}") };
    assert_eq!(rejection.code, Code::ResourceExhausted);
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_load_that_is_dropped_kills_its_child() {
    let host = builder().compile_worker(WORKER, ["a-load-to-be-dropped"]).build().expect("a host");
    let options = LoadOptions { screen: Screen::large(), ..LoadOptions::default() };
    let bytes = guests::conditions(40_000, 1_000);
    let load = host.load_with(&bytes, &options);
    tokio::time::timeout(Duration::from_millis(300), load).await.expect_err("it takes longer");
    let deadline = Instant::now() + Duration::from_secs(2);
    while workers_with("a-load-to-be-dropped") > 0 {
        assert!(Instant::now() < deadline, "the child lives on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Workers started with this argument, by which a test tells its own from those of tests beside it.
fn workers_with(argument: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("procfs");
    let lines = processes.filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    // The first word is the program; this test's own line may name the argument too, as a filter.
    lines.filter(|line| line.split(|byte| *byte == 0).nth(1) == Some(argument.as_bytes())).count()
}

#[tokio::test]
async fn a_program_that_is_no_worker_is_found_out() {
    for program in ["/bin/true", "/bin/cat"] {
        let host = builder().compile_worker(program, [""; 0]).build().expect("a host");
        let result = host.load(&adder()).await;
        let Err(Error::Worker(text)) = result else { panic!("{result:?}") };
        assert!(text.contains("worker::init"), "{text}");
    }
    let host = builder().compile_worker("/nowhere/at/all", [""; 0]).build().expect("a host");
    assert!(matches!(host.load(&adder()).await, Err(Error::Worker(text)) if text.contains("/nowhere/at/all")));
}

/// The embedder's engine differs from the profile in what compiled code looks like, and the worker does not know.
#[tokio::test]
async fn a_worker_for_another_engine_is_found_out() {
    let mut config = wasmtime::Config::new();
    hal_host::config(&mut config).consume_fuel(true);
    let engine = wasmtime::Engine::new(&config).expect("an engine");
    let host = in_child().engine(engine).build().expect("a host");
    let result = host.load(&adder()).await;
    assert!(matches!(&result, Err(Error::Worker(text)) if text.contains("init_with")), "{result:?}");
}

#[test]
fn without_a_worker_the_builder_says_what_to_do() {
    // This test program never calls `worker::init`.
    match hal_host::Host::builder().registry_component(guests::registry("0.1.0")).build() {
        Err(Error::Setup(text)) => {
            assert!(text.contains("worker::init") && text.contains("compile_in_process"), "{text}")
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("built"),
    }
}

#[tokio::test]
async fn compiled_code_is_found_again_by_the_next_host() {
    let at = tempfile::tempdir().expect("a folder");
    let folder = at.path().join("code");
    let first = in_child().code_cache(CodeCache::open(&folder).expect("a cache")).build().expect("a host");
    assert_eq!(run(&first, &adder()).await, 42);
    let entries = || {
        fs::read_dir(&folder)
            .expect("folder")
            .filter(|entry| entry.as_ref().expect("entry").path().extension().is_some())
    };
    assert_eq!(entries().count(), 1);
    // A worker that cannot compile: only the cache can answer.
    let second = builder()
        .compile_worker("/bin/true", [""; 0])
        .code_cache(CodeCache::open(&folder).expect("a cache"))
        .build()
        .expect("a host");
    assert_eq!(run(&second, &adder()).await, 42);
    // A damaged entry is compiled anew.
    let entry = entries().next().expect("one").expect("entry").path();
    let mut bytes = fs::read(&entry).expect("bytes");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&entry, bytes).expect("written");
    let third = in_child().code_cache(CodeCache::open(&folder).expect("a cache")).build().expect("a host");
    assert_eq!(run(&third, &adder()).await, 42);
}

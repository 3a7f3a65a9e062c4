//! How sessions run and end.

use crate::{builder, guests, host};
use hal_host::{Error, Host, Program, Tenant, TenantOptions, hal_core::Code};
use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

const MODULE: &str = r#"
    (memory (export "memory") 1)
    (func (export "echo") (param i32) (result i32) local.get 0)
    (func (export "loop") (param i32) (result i32) (loop $l (br $l)) unreachable)
    (func (export "trap") (param i32) (result i32) unreachable)
    (func (export "recurse") (param i32) (result i32) local.get 0 call 3)
    (func (export "grow") (param i32) (result i32) local.get 0 memory.grow)
"#;

async fn start(host: &Host, options: &TenantOptions) -> Tenant {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = BYTES.get_or_init(|| guests::plain(MODULE, &["echo", "loop", "trap", "recurse", "grow"]));
    let program = host.load(bytes).await.expect("loads");
    start_program(host, &program, options).await.expect("starts")
}

async fn start_program(host: &Host, program: &Program, options: &TenantOptions) -> hal_host::Result<Tenant> {
    let session = host.session("tenant").start().expect("a session");
    host.tenant(program, session, options).await
}

async fn call(tenant: &mut Tenant, name: &str, n: u32) -> hal_host::Result<u32> {
    tenant.call::<(u32,), (u32,)>(name, (n,)).await.map(|(n,)| n)
}

#[tokio::test]
async fn calls_are_counted_and_missing_exports_are_named() {
    let mut tenant = start(host(), &TenantOptions::default()).await;
    assert_eq!(call(&mut tenant, "echo", 7).await.expect("runs"), 7);
    let missing = call(&mut tenant, "nothing", 7).await.expect_err("missing");
    assert_eq!(missing.code(), Code::NotFound);
    assert!(missing.to_string().contains("echo, loop, trap"), "{missing}");
    let other = tenant.call::<(u64,), (u32,)>("echo", (7,)).await.expect_err("another type");
    assert!(matches!(other, Error::MissingExport { .. }), "{other}");
    // Neither ends the session.
    assert_eq!(call(&mut tenant, "echo", 8).await.expect("runs"), 8);
    let report = tenant.report();
    assert_eq!((report.calls, report.memory_bytes, report.over), (2, 65_536, None));
}

#[tokio::test]
async fn a_trap_ends_the_session_and_no_other() {
    let mut other = start(host(), &TenantOptions::default()).await;
    for (name, trap) in [("trap", "unreachable"), ("recurse", "call stack exhausted")] {
        let mut tenant = start(host(), &TenantOptions::default()).await;
        let error = call(&mut tenant, name, 1).await.expect_err("traps");
        assert!(error.to_string().contains(trap), "{error}");
        let later = call(&mut tenant, "echo", 1).await.expect_err("over");
        assert!(matches!(later, Error::Poisoned(_)) && later.to_string().contains(trap), "{later}");
        assert!(tenant.report().over.is_some());
    }
    assert_eq!(call(&mut other, "echo", 9).await.expect("goes on"), 9);
}

async fn endless() {
    let options = TenantOptions::default().call_timeout(Duration::from_millis(100));
    let mut tenant = start(host(), &options).await;
    let began = Instant::now();
    let error = call(&mut tenant, "loop", 1).await.expect_err("stopped");
    let took = began.elapsed();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    assert!(took >= Duration::from_millis(100) && took < Duration::from_millis(600), "{took:?}");
    let later = call(&mut tenant, "echo", 1).await.expect_err("over");
    assert!(later.to_string().contains("100ms"), "{later}");
}

#[tokio::test]
async fn an_endless_call_is_stopped_on_one_thread() {
    endless().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_call_is_stopped_on_several_threads() {
    endless().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_the_session() {
    let mut tenant = start(host(), &TenantOptions::default()).await;
    tokio::time::timeout(Duration::from_millis(20), call(&mut tenant, "loop", 1)).await.expect_err("dropped");
    let later = call(&mut tenant, "echo", 1).await.expect_err("over");
    assert!(later.to_string().contains("dropped half way"), "{later}");
}

#[tokio::test]
async fn tenants_on_one_thread_take_turns() {
    let options = TenantOptions::default().call_timeout(Duration::from_millis(300));
    let mut looping = start(host(), &options).await;
    let mut other = start(host(), &TenantOptions::default()).await;
    let began = Instant::now();
    let (stopped, echoed) = tokio::join!(call(&mut looping, "loop", 1), async {
        tokio::task::yield_now().await;
        let echoed = call(&mut other, "echo", 5).await;
        (echoed, began.elapsed())
    });
    stopped.expect_err("stopped");
    assert_eq!(echoed.0.expect("runs"), 5);
    assert!(echoed.1 < Duration::from_millis(200), "{:?}", echoed.1);
}

#[tokio::test]
async fn memory_is_bounded_exactly() {
    let options = TenantOptions::default().memory_bytes(3 << 16);
    let mut tenant = start(host(), &options).await;
    assert_eq!(call(&mut tenant, "grow", 2).await.expect("grows"), 1);
    assert_eq!(call(&mut tenant, "grow", 1).await.expect("refused"), u32::MAX);
    assert_eq!(tenant.report().memory_bytes, 3 << 16);
}

#[tokio::test]
async fn an_instance_that_needs_more_than_it_may_is_refused() {
    let host = host();
    for (what, component) in [
        ("memories", instances("(memory 1)", 9)),
        ("tables", instances("(table 1 funcref)", 65)),
        ("instances", instances("", 65)),
        ("memory", instances("(memory 2000)", 1)),
        ("elements", instances("(table 300000 funcref)", 1)),
    ] {
        let program = host.load(&component).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        let Err(error) = start_program(host, &program, &TenantOptions::default()).await else {
            panic!("{what}: started")
        };
        assert!(matches!(error, Error::Trapped { .. }), "{what}: {error}");
    }
}

/// A component of `count` core instances of a module.
fn instances(contents: &str, count: usize) -> Vec<u8> {
    let instances = "(core instance (instantiate $m))".repeat(count);
    guests::text(&format!("(component (core module $m {contents}) {instances})"))
}

#[tokio::test]
async fn a_component_that_exceeds_the_pool_is_allocated_on_demand() {
    let bytes =
        guests::plain(r#"(table 40000 funcref) (func (export "f") (param i32) (result i32) local.get 0)"#, &["f"]);
    let program = host().load(&bytes).await.expect("loads");
    assert!(program.engine().get_pooling_config().is_none());
    let mut tenant = start_program(host(), &program, &TenantOptions::default()).await.expect("starts");
    assert_eq!(call(&mut tenant, "f", 3).await.expect("runs"), 3);
    let bytes = guests::plain(
        r#"(table 40000 funcref) (func (export "f") (param i32) (result i32) (loop $l (br $l)) unreachable)"#,
        &["f"],
    );
    let program = host().load(&bytes).await.expect("loads");
    let options = TenantOptions::default().call_timeout(Duration::from_millis(50));
    let mut tenant = start_program(host(), &program, &options).await.expect("starts");
    // Its epoch advances too.
    assert!(matches!(call(&mut tenant, "f", 3).await, Err(Error::Deadline { .. })));
}

#[tokio::test]
async fn room_is_given_back() {
    let host = builder().max_tenants(2).build().expect("a host");
    let options = TenantOptions::default();
    let one = start(&host, &options).await;
    let _two = start(&host, &options).await;
    let program = host.load(&guests::plain(MODULE, &["echo"])).await.expect("loads");
    let Err(error) = start_program(&host, &program, &options).await else { panic!("no room") };
    assert!(matches!(error, Error::Exhausted(_)) && error.code() == Code::Unavailable, "{error}");
    drop(one);
    start_program(&host, &program, &options).await.expect("room again");
}

/// An embedder's own data and functions, and its calls on a task of their own.
#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_keeps_its_own_store_data() {
    struct Mine {
        state: hal_host::State,
        asked: u32,
    }
    impl AsMut<hal_host::State> for Mine {
        fn as_mut(&mut self) -> &mut hal_host::State {
            &mut self.state
        }
    }
    let bytes = guests::text(
        r#"(component
            (import "ask" (func $ask (result u32)))
            (core func $ask (canon lower (func $ask)))
            (core module $m (import "" "ask" (func $ask (result i32))) (func (export "f") (param i32) (result i32) call $ask))
            (core instance $i (instantiate $m (with "" (instance (export "ask" (func $ask))))))
            (func (export "f") (param "n" u32) (result u32) (canon lift (core func $i "f"))))"#,
    );
    let options = hal_host::LoadOptions { imports: vec!["ask".into()], ..Default::default() };
    let program = host().load_with(&bytes, &options).await.expect("loads");
    let pre = host()
        .instance_pre::<Mine>(&program, |linker| {
            linker.root().func_wrap("ask", |mut store: wasmtime::StoreContextMut<'_, Mine>, (): ()| {
                store.data_mut().asked += 1;
                Ok((store.data().asked,))
            })
        })
        .expect("links");
    let session = host().session("mine").start().expect("a session");
    let mut tenant = host()
        .tenant_with(&pre, &program, session, &TenantOptions::default(), |state| Mine { state, asked: 5 })
        .await
        .expect("starts");
    let answer = tokio::spawn(async move {
        let answer = tenant
            .run(async |store, instance| {
                let function = instance.get_typed_func::<(u32,), (u32,)>(&mut *store, "f")?;
                function.call_async(&mut *store, (0,)).await
            })
            .await;
        (answer, tenant.data().asked)
    });
    let (answer, asked) = answer.await.expect("joins");
    assert_eq!((answer.expect("runs"), asked), ((6,), 6));
}

#[test]
fn a_weaker_engine_is_named_setting_by_setting() {
    let engine = wasmtime::Engine::default();
    let Err(error) = builder().engine(engine.clone()).build() else { panic!("built") };
    let text = error.to_string();
    for part in ["epoch_interruption is off", "wasm_memory64", "wasm_tail_call", "wasm_threads"] {
        assert!(text.contains(part), "{text}");
    }
    let host = builder().engine(engine).accept_weaker_engine().build().expect("accepted");
    assert!(host.weaknesses().len() >= 4);
    let mut config = wasmtime::Config::new();
    hal_host::config(&mut config);
    let host = builder().engine(wasmtime::Engine::new(&config).expect("an engine")).build().expect("as strong");
    assert!(host.weaknesses().is_empty());
    let mut config = wasmtime::Config::new();
    hal_host::config(&mut config).wasm_multi_memory(false);
    let Err(error) = builder().engine(wasmtime::Engine::new(&config).expect("an engine")).build() else {
        panic!("built")
    };
    assert!(matches!(error, Error::Setup(_)), "{error}");
}

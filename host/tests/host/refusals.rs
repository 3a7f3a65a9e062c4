//! What must be refused is refused at once and in little memory.

use crate::{builder, guests, host};
use hal_host::{
    Error, LoadOptions, Rejection, Screen,
    hal_core::{Code, audit},
};
use std::{
    fs,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// Bytes that a refusal may take beyond the component itself; other tests run beside it.
const MEMORY_BYTES: u64 = 256 << 20;

fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") << 10
}

async fn refuse(what: &str, bytes: &[u8]) -> Rejection {
    // Resets the peak.
    fs::write("/proc/self/clear_refs", "5").expect("procfs");
    let before = peak_bytes();
    let began = Instant::now();
    let result = host().load(bytes).await;
    let took = began.elapsed();
    let grown = peak_bytes().saturating_sub(before);
    assert!(took < Duration::from_secs(1), "{what}: {took:?}");
    assert!(grown < MEMORY_BYTES, "{what}: {grown} bytes");
    match result {
        Err(Error::Rejected(rejection)) => rejection,
        other => panic!("{what}: {other:?}"),
    }
}

#[tokio::test]
async fn what_is_no_component_is_refused_by_name() {
    let whole = guests::plain(r#"(func (export "f") (param i32) (result i32) local.get 0)"#, &["f"]);
    host().load(&whole).await.expect("the original is accepted");
    for cut in [1, 4, 7, 9, 20, whole.len() / 2, whole.len() - 1] {
        let rejection = refuse("truncated", &whole[..cut]).await;
        assert_eq!(rejection.code, Code::InvalidArgument, "{cut}: {rejection}");
    }
    let rejection = refuse("core module", &guests::text("(module)")).await;
    assert!(rejection.reason.contains("core module") && rejection.reason.contains("component new"), "{rejection}");
    assert!(refuse("nothing", b"").await.reason.contains("shorter"));
    assert!(refuse("text", b"(component)").await.reason.contains("not WebAssembly"));
    let zeros = vec![0; 100 << 20];
    let rejection = refuse("zeros", &zeros).await;
    assert_eq!(rejection.code, Code::ResourceExhausted);
    assert!(rejection.reason.contains("104857600 bytes in all; this host takes 8388608"), "{rejection}");
    assert_eq!(refuse("fewer zeros", &zeros[..1 << 20]).await.code, Code::InvalidArgument);
}

#[tokio::test]
async fn shapes_that_cost_the_compiler_gigabytes_are_refused() {
    for (what, bytes) in [
        ("nested 8,000", guests::nested(8_000)),
        ("nested 16,000", guests::nested(16_000)),
        ("nested 64,000", guests::nested(64_000)),
        ("beside one another", guests::beside(300)),
        ("10,000 ifs", guests::conditions(10_000, 1_000)),
        ("40,000 ifs", guests::conditions(40_000, 1_000)),
        ("160,000 ifs", guests::conditions(160_000, 1_000)),
        ("locals", guests::conditions(100, 1_001)),
        ("functions", guests::functions(60_000, 1)),
        ("code", guests::functions(20, 120 << 10)),
    ] {
        let rejection = refuse(what, &bytes).await;
        assert_eq!(rejection.code, Code::ResourceExhausted, "{what}, {} bytes: {rejection}", bytes.len());
        assert!(rejection.reason.contains("this host takes"), "{what}: {rejection}");
    }
}

#[tokio::test]
async fn what_is_just_below_the_caps_is_accepted() {
    for (what, bytes) in [
        ("nested", guests::nested(8)),
        ("beside one another", guests::beside(199)),
        ("ifs", guests::conditions(2_000, 500)),
        ("locals", guests::conditions(100, 1_000)),
        ("body", guests::functions(1, (128 << 10) - 2)),
    ] {
        if let Err(error) = host().load(&bytes).await {
            panic!("{what}: {error}");
        }
    }
}

#[tokio::test]
async fn a_grant_may_raise_a_cap() {
    let bytes = guests::functions(1, 200 << 10);
    refuse("body", &bytes).await;
    let mut options = LoadOptions::default();
    options.screen.function_bytes = 256 << 10;
    host().load_with(&bytes, &options).await.expect("raised");
    options.screen = Screen::large();
    host().load_with(&bytes, &options).await.expect("large");
}

/// Builds without the collector abort on this one (GHSA-rc4p-x33f-vpr2); here the proposal is off, whatever is built in.
#[tokio::test]
async fn function_subtypes_are_refused() {
    let bytes = guests::text(
        r#"(component (core module
            (type $a (sub (func)))
            (type $b (sub $a (func)))
            (table 1 funcref)
            (elem (i32.const 0) func $f)
            (func $f (type $b))
            (func (export "run") (call_indirect (type $a) (i32.const 0)))))"#,
    );
    let rejection = refuse("subtypes", &bytes).await;
    assert_eq!(rejection.code, Code::Incompatible, "{rejection}");
    assert!(rejection.reason.contains("gc proposal"), "{rejection}");
}

#[tokio::test]
async fn proposals_outside_the_profile_are_refused() {
    for (what, module) in [
        ("memory64", "(memory i64 1)"),
        ("threads", "(memory 1 1 shared)"),
        ("tail calls", "(func $f return_call $f)"),
        ("relaxed simd", "(func (param v128) (result v128) local.get 0 local.get 0 i8x16.relaxed_swizzle)"),
        ("custom page sizes", "(memory 1 (pagesize 1))"),
        ("exceptions", "(tag)"),
        ("typed references", "(func (param (ref func)))"),
        ("structs", "(type (struct))"),
    ] {
        let rejection = refuse(what, &guests::text(&format!("(component (core module {module}))"))).await;
        assert_eq!(rejection.code, Code::Incompatible, "{what}: {rejection}");
    }
    // Component-model async.
    let rejection = refuse("async", &guests::text(r#"(component (import "f" (func async)))"#)).await;
    assert_eq!(rejection.code, Code::Incompatible, "{rejection}");
}

#[tokio::test]
async fn an_inspection_says_all_of_it_without_compiling() {
    let host = builder().build().expect("a host");
    let inspection = host.inspect(&guests::surplus(), &LoadOptions::default()).await.expect("an answer");
    assert!(inspection.uses_registry);
    let text = inspection.rejections.iter().map(ToString::to_string).collect::<String>();
    assert!(text.contains("acme:tenant/clock@1.0.0") && text.contains("acme:tenant/door@1.0.0"), "{text}");
    let tenant = guests::tenant("0.1.0", &["hal:registry/registry"], &[]);
    let inspection = host.inspect(&tenant, &LoadOptions::default()).await.expect("an answer");
    assert_eq!(inspection.rejections, []);
    assert!(inspection.shape.expect("a shape").exports.iter().any(|export| export.name == "run"));
}

#[derive(Default)]
struct Told(Mutex<Vec<Refused>>);

/// Digest, length, code, reason.
type Refused = (Option<String>, u64, Code, String);

impl audit::Sink for Told {
    fn event(&self, event: &audit::Event<'_>) {
        if let audit::Event::LoadRefused { sha256, bytes, code, reason } = event {
            self.0.lock().unwrap().push((sha256.map(str::to_owned), *bytes, *code, (*reason).to_owned()));
        }
    }
}

#[tokio::test]
async fn what_was_refused_is_told_to_the_audit_sink() {
    let told = Arc::new(Told::default());
    let host = builder().audit(told.clone()).build().expect("a host");
    let good = guests::plain(r#"(func (export "f") (param i32) (result i32) local.get 0)"#, &["f"]);
    host.load(&good).await.expect("accepted");
    let (nested, huge) = (guests::nested(8_000), vec![0; 100 << 20]);
    let import = guests::text(r#"(component (import "acme:net/raw@1.0.0" (instance (export "f" (func)))))"#);
    for bytes in [&nested, &huge, &import, &import] {
        host.load(bytes).await.expect_err("refused");
    }
    // Allowed by name, and then defined by nobody.
    let options = LoadOptions { imports: vec!["acme:net/raw@1".into()], ..LoadOptions::default() };
    let program = host.load_with(&import, &options).await.expect("accepted");
    host.instance_pre::<hal_host::State>(&program, |_| Ok(())).err().expect("refused");

    let told = told.0.lock().unwrap();
    let seen: Vec<_> = told.iter().map(|(sha256, bytes, code, _)| (sha256.is_some(), *bytes as usize, *code)).collect();
    assert_eq!(
        seen,
        [
            (true, nested.len(), Code::ResourceExhausted),
            (false, huge.len(), Code::ResourceExhausted),
            (true, import.len(), Code::PermissionDenied),
            (true, import.len(), Code::PermissionDenied),
            (true, import.len(), Code::Incompatible),
        ]
    );
    assert!(told[2..].iter().all(|(sha256, ..)| *sha256 == told[2].0), "one file has one name");
    assert!(told[2].3.contains("acme:net/raw") && told[4].3.contains("linked"), "{told:?}");
}

//! A tenant and the registry, of the same version and of others.

use crate::{builder, guests, host};
use hal_host::{Error, LoadOptions, Rejection, TenantOptions, hal_core::Code};

async fn refuse(bytes: &[u8]) -> Rejection {
    match host().load(bytes).await {
        Err(Error::Rejected(rejection)) => rejection,
        other => panic!("{other:?}"),
    }
}

const ALL: [&str; 5] = [
    "hal:registry/registry",
    "hal:registry/blobs",
    "hal:registry/factories",
    "hal:registry/drivers",
    "hal:device/device",
];

#[tokio::test]
async fn a_tenant_that_asks_for_the_registry_gets_it() {
    let program = host().load(&guests::tenant("0.1.0", &ALL, &[])).await.expect("loads");
    assert!(program.composed());
    assert!(program.imports().iter().all(|import| !import.name.starts_with("hal:registry/registry")));
    let session = host().session("composed").start().expect("a session");
    let mut tenant = host().tenant(&program, session, &TenantOptions::default()).await.expect("starts");
    // The test's function is `unreachable`.
    assert!(matches!(tenant.call::<(), ()>("run", ()).await, Err(Error::Trapped { .. })));
}

#[tokio::test]
async fn a_tenant_that_does_not_ask_is_left_alone() {
    let bytes = guests::tenant("0.1.0", &["hal:registry/factories", "hal:device/device"], &[]);
    let program = host().load(&bytes).await.expect("loads");
    assert!(!program.composed());
    assert_eq!(program.shape().imports, program.imports());
    let plain = guests::plain(r#"(func (export "f") (param i32) (result i32) local.get 0)"#, &["f"]);
    assert!(!host().load(&plain).await.expect("loads").composed());
}

#[tokio::test]
async fn a_tenant_that_was_composed_elsewhere_is_legal() {
    // By the same composer, with its own copy of the registry.
    use wac_graph::{CompositionGraph, EncodeOptions, types::Package};
    let mut graph = CompositionGraph::new();
    let mut add = |name: &str, bytes| {
        let package = Package::from_bytes(name, None, bytes, graph.types_mut()).expect("a package");
        graph.register_package(package).expect("registered")
    };
    let plug = add("registry", guests::registry("0.1.0"));
    let socket = add("tenant", guests::tenant("0.1.0", &ALL, &[]));
    wac_graph::plug(&mut graph, vec![plug], socket).expect("composes");
    let composed = graph.encode(EncodeOptions::default()).expect("encodes");
    let program = host().load(&composed).await.expect("loads");
    assert!(!program.composed());
    let session = host().session("composed elsewhere").start().expect("a session");
    host().tenant(&program, session, &TenantOptions::default()).await.expect("starts");
}

#[tokio::test]
async fn a_patch_version_composes_either_way() {
    for (registry, tenant) in [("0.1.0", "0.1.1"), ("0.1.1", "0.1.0"), ("0.1.1", "0.1.1")] {
        let host = builder().registry_component(guests::registry(registry)).build().expect("a host");
        let program = host.load(&guests::tenant(tenant, &ALL, &[])).await;
        let program = program.unwrap_or_else(|error| panic!("registry {registry}, tenant {tenant}: {error}"));
        assert!(program.composed());
        let session = host.session("twin").start().expect("a session");
        host.tenant(&program, session, &TenantOptions::default()).await.expect("starts on a host of 0.1.0");
    }
}

#[tokio::test]
async fn another_track_is_refused_by_name() {
    let rejection = refuse(&guests::tenant("0.2.0", &ALL, &[])).await;
    assert_eq!(rejection.code, Code::Incompatible);
    assert!(
        rejection.reason.contains("hal:registry/registry@0.2.0") && rejection.reason.contains("0.1 track"),
        "{rejection}"
    );
    let rejection = refuse(&guests::tenant("0.2.0", &["hal:device/device"], &[])).await;
    assert!(rejection.reason.contains("hal:device/device@0.2.0"), "{rejection}");
    assert_eq!(rejection.code, Code::Incompatible);
}

#[tokio::test]
async fn what_a_newer_tenant_misses_is_named() {
    let more =
        [("enumerate: func() -> list<driver-info>;", "enumerate: func() -> list<driver-info>; census: func() -> u32;")];
    let rejection = refuse(&guests::tenant("0.1.1", &["hal:registry/registry"], &more)).await;
    assert_eq!(rejection.code, Code::Incompatible);
    assert!(rejection.reason.contains("census"), "{rejection}");
    // A record of the registry's with a field more.
    let field = [("record listing {", "record listing { generation: u64,")];
    let rejection = refuse(&guests::tenant("0.1.0", &["hal:registry/registry"], &field)).await;
    assert!(rejection.reason.contains("record field count"), "{rejection}");
    // A newer registry offers more than an older tenant wants.
    let newer = builder().registry_component(guests::registry_with("0.1.1", &more)).build().expect("a host");
    newer.load(&guests::tenant("0.1.0", &ALL, &[])).await.expect("composes");
}

#[tokio::test]
async fn a_method_that_only_a_newer_host_has_is_named() {
    let more = [
        ("sensor: func", "sensor: func"),
        ("lost: func() -> option<error>;", "lost: func() -> option<error>; age: func() -> u64;"),
    ];
    let bytes = guests::tenant("0.1.1", &["hal:device/device"], &more);
    let program = host().load(&bytes).await.expect("the type is only known when linking");
    let session = host().session("newer").start().expect("a session");
    match host().tenant(&program, session, &TenantOptions::default()).await {
        Err(Error::Rejected(rejection)) => assert!(rejection.reason.contains("age"), "{rejection}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("started"),
    }
}

#[tokio::test]
async fn every_surplus_import_is_named_and_can_be_allowed() {
    let rejection = refuse(&guests::surplus()).await;
    assert_eq!(rejection.code, Code::PermissionDenied);
    assert!(rejection.reason.contains("acme:tenant/clock@1.0.0, acme:tenant/door@1.0.0"), "{rejection}");
    let options = LoadOptions { imports: vec!["acme:tenant@1".into()], ..LoadOptions::default() };
    let program = host().load_with(&guests::surplus(), &options).await.expect("allowed");
    // Allowed, but defined by nobody.
    let session = host().session("surplus").start().expect("a session");
    match host().tenant(&program, session, &TenantOptions::default()).await {
        Err(Error::Rejected(rejection)) => assert!(rejection.reason.contains("acme:tenant/clock"), "{rejection}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("started"),
    }
}

#[test]
fn a_registry_that_is_none_is_a_setup_error() {
    for (bytes, part) in [
        (guests::text("(component)"), "exports no hal:registry/registry"),
        (guests::text("(module)"), "core module"),
        (guests::tenant("0.1.0", &ALL, &[]), "hal:registry/registry"),
    ] {
        match builder().registry_component(bytes).build() {
            Err(Error::Setup(text)) => assert!(text.contains(part), "{text}"),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("built"),
        }
    }
}

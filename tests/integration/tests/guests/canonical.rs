//! What no binding generator writes, so it is written by hand: a borrow that is kept, and a tenant whose strings are UTF-16.

use hal_core::Grant;
use hal_host::{Error, Tenant, TenantOptions};
use hal_test_support::{counted, host, null, runtime};
use std::{sync::Arc, time::Duration};
use wasmtime::component::Resource;

/// Is handed a device, and gives the borrow back or keeps it.
const BORROWER: &str = r#"
(component
  (import "hal:device/device@0.1.0" (instance $imported (export "device" (type (sub resource)))))
  (alias export $imported "device" (type $device))
  (core func $drop (canon resource.drop $device))
  (core module $m
    (import "" "drop" (func $drop (param i32)))
    (func (export "keep") (param i32))
    (func (export "return") (param i32) (call $drop (local.get 0)))
    (func (export "return-twice") (param i32) (call $drop (local.get 0)) (call $drop (local.get 0)))
  )
  (core instance $i (instantiate $m (with "" (instance (export "drop" (func $drop))))))
  (func (export "keep") (param "device" (borrow $device)) (canon lift (core func $i "keep")))
  (func (export "return") (param "device" (borrow $device)) (canon lift (core func $i "return")))
  (func (export "return-twice") (param "device" (borrow $device)) (canon lift (core func $i "return-twice")))
)"#;

/// Asks the registry for a driver by a name in UTF-16 and answers with the error's message: both cross between two encodings. `bad`
/// does it with half a surrogate pair.
const UTF16: &str = r#"
(component
  (import "hal:device/types@0.1.0" (instance $types
    (type $code' (enum "cancelled" "unknown" "invalid-argument" "deadline-exceeded" "not-found" "already-exists"
      "permission-denied" "resource-exhausted" "failed-precondition" "aborted" "out-of-range" "unimplemented" "internal"
      "unavailable" "data-loss" "unauthenticated" "deferred" "incompatible"))
    (export "status-code" (type $code (eq $code')))
    (type $hit' (record (field "limit" string) (field "asked" u64) (field "available" u64) (field "allowed" u64)))
    (export "limit-hit" (type $hit (eq $hit')))
    (type $error' (record (field "code" $code) (field "message" string) (field "limit" (option $hit))))
    (export "error" (type (eq $error')))
  ))
  (alias export $types "error" (type $error))
  (import "hal:registry/drivers@0.1.0" (instance $drivers (export "driver" (type (sub resource)))))
  (alias export $drivers "driver" (type $driver))
  (import "hal:registry/registry@0.1.0" (instance $imported
    (export "error" (type $e (eq $error)))
    (export "driver" (type $d (eq $driver)))
    (export "registry" (type $r (sub resource)))
    (export "[static]registry.default" (func (result (own $r))))
    (export "[method]registry.try-create"
      (func (param "self" (borrow $r)) (param "name" string) (result (result (own $d) (error $e)))))
  ))
  (core module $memory
    (memory (export "memory") 4)
    (global $free (mut i32) (i32.const 8192))
    (func (export "realloc") (param $old i32) (param $size i32) (param $align i32) (param $new i32) (result i32)
      (local $at i32)
      (if (i32.le_u (local.get $new) (local.get $size)) (then (return (local.get $old))))
      (local.set $at (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
      (global.set $free (i32.add (local.get $at) (local.get $new)))
      (memory.copy (local.get $at) (local.get $old) (local.get $size))
      (local.get $at))
    (data (i32.const 16) "\e9\00\ac\20\3d\d8\00\de")
    (data (i32.const 32) "a\00\3d\d8")
  )
  (core instance $memory (instantiate $memory))
  (alias core export $memory "memory" (core memory $m))
  (alias core export $memory "realloc" (core func $realloc))
  (core func $default (canon lower (func $imported "[static]registry.default")))
  (core func $try (canon lower (func $imported "[method]registry.try-create")
    (memory $m) (realloc $realloc) string-encoding=utf16))
  (core module $main
    (import "" "default" (func $default (result i32)))
    (import "" "try" (func $try (param i32 i32 i32 i32)))
    (import "" "memory" (memory 1))
    (func $ask (param $name i32) (param $units i32) (result i32)
      (call $try (call $default) (local.get $name) (local.get $units) (i32.const 1024))
      ;; An error, with the code `not-found`.
      (if (i32.ne (i32.load8_u (i32.const 1024)) (i32.const 1)) (then unreachable))
      (if (i32.ne (i32.load8_u (i32.const 1032)) (i32.const 4)) (then unreachable))
      ;; Where pointer and length of its message are.
      (i32.const 1036))
    (func (export "good") (result i32) (call $ask (i32.const 16) (i32.const 4)))
    (func (export "bad") (result i32) (call $ask (i32.const 32) (i32.const 2)))
  )
  (core instance $i (instantiate $main (with "" (instance
    (export "default" (func $default)) (export "try" (func $try)) (export "memory" (memory $m))))))
  (func (export "good") (result string) (canon lift (core func $i "good") (memory $m) string-encoding=utf16))
  (func (export "bad") (result string) (canon lift (core func $i "bad") (memory $m) string-encoding=utf16))
)"#;

async fn tenant(text: &str, factory: Arc<dyn hal_driver::Factory>) -> Tenant {
    let program = host().load(&wat::parse_str(text).unwrap()).await.unwrap();
    let session = host().session("by-hand").grant(Grant::new(factory)).start().unwrap();
    let options = TenantOptions::new().call_timeout(Duration::from_secs(30));
    host().tenant(&program, session, &options).await.unwrap()
}

/// A new handle to a device of the tenant's own grant, lent.
async fn lend(tenant: &mut Tenant) -> Resource<hal_core::Device> {
    let factory = tenant.data().session().granted().remove(0);
    let driver = factory.try_create("null").await.unwrap();
    let device = driver.create_default_device().await.unwrap();
    let own = tenant.data().table().push(device).unwrap();
    Resource::new_borrow(own.rep())
}

fn trap(outcome: Result<(), Error>) -> String {
    match outcome {
        Err(Error::Trapped { source, .. }) => format!("{source:#}"),
        other => panic!("expected a trap, got {other:?}"),
    }
}

#[test]
fn a_borrow_that_is_given_back_can_be_lent_again() {
    let (factory, counts) = counted(null());
    runtime().block_on(async {
        let mut tenant = tenant(BORROWER, factory).await;
        let device = lend(&mut tenant).await;
        for _ in 0..3 {
            let again = Resource::<hal_core::Device>::new_borrow(device.rep());
            tenant.call::<_, ()>("return", (again,)).await.unwrap();
        }
    });
    counts.wait_for_none(Duration::from_secs(5)).unwrap();
}

#[test]
fn a_borrow_that_is_kept_or_given_back_twice_ends_the_session() {
    for (export, text) in [("keep", "borrow"), ("return-twice", "handle")] {
        let (factory, counts) = counted(null());
        runtime().block_on(async {
            let mut tenant = tenant(BORROWER, factory).await;
            let device = lend(&mut tenant).await;
            let trap = trap(tenant.call::<_, ()>(export, (device,)).await);
            assert!(trap.contains(text), "{export}: {trap}");
        });
        counts.wait_for_none(Duration::from_secs(5)).unwrap();
    }
}

#[test]
fn a_tenant_in_utf_16_and_a_registry_in_utf_8_understand_each_other() {
    runtime().block_on(async {
        let mut tenant = tenant(UTF16, null()).await;
        let (message,) = tenant.call::<_, (String,)>("good", ()).await.unwrap();
        assert!(message.contains("\u{e9}\u{20ac}\u{1f600}") && message.contains("null"), "{message}");
        let outcome = tenant.call::<_, (String,)>("bad", ()).await;
        let trap = trap(outcome.map(drop));
        assert!(trap.contains("utf16"), "{trap}");
    });
}

//! Each operation, and each defect of the original that ours must not have.

use super::fake::{Fake, FakeDevice, error};
use super::{assert_says, names, registry_of};
use crate::{Code, DEFAULT_CAPACITY, Registry};
use alloc::{format, string::String, vec::Vec};

#[test]
fn an_empty_registry_lists_nothing_and_says_how_to_change_that() {
    let registry = Registry::<Fake>::new();
    assert_eq!(registry.enumerate().unwrap(), []);
    assert!(registry.enumerate_detailed().unwrap().failures.is_empty());
    let error = registry.try_create("cpu").err().unwrap();
    assert_eq!(error.code, Code::NotFound);
    assert_says(&error, &["'cpu'", "there are none", "--grant"]);
    let error = registry.create_device("cpu://").err().unwrap();
    assert_eq!(error.code, Code::NotFound);
}

#[test]
fn drivers_are_listed_in_order_of_registration_then_of_the_factory_and_may_repeat() {
    let registry = registry_of(&[Fake::new(2, &["b", "a", "b"]), Fake::new(1, &[]), Fake::new(3, &["c", "a"])]);
    assert_eq!(names(&registry), ["b", "a", "b", "c", "a"]);
    assert_eq!(registry.enumerate().unwrap()[0].full_name, "b in full");
}

#[test]
fn a_factory_is_known_by_its_id_whatever_the_handle() {
    let (factory, narrowed) = (Fake::new(1, &["cpu"]), Fake::new(2, &["cpu"]));
    let registry = registry_of([&factory]);
    let error = registry.register_factory(&factory.clone()).unwrap_err();
    assert_eq!(error.code, Code::AlreadyExists);
    assert_says(&error, &["'factory-1'"]);
    registry.register_factory(&narrowed).unwrap();
    // One factory may sit in several registries.
    let other = registry_of([&factory]);
    registry.unregister_factory(&factory.clone()).unwrap();
    assert_eq!((names(&registry).len(), names(&other).len()), (1, 1));
}

#[test]
fn the_documented_capacity_can_be_used_and_no_more() {
    let factories: Vec<_> = (0..=DEFAULT_CAPACITY as u64).map(|id| Fake::new(id, &["d"])).collect();
    let registry = registry_of(&factories[..DEFAULT_CAPACITY]);
    assert_eq!(names(&registry).len(), DEFAULT_CAPACITY);
    let error = registry.register_factory(&factories[DEFAULT_CAPACITY]).unwrap_err();
    assert_eq!(error.code, Code::ResourceExhausted);
    assert_says(&error, &["64 of 64"]);
    // A duplicate is refused as that, full or not.
    assert_eq!(registry.register_factory(&factories[0]).unwrap_err().code, Code::AlreadyExists);
    registry.unregister_factory(&factories[10]).unwrap();
    registry.register_factory(&factories[DEFAULT_CAPACITY]).unwrap();
}

#[test]
fn another_capacity_holds_too() {
    let registry = Registry::with_capacity(1);
    registry.register_factory(&Fake::new(1, &[])).unwrap();
    assert_eq!(registry.register_factory(&Fake::new(2, &[])).unwrap_err().code, Code::ResourceExhausted);
    let none = Registry::with_capacity(0);
    assert_eq!(none.register_factory(&Fake::new(1, &[])).unwrap_err().code, Code::ResourceExhausted);
}

#[test]
fn removing_first_middle_or_last_keeps_the_rest_in_order() {
    let all = ["a", "b", "c", "d", "e"];
    let factories: Vec<_> = (0..).zip(all).map(|(id, name)| Fake::new(id, &[name])).collect();
    // Every order of removal: the n-th digit says which of those left goes.
    for order in 0..5 * 4 * 3 * 2 {
        let registry = registry_of(&factories);
        let mut left: Vec<usize> = (0..5).collect();
        let mut digits = order;
        while !left.is_empty() {
            let gone = left.remove(digits % left.len());
            digits /= left.len() + 1;
            registry.unregister_factory(&factories[gone]).unwrap();
            assert_eq!(names(&registry), left.iter().map(|&at| all[at]).collect::<Vec<_>>());
            assert_eq!(registry.unregister_factory(&factories[gone]).unwrap_err().code, Code::NotFound);
            for &at in &left {
                assert_eq!(registry.create_device(all[at]).unwrap().factory, at as u64);
            }
        }
    }
}

#[test]
fn unregistering_a_stranger_is_not_found() {
    let registry = registry_of(&[Fake::new(1, &["cpu"])]);
    let error = registry.unregister_factory(&Fake::new(2, &["cpu"])).unwrap_err();
    assert_eq!(error.code, Code::NotFound);
    assert_says(&error, &["'factory-2'", "id 2"]);
    assert_eq!(names(&registry), ["cpu"]);
}

#[test]
fn the_registry_keeps_one_handle_and_gives_it_up() {
    let factory = Fake::new(1, &["cpu"]);
    let handles = || factory.0.handles.get();
    let registry = registry_of([&factory]);
    assert_eq!(handles(), 2);
    let _ = registry.register_factory(&factory);
    assert_eq!(handles(), 2, "a refused registration keeps nothing");
    registry.unregister_factory(&factory).unwrap();
    assert_eq!(handles(), 1);
    registry.register_factory(&factory).unwrap();
    let device = registry.create_device("cpu").unwrap();
    let driver = registry.try_create("cpu").unwrap();
    drop(registry);
    assert_eq!(handles(), 1);
    // What was made stays usable.
    assert_eq!((device.factory, driver.name.as_str()), (1, "cpu"));
}

#[test]
fn a_factory_that_cannot_be_duplicated_is_not_registered() {
    let factory = Fake::new(1, &["cpu"]);
    *factory.0.duplicate_error.borrow_mut() = Some(error(Code::ResourceExhausted));
    let registry = Registry::new();
    let refused = registry.register_factory(&factory).unwrap_err();
    assert_eq!(refused.code, Code::ResourceExhausted);
    assert_says(&refused, &["'factory-1'", "the cause"]);
    assert_eq!(names(&registry), [""; 0]);
    *factory.0.duplicate_error.borrow_mut() = None;
    registry.register_factory(&factory).unwrap();
}

#[test]
fn the_newest_factory_overrides() {
    let registry = registry_of(&[Fake::new(1, &["cpu", "null"]), Fake::new(2, &["cpu"])]);
    assert_eq!(registry.try_create("cpu").unwrap().factory.id, 2);
    assert_eq!(registry.try_create("null").unwrap().factory.id, 1);
    let newest = Fake::new(3, &["null"]);
    registry.register_factory(&newest).unwrap();
    assert_eq!(registry.try_create("null").unwrap().factory.id, 3);
    registry.unregister_factory(&newest).unwrap();
    assert_eq!(registry.try_create("null").unwrap().factory.id, 1);
}

#[test]
fn a_name_matches_exactly() {
    let registry = registry_of(&[Fake::new(1, &["local-task"])]);
    for name in ["", "Local-Task", "local", "local-task ", "local-task\0", "ocal-task", "*"] {
        let error = registry.try_create(name).err().unwrap();
        assert_eq!(error.code, Code::NotFound, "{name:?}");
        assert_says(&error, &["there are: local-task"]);
    }
}

#[test]
fn not_found_names_what_there_is_once_each() {
    let registry = registry_of(&[Fake::new(1, &["cpu", "null"]), Fake::new(2, &["cpu", "vulkan"])]);
    let error = registry.try_create("cuda").err().unwrap();
    assert_eq!(error.message, "no driver 'cuda'; there are: cpu, null, vulkan");
}

#[test]
fn a_device_is_opened_by_the_driver_that_its_scheme_names() {
    let registry = registry_of(&[Fake::new(1, &["cpu"]), Fake::new(2, &["vulkan"])]);
    for (uri, factory) in [("cpu", 1), ("cpu:", 1), ("cpu://", 1), ("vulkan://0?a=b", 2), ("vulkan:x:y", 2)] {
        // The URI goes to the driver as it is.
        assert_eq!(registry.create_device(uri).unwrap(), FakeDevice { factory, uri: uri.into() });
    }
    for uri in ["", ":", ":x", "://x", "CPU://", "cpu //"] {
        assert_eq!(registry.create_device(uri).unwrap_err().code, Code::NotFound, "{uri:?}");
    }
}

#[test]
fn the_driver_is_released_when_the_device_is_open_or_refused() {
    let factory = Fake::new(1, &["cpu"]);
    let registry = registry_of([&factory]);
    registry.create_device("cpu://").unwrap();
    assert_eq!(factory.0.drivers.get(), 0);
    *factory.0.device_error.borrow_mut() = Some(error(Code::Unavailable));
    registry.create_device("cpu://").unwrap_err();
    assert_eq!(factory.0.drivers.get(), 0);
}

#[test]
fn the_error_says_which_uri_was_being_opened() {
    let factory = Fake::new(1, &["cpu"]);
    let registry = registry_of([&factory]);
    assert_says(&registry.create_device("cuda://1").unwrap_err(), &["opening 'cuda://1'", "there are: cpu"]);
    *factory.0.device_error.borrow_mut() = Some(error(Code::OutOfRange));
    let refused = registry.create_device("cpu://9").unwrap_err();
    assert_eq!(refused.code, Code::OutOfRange);
    assert_says(&refused, &["opening 'cpu://9'", "the cause"]);
    *factory.0.create_error.borrow_mut() = Some(error(Code::DeadlineExceeded));
    let refused = registry.create_device("cpu://9").unwrap_err();
    assert_eq!(refused.code, Code::DeadlineExceeded);
    assert_says(&refused, &["opening 'cpu://9'", "driver 'cpu' of factory 'factory-1'", "the cause"]);
}

#[test]
fn text_above_its_bound_is_refused_without_an_echo() {
    let name = "n".repeat(257);
    let registry = registry_of(&[Fake::new(1, &[&name, &name[1..]])]);
    let long = format!("cpu://{}", "u".repeat(4091));
    assert_eq!(long.len(), 4097);
    for (refused, bytes) in [
        (registry.try_create(&name).err(), "257"),
        (registry.create_device(&format!("{name}://")).err(), "257"),
        (registry.create_device(&long).err(), "4097"),
    ] {
        let error = refused.unwrap();
        assert_eq!(error.code, Code::InvalidArgument);
        assert_says(&error, &[bytes]);
        assert!(!error.message.contains("uuuu") && error.message.len() < 512, "{}", error.message);
    }
    // At the bound it is taken.
    assert_eq!(registry.try_create(&name[1..]).unwrap().factory.id, 1);
    assert_eq!(registry.create_device(&long[..4096]).unwrap_err().code, Code::NotFound);
}

#[test]
fn adopted_factories_are_kept_without_a_duplicate_and_past_any_capacity() {
    let factories: Vec<_> = (0..100).map(|id| Fake::new(id, &["d"])).collect();
    for factory in &factories {
        *factory.0.duplicate_error.borrow_mut() = Some(error(Code::ResourceExhausted));
    }
    let registry = Registry::new();
    registry.adopt(factories.iter().cloned()).unwrap();
    registry.adopt(factories.iter().cloned()).unwrap();
    assert_eq!(names(&registry).len(), 100);
    assert!(factories.iter().all(|factory| factory.0.handles.get() == 2));
}

#[test]
fn a_full_registry_keeps_its_error_messages_short() {
    let names: Vec<String> = (0..64).map(|at| format!("{at:0>64}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let factories: Vec<_> = (0..64).map(|id| Fake::new(id, &names)).collect();
    let error = registry_of(&factories).try_create(&"\u{202e}".repeat(80)).err().unwrap();
    assert!(error.message.len() < 1400, "{}", error.message);
    assert_says(&error, &["more"]);
}

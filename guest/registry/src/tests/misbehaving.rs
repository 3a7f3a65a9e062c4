//! Factories that fail, change their minds, list odd things or call back. Nobody else may be affected.

use super::fake::{Fake, error, info};
use super::{assert_says, names, registry_of};
use crate::{Code, Error, Failure, LimitHit, Registry};
use alloc::{boxed::Box, format, rc::Rc, vec::Vec};
use core::cell::RefCell;

#[test]
fn one_that_fails_hides_no_other() {
    let bad = Fake::failing(2, error(Code::Unavailable));
    let registry = registry_of([&Fake::new(1, &["cpu"]), &bad, &Fake::new(3, &["null"])]);
    assert_eq!(names(&registry), ["cpu", "null"]);
    let listing = registry.enumerate_detailed().unwrap();
    assert_eq!(listing.drivers, [info("cpu"), info("null")]);
    assert_eq!(listing.failures, [Failure { factory: "factory-2".into(), error: error(Code::Unavailable) }]);
    assert_eq!(registry.try_create("cpu").unwrap().factory.id, 1);
    assert_eq!(registry.try_create("null").unwrap().factory.id, 3);
}

#[test]
fn a_cause_is_not_masked_as_not_found() {
    let limit = LimitHit { limit: "factories".into(), asked: 2, available: 1, allowed: 3 };
    let cause = Error { limit: Some(limit.clone()), ..error(Code::ResourceExhausted) };
    let older = Fake::failing(1, error(Code::Internal));
    let newer = Fake::failing(2, cause);
    let registry = registry_of([&older, &newer, &Fake::new(3, &["null"])]);
    // The newest failure, which would have come first in the search; code and limit are the factory's.
    let found = registry.try_create("cpu").err().unwrap();
    assert_eq!((found.code, found.limit), (Code::ResourceExhausted, Some(limit)));
    assert_eq!(
        found.message,
        "no driver 'cpu' was found, but factory 'factory-2' could not list its drivers: the cause"
    );
    assert_says(&registry.create_device("cpu://0").unwrap_err(), &["opening 'cpu://0'", "'factory-2'", "the cause"]);
}

#[test]
fn one_that_lists_a_driver_and_cannot_make_it_is_not_passed_over() {
    let revoked = Fake::new(2, &["cpu"]);
    let registry = registry_of([&Fake::new(1, &["cpu"]), &revoked]);
    *revoked.0.create_error.borrow_mut() = Some(error(Code::PermissionDenied));
    let found = registry.try_create("cpu").err().unwrap();
    assert_eq!(found.code, Code::PermissionDenied);
    assert_eq!(found.message, "driver 'cpu' of factory 'factory-2': the cause");
    // Its listing stands all the same.
    assert_eq!(names(&registry), ["cpu", "cpu"]);
}

#[test]
fn a_listing_that_succeeded_stands_and_costs_no_further_call() {
    let factory = Fake::new(1, &["cpu"]);
    let registry = registry_of([&factory]);
    factory.list(&["null", "null"]);
    assert_eq!(names(&registry), ["cpu"]);
    factory.fail_listing(error(Code::PermissionDenied));
    assert_eq!(names(&registry), ["cpu"]);
    assert!(registry.try_create("cpu").is_ok());
    assert_eq!(registry.try_create("null").err().unwrap().code, Code::NotFound);
    assert!(registry.enumerate_detailed().unwrap().failures.is_empty());
    assert_eq!(factory.0.listed.get(), 1);
    // A new registration takes a new listing.
    registry.unregister_factory(&factory).unwrap();
    factory.list(&["null"]);
    registry.register_factory(&factory).unwrap();
    assert_eq!(names(&registry), ["null"]);
}

#[test]
fn one_that_failed_is_asked_again_each_time_until_it_answers() {
    let factory = Fake::failing(1, error(Code::DeadlineExceeded));
    let registry = registry_of([&factory]);
    assert_eq!(factory.0.listed.get(), 1);
    assert_eq!(registry.enumerate_detailed().unwrap().failures[0].error.code, Code::DeadlineExceeded);
    factory.fail_listing(error(Code::Unavailable));
    assert_eq!(registry.enumerate_detailed().unwrap().failures[0].error.code, Code::Unavailable);
    assert_eq!(registry.try_create("cpu").err().unwrap().code, Code::Unavailable);
    assert_eq!(factory.0.listed.get(), 4);
    factory.list(&["cpu"]);
    assert!(registry.try_create("cpu").is_ok());
    factory.fail_listing(error(Code::Internal));
    assert_eq!(names(&registry), ["cpu"]);
    assert_eq!(factory.0.listed.get(), 5);
}

#[test]
fn a_failed_enumeration_leaves_nothing_behind() {
    let factory = Fake::failing(1, error(Code::Internal));
    let registry = registry_of([&factory]);
    for _ in 0..3 {
        assert_eq!(registry.enumerate().unwrap(), []);
    }
    registry.unregister_factory(&factory).unwrap();
    assert!(registry.enumerate_detailed().unwrap().failures.is_empty());
}

#[test]
fn odd_listings_are_taken_as_they_are() {
    let long = "x".repeat(64 << 10);
    let many: Vec<_> = (0..10_000).map(|at| format!("d{at}")).collect();
    let many: Vec<&str> = many.iter().map(|name| &**name).collect();
    let registry = registry_of(&[
        Fake::new(1, &["cpu"]),
        Fake::new(2, &[]),
        Fake::new(3, &["twice", "twice"]),
        Fake::new(4, &["", &long]),
        Fake::new(5, &many),
    ]);
    assert_eq!(names(&registry).len(), 1 + 2 + 2 + 10_000);
    assert_eq!(registry.try_create("cpu").unwrap().factory.id, 1);
    assert_eq!(registry.try_create("twice").unwrap().factory.id, 3);
    assert_eq!(registry.try_create("d9999").unwrap().factory.id, 5);
    assert_eq!(registry.try_create(&long).err().unwrap().code, Code::InvalidArgument);
    let missing = registry.try_create("none").err().unwrap();
    assert!(missing.message.len() < 2048);
}

#[test]
fn one_that_calls_back_is_refused_and_never_hangs() {
    let factory = Fake::new(1, &["cpu"]);
    let registry = Rc::new(Registry::new());
    let answers = Rc::new(RefCell::new(Vec::new()));
    let hook = {
        let (registry, answers, own) = (Rc::clone(&registry), Rc::clone(&answers), Rc::downgrade(&factory.0));
        move || {
            let own = Fake(own.upgrade().unwrap());
            // This handle was never counted.
            own.0.handles.set(own.0.handles.get() + 1);
            answers.borrow_mut().extend([
                registry.register_factory(&Fake::new(9, &[])).err(),
                registry.unregister_factory(&own).err(),
                registry.adopt([]).err(),
                registry.enumerate().err(),
                registry.enumerate_detailed().err(),
                registry.try_create("cpu").err(),
                registry.create_device("cpu://").err(),
            ]);
        }
    };
    *factory.0.hook.borrow_mut() = Some(Box::new(hook));
    let check = |calls: usize| {
        let answers = core::mem::take(&mut *answers.borrow_mut());
        assert_eq!(answers.len(), calls * 7);
        for answer in answers {
            assert_eq!(answer.unwrap().code, Code::FailedPrecondition);
        }
    };
    registry.register_factory(&factory).unwrap();
    check(1);
    assert!(registry.try_create("cpu").is_ok());
    check(1);
    assert!(registry.create_device("cpu://").is_ok());
    check(1);
    *factory.0.hook.borrow_mut() = None;
    assert_eq!(names(&registry), ["cpu"]);
    assert_eq!(factory.0.handles.get(), 2);
}

#[test]
fn one_that_panics_leaves_the_registry_usable() {
    let (good, bad) = (Fake::new(1, &["cpu"]), Fake::new(2, &["null"]));
    let registry = registry_of([&good, &bad]);
    *bad.0.hook.borrow_mut() = Some(Box::new(|| panic!("on purpose")));
    let call = core::panic::AssertUnwindSafe(|| drop(registry.try_create("null")));
    assert!(std::panic::catch_unwind(call).is_err());
    assert_eq!(names(&registry), ["cpu", "null"]);
    registry.unregister_factory(&bad).unwrap();
    assert_eq!(names(&registry), ["cpu"]);
}

//! Factories and drivers: what a tenant finds, and what it does not.

use crate::*;
use hal_core::{Amount, BlobSource, Reveal};
use std::time::Duration;

fn session(mock: &Arc<Mock>, grant: impl FnOnce(Grant) -> Grant) -> Session {
    Session::builder("tenant").grant(grant(Grant::new(mock.factory()))).start().unwrap()
}

#[tokio::test]
async fn drivers_outside_the_grant_do_not_exist() {
    let mock = Mock::new(Mode::Inline);
    let session = session(&mock, |grant| grant.drivers(["mock"]));
    let factory = session.granted().remove(0);
    let names: Vec<_> = factory.enumerate().await.unwrap().into_iter().map(|driver| driver.name).collect();
    assert_eq!(names, ["mock"]);
    let error = factory.try_create("other").await.err().unwrap();
    assert!(error.code == Code::NotFound && error.message.contains("there is only mock"), "{error}");
    assert_eq!(code(factory.try_create("").await), Code::NotFound);
    assert_eq!(code(factory.try_create(&"x".repeat(257)).await), Code::InvalidArgument);
    assert_eq!(factory.duplicate().unwrap().id(), factory.id());
    assert_eq!(factory.info().name, "mock-factory");
    let narrow = factory.narrow(&[], Some(&["other".into()])).unwrap();
    assert!(narrow.enumerate().await.unwrap().is_empty());
}

#[tokio::test]
async fn factories_that_misbehave_fail_by_themselves() {
    let mock = Mock::new(Mode::Inline);
    let session = session(&mock, |grant| grant);
    let factory = session.granted().remove(0);
    let list = async |names: Vec<String>| {
        *mock.drivers.lock().unwrap() = names;
        factory.enumerate().await
    };
    let numbered = |count: u32| (0..count).map(|n| format!("driver-{n}")).collect::<Vec<_>>();
    assert_eq!(list(numbered(64)).await.unwrap().len(), 64);
    for bad in [
        numbered(65),
        numbered(10_000),
        vec![String::new()],
        vec!["x".repeat(64 << 10)],
        vec!["Cpu".into()],
        vec!["a b".into()],
    ] {
        let error = list(bad).await.unwrap_err();
        assert!(error.code == Code::InvalidArgument && error.message.len() < 512, "{error}");
    }
    assert_eq!(list(vec!["twice".into(), "twice".into()]).await.unwrap().len(), 2);
    assert!(list(vec![]).await.unwrap().is_empty());
    *mock.fail.lock().unwrap() = Some(hal_driver::Error::new(Code::DataLoss, "on purpose"));
    assert_eq!(code(factory.enumerate().await), Code::DataLoss);
    *mock.slow.lock().unwrap() = Duration::from_millis(1100);
    assert_eq!(code(factory.enumerate().await), Code::DeadlineExceeded);
}

#[tokio::test]
async fn devices_are_filtered_then_numbered() {
    let mock = Mock::new(Mode::Inline);
    let session = session(&mock, |grant| grant.devices(["mock/pci-b", "mock/2"]));
    let driver = session.granted()[0].try_create("mock").await.unwrap();
    let devices = driver.query_available_devices().await.unwrap();
    let seen: Vec<_> = devices.iter().map(|device| (device.id, device.path.as_str(), device.name.as_str())).collect();
    assert_eq!(seen, [(0, "0", "Model of pci-b"), (1, "1", "Model of pci-c")]);
    for (path, name) in [("", "Model of pci-b"), ("0", "Model of pci-b"), ("1", "Model of pci-c")] {
        let device = driver.create_device_by_path(path, vec![]).await.unwrap();
        assert_eq!(device.info().name, name);
    }
    let error = driver.create_device_by_path("2", vec![]).await.err().unwrap();
    assert!(error.code == Code::NotFound && error.message.ends_with("there are 0, 1"), "{error}");
    assert_eq!(code(driver.create_device_by_path("pci-a", vec![]).await), Code::NotFound);
    for malformed in ["0junk", "-1", "00", "+0", &"x".repeat(300)] {
        assert_eq!(code(driver.create_device_by_path(malformed, vec![]).await), Code::InvalidArgument, "{malformed}");
    }
    // A second narrowing sees what the first one left.
    let narrow = session.granted()[0].narrow(&[], Some(&["mock/1".into()])).unwrap();
    let narrowed = narrow.try_create("mock").await.unwrap().query_available_devices().await.unwrap();
    assert_eq!((narrowed.len(), narrowed[0].id, narrowed[0].name.as_str()), (1, 0, "Model of pci-c"));
    let hidden = session.granted()[0].narrow(&[], Some(&["mock/pci-b".into()])).unwrap();
    let hidden = hidden.try_create("mock").await.unwrap();
    assert!(hidden.query_available_devices().await.unwrap().is_empty(), "a path that is hidden is no oracle");
    assert_eq!(code(hidden.create_default_device().await), Code::Unavailable);
}

#[tokio::test]
async fn where_there_is_no_device_it_says_so() {
    let mock = Mock::new(Mode::Inline);
    mock.devices.lock().unwrap().clear();
    let session = session(&mock, |grant| grant);
    let driver = session.granted()[0].try_create("mock").await.unwrap();
    let by_path = driver.create_device_by_path("0", vec![]).await;
    for opened in [by_path, driver.create_device_by_id(0, vec![]).await] {
        let error = opened.err().unwrap();
        assert!(error.code == Code::NotFound && error.message.ends_with("; there is none"), "{error}");
    }
    let error = driver.create_device_by_ordinal(0, vec![]).await.err().unwrap();
    assert!(error.code == Code::OutOfRange && error.message.ends_with(": there is none"), "{error}");
}

#[tokio::test]
async fn a_refused_parameter_is_answered_with_the_one_that_all_devices_have() {
    let mock = Mock::new(Mode::Inline);
    let session = session(&mock, |grant| grant);
    let driver = session.granted()[0].try_create("mock").await.unwrap();
    let error = driver.create_device_by_id(0, vec![("speed".into(), "fast".into())]).await.err().unwrap();
    assert_eq!(error.code, Code::InvalidArgument);
    assert_eq!(error.message, "unknown parameter \"speed\"; besides, every device takes \"profile\"");
}

#[tokio::test]
async fn ids_ordinals_and_devices_that_go() {
    let mock = Mock::new(Mode::Inline);
    let session = session(&mock, |grant| grant);
    let driver = session.granted()[0].try_create("mock").await.unwrap();
    let name = async |ordinal| driver.create_device_by_ordinal(ordinal, vec![]).await.map(|device| device.info().name);
    assert_eq!(name(1).await.unwrap(), "Model of pci-b", "without a list it makes one");
    let error = name(3).await.unwrap_err();
    assert!(error.code == Code::OutOfRange && error.message.contains("3 of a list of 3"), "{error}");
    driver.query_available_devices().await.unwrap();
    *mock.devices.lock().unwrap() = vec!["pci-d".into(), "pci-b".into()];
    // The list is the one that was returned, whatever is there now.
    assert_eq!(code(name(0).await), Code::Unavailable);
    assert_eq!(name(1).await.unwrap(), "Model of pci-b");
    let ids: Vec<_> = driver.query_available_devices().await.unwrap().iter().map(|device| device.id).collect();
    assert_eq!(ids, [3, 1], "never used again");
    assert_eq!(name(0).await.unwrap(), "Model of pci-d");
    assert_eq!(driver.create_device_by_id(3, vec![]).await.unwrap().info().name, "Model of pci-d");
    assert_eq!(code(driver.create_device_by_id(2, vec![]).await), Code::Unavailable);
    let error = driver.create_device_by_id(9, vec![]).await.err().unwrap();
    assert!(error.code == Code::NotFound && error.message.ends_with("there are 3, 1"), "{error}");
    assert_eq!(code(driver.device_details(9).await), Code::NotFound);
    *mock.devices.lock().unwrap() = vec!["same".into(), "same".into()];
    assert_eq!(code(driver.query_available_devices().await), Code::Internal);
}

#[tokio::test]
async fn what_is_revealed() {
    let mock = Mock::new(Mode::Inline);
    for (reveal, path, name, details) in [
        (Reveal::None, "0", "mock device", "mock device\nkind: cpu\n"),
        (
            Reveal::Model,
            "0",
            "Model of pci-a",
            "Model of pci-a\nkind: cpu\nmemory: 268435456 bytes\nformats: wgsl\nfeatures: subgroup\n",
        ),
        (Reveal::All, "pci-a", "Model of pci-a", "serial number of pci-a"),
    ] {
        let session = session(&mock, |grant| grant.reveal(reveal));
        let driver = session.granted()[0].try_create("mock").await.unwrap();
        let device = driver.query_available_devices().await.unwrap().remove(0);
        assert_eq!((device.path.as_str(), device.name.as_str()), (path, name));
        assert_eq!(driver.device_details(0).await.unwrap(), details);
        let opened = driver.create_device_by_path(path, vec![]).await.unwrap();
        assert_eq!(opened.info(), device);
    }
}

#[tokio::test]
async fn uris_and_parameters() {
    let mock = Mock::new(Mode::Inline);
    let session = session(&mock, |grant| grant);
    let driver = session.granted()[0].try_create("mock").await.unwrap();
    for uri in ["mock", "mock:", "mock://", "mock:/0", "mock://0", "mock://2?", "mock://1?&"] {
        driver.create_device_by_uri(uri).await.unwrap_or_else(|error| panic!("{uri}: {error}"));
    }
    let many = format!("mock://0?{}", vec!["a"; 129].join("&"));
    for uri in [
        "other://0",
        "",
        ":0",
        "Mock://0",
        "mock://0?x=1",
        "mock://0?x",
        &many,
        &format!("mock://{}", "0".repeat(4096)),
    ] {
        assert_eq!(code(driver.create_device_by_uri(uri).await), Code::InvalidArgument, "{uri}");
    }
    assert_eq!(code(driver.create_device_by_uri("mock:///0").await), Code::NotFound);
    let pair = |size: usize| (String::new(), "x".repeat(size));
    assert_eq!(code(driver.create_device_by_id(0, vec![pair(1); 129]).await), Code::InvalidArgument);
    assert_eq!(code(driver.create_device_by_id(0, vec![pair(4097)]).await), Code::InvalidArgument);
    assert_eq!(session.budget(0).unwrap().iter().find(|used| used.name == "devices").unwrap().used, 0);
}

#[tokio::test]
async fn named_grants_find_their_factory() {
    let mock = Mock::new(Mode::Inline);
    let start = |name: &str| Session::builder("t").factories([mock.factory()]).grant(Grant::named(name)).start();
    let session = start("other").unwrap();
    assert_eq!(session.granted()[0].enumerate().await.unwrap()[0].name, "other");
    assert_eq!(code(session.granted()[0].try_create("mock").await), Code::NotFound);
    let error = start("vulkan").err().unwrap();
    assert!(error.code == Code::NotFound && error.message.contains("mock, other"), "{error}");
    assert_eq!(
        code(Session::builder("t").grant(Grant::new(mock.factory()).devices(["/"])).start()),
        Code::InvalidArgument
    );
    let twice = ["b", "b"].map(|name| BlobSource::bytes(name, vec![]));
    let builder = twice.into_iter().fold(Session::builder("t"), hal_core::SessionBuilder::blob);
    assert_eq!(code(builder.start()), Code::InvalidArgument);
    assert!(Session::builder("t").start().unwrap().granted().is_empty(), "nothing is granted that was not named");
    let limits = session.granted()[0].limits();
    assert!(limits.contains(&Amount { name: "buffers".into(), value: 4096 }));
}

#[tokio::test]
async fn a_drivers_error_reveals_no_more_than_the_grant() {
    for (reveal, expected) in [
        (Reveal::None, "the device at 1 is busy, slot 10"),
        (Reveal::Model, "Model of 1 at 1 is busy, slot 10"),
        (Reveal::All, "Model of pci-b at pci-b is busy, slot 10"),
    ] {
        let mock = Mock::new(Mode::Inline);
        let session = session(&mock, |grant| grant.reveal(reveal));
        let driver = session.granted()[0].try_create("mock").await.unwrap();
        driver.query_available_devices().await.unwrap();
        let text = "Model of pci-b at pci-b is busy, slot 10";
        *mock.fail_open.lock().unwrap() = Some(hal_driver::Error::new(Code::Unavailable, text));
        let error = driver.create_device_by_id(1, vec![]).await.err().unwrap();
        assert_eq!((error.code, error.message.as_str()), (Code::Unavailable, expected));
    }
}

#[tokio::test]
async fn the_driver_chooses_the_device_that_nobody_named_among_those_that_are_granted() {
    let mock = Mock::new(Mode::Inline);
    let session = session(&mock, |grant| grant.devices(["mock/pci-b", "mock/pci-c"]));
    let driver = session.granted()[0].try_create("mock").await.unwrap();
    let open = async |uri: &str| driver.create_device_by_uri(uri).await.map(|device| device.info().name);
    assert_eq!(open("mock://").await.unwrap(), "Model of pci-b");
    *mock.chosen.lock().unwrap() = Some(Ok(1));
    assert_eq!(open("mock://?profile=portable&kind=discrete").await.unwrap(), "Model of pci-c");
    let pairs = vec![("kind".to_owned(), "discrete".to_owned())];
    assert_eq!(*mock.asked.lock().unwrap(), (vec!["pci-b".to_owned(), "pci-c".to_owned()], pairs));
    assert_eq!(driver.create_default_device().await.unwrap().info().id, 1);
    // Whoever names a device gets that one.
    assert_eq!(open("mock://0?kind=discrete").await.unwrap(), "Model of pci-b");
    *mock.chosen.lock().unwrap() = Some(Ok(2));
    let error = open("mock://").await.unwrap_err();
    assert!(error.code == Code::Internal && error.message.contains("chose device 2 of a list of 2"), "{error}");
    mock.devices.lock().unwrap().clear();
    assert_eq!(open("mock://").await.unwrap_err().code, Code::Unavailable, "there is nothing to choose from");
}

#[tokio::test]
async fn what_a_driver_says_of_its_choice_reveals_no_more_than_the_grant() {
    let text = "none is discrete: pci-a is a Model of pci-a, pci-b is 1, pci-c";
    for (reveal, expected) in [
        (Reveal::None, "none is discrete: 0 is a the device, 1 is 1, 2"),
        (Reveal::Model, "none is discrete: 0 is a Model of 0, 1 is 1, 2"),
        (Reveal::All, text),
    ] {
        let mock = Mock::new(Mode::Inline);
        let session = session(&mock, |grant| grant.reveal(reveal));
        let driver = session.granted()[0].try_create("mock").await.unwrap();
        *mock.chosen.lock().unwrap() = Some(Err(hal_driver::Error::new(Code::NotFound, text)));
        let error = driver.create_default_device().await.err().unwrap();
        assert_eq!((error.code, error.message.as_str()), (Code::NotFound, expected));
    }
}

#[tokio::test]
async fn what_narrowing_keeps_is_charged_once() {
    let mock = Mock::new(Mode::Inline);
    let session = session(&mock, |grant| grant);
    let used = || {
        let budget = session.budget(0).unwrap();
        budget.into_iter().find(|used| used.name == Limit::HostBytes.label()).unwrap().used
    };
    let patterns = vec!["*".to_owned(), format!("mock/{}", "x".repeat(200))];
    let first = session.granted()[0].narrow(&[], Some(&patterns)).unwrap();
    let once = used();
    assert!(once >= 200);
    let second = first.narrow(&[], Some(&patterns)).unwrap();
    drop(first);
    assert_eq!(used(), 2 * once, "the second one still needs the first one's");
    drop(second);
    assert_eq!(used(), 0);
}

#[tokio::test]
async fn a_sessions_bounds_on_a_call_hold_for_its_grants() {
    let mock = Mock::new(Mode::Inline);
    let start = |session: Option<u64>, grant: u64| {
        let grant = Grant::new(mock.factory()).limits(Limits::new().with(Limit::TransferBytes, grant));
        let builder = Session::builder("tenant").grant(grant).blob(BlobSource::bytes("b", vec![0; 8]));
        let limits = session.map(|bytes| Limits::new().with(Limit::TransferBytes, bytes));
        match limits {
            Some(limits) => builder.limits(limits),
            None => builder,
        }
        .start()
        .unwrap()
    };
    for (session, grant, allowed) in [(Some(4), 16, 4), (Some(16), 4, 4), (None, 32 << 20, 32 << 20)] {
        let session = start(session, grant);
        let device = session.granted()[0].try_create("mock").await.unwrap().create_default_device().await.unwrap();
        assert!(device.limits().contains(&Amount { name: "transfer-bytes".into(), value: allowed }));
        let target = buffer(&device, 8).await;
        assert_eq!(target.write(0, &[1; 5]).await.is_ok(), allowed > 4);
    }
    let session = start(Some(4), 16);
    assert_eq!(code(session.open_blob("b").unwrap().read(0, 5, Vec::new()).await), Code::ResourceExhausted);
}

#[tokio::test]
async fn a_slow_driver_does_not_outlast_its_grant_or_session() {
    for (end, expected) in [(true, Code::Cancelled), (false, Code::PermissionDenied)] {
        let mock = Mock::new(Mode::Inline);
        let session = session(&mock, |grant| grant);
        let driver = session.granted()[0].try_create("mock").await.unwrap();
        *mock.slow.lock().unwrap() = Duration::from_secs(3);
        let remote = session.remote();
        let begin = std::time::Instant::now();
        let opening = tokio::spawn(async move { driver.create_default_device().await.map(drop) });
        tokio::time::sleep(Duration::from_millis(50)).await;
        if end {
            remote.end();
        } else {
            remote.revoke(0);
        }
        assert_eq!(code(opening.await.unwrap()), expected);
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    }
}

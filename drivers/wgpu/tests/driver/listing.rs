//! Listing, choosing and opening.

use super::*;
use hal_driver::{Code, DeviceInfo, DeviceKind};

fn parameters(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn drivers_are_listed_without_touching_anything() {
    // There is nothing to touch for the others, so the map of this process tells.
    let factory = WgpuFactory::new(Config::new());
    let names: Vec<String> = factory.drivers().unwrap().into_iter().map(|info| info.name).collect();
    if cfg!(target_os = "linux") {
        assert_eq!(names, ["vulkan"]);
    }
    let error = factory.create("cuda").err().unwrap();
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("vulkan") || !cfg!(target_os = "linux"), "{error}");
}

#[test]
fn paths_are_unique_stable_and_no_index() {
    let Some(driver) = driver() else { return };
    let (first, second) = (driver.devices().unwrap(), driver.devices().unwrap());
    assert_eq!(first, second);
    let mut paths: Vec<&str> = first.iter().map(|device| device.path.as_str()).collect();
    assert!(paths.iter().all(|path| path.parse::<u64>().is_err() && path.len() > 3), "{paths:?}");
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), first.len());
}

#[test]
fn the_default_device_is_the_best_and_never_a_silent_substitute() {
    let Some(driver) = driver() else { return };
    let device = |path: &str, kind| DeviceInfo {
        path: path.into(),
        name: path.into(),
        kind,
        memory_bytes: 0,
        formats: Vec::new(),
        features: Vec::new(),
    };
    let all = [
        device("a", DeviceKind::Discrete),
        device("b", DeviceKind::Integrated),
        device("c", DeviceKind::Virtual),
        device("d", DeviceKind::Cpu),
    ];
    let choose = |devices: &[DeviceInfo], pairs: &[(&str, &str)]| driver.choose(devices, &parameters(pairs));
    assert_eq!(choose(&all, &[]), Ok(0));
    assert_eq!(choose(&all, &[("power", "low")]), Ok(1));
    assert_eq!(choose(&all, &[("power", "high")]), Ok(0));
    assert_eq!(choose(&all, &[("kind", "cpu")]), Ok(3));
    let error = choose(&all[3..], &[("kind", "discrete")]).unwrap_err();
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("discrete") && error.message.contains("cpu"), "{error}");
}

#[test]
fn parameters_that_mean_nothing_are_refused_with_what_there_is() {
    let Some(driver) = driver() else { return };
    let path = driver.devices().unwrap()[0].path.clone();
    for pairs in [
        &[("speed", "fast")][..],
        &[("kind", "quantum")],
        &[("power", "")],
        &[("validation", "yes")],
        &[("kind", "cpu"), ("kind", "cpu")],
    ] {
        let error = driver.open(&path, &parameters(pairs)).err().unwrap();
        assert_eq!(error.code, Code::InvalidArgument, "{pairs:?}: {error}");
    }
    assert_eq!(driver.open("pci-none", &[]).err().unwrap().code, Code::NotFound);
}

#[test]
fn a_device_of_another_kind_than_asked_is_not_opened() {
    let Some(driver) = driver() else { return };
    let device = driver.devices().unwrap().remove(0);
    let other = if device.kind == DeviceKind::Discrete { "cpu" } else { "discrete" };
    let error = driver.open(&device.path, &parameters(&[("kind", other)])).err().unwrap();
    assert_eq!(error.code, Code::NotFound, "{error}");
    assert!(driver.open(&device.path, &parameters(&[("kind", device.kind.label())])).is_ok());
}

#[test]
fn native_devices_are_opened_late_capped_and_given_back() {
    let Some(driver) = driver_with(Config::new().max_native_devices(3)) else { return };
    let path = driver.devices().unwrap()[0].path.clone();
    // Other tests of this process have devices of the same adapter, which count too, so only the shape can be tested: many handles
    // are no native devices, and the cap refuses with its number.
    let open: Vec<_> = (0..100).map(|_| driver.open(&path, &[]).unwrap()).collect();
    let outcomes: Vec<_> = open.iter().map(|device| device.allocate(&BufferParams::default(), 4)).collect();
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect::<Vec<_>>();
    assert!(refused.len() >= 97, "{} refused", refused.len());
    assert!(refused.iter().all(|error| error.code == Code::ResourceExhausted && error.message.contains('3')));
    drop(outcomes);
    drop(open);
    let until = Instant::now() + Duration::from_secs(60);
    let device = driver.open(&path, &[]).unwrap();
    while device.allocate(&BufferParams::default(), 4).is_err() {
        assert!(Instant::now() < until, "room never came back");
        thread::sleep(Duration::from_millis(50));
    }
}

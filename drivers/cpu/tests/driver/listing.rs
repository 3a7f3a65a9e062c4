//! Factories, drivers, opening.

use crate::support::*;
use hal_driver::{Code, DeviceKind, Factory};
use hal_driver_cpu::{Config, CpuFactory};

#[test]
fn lists_three_drivers_with_one_device_each() {
    let factory = CpuFactory::new(Config::new().workers(3)).unwrap();
    assert_eq!(factory.info().name, "cpu");
    let names: Vec<_> = factory.drivers().unwrap().into_iter().map(|driver| driver.name).collect();
    assert_eq!(names, ["cpu", "local-sync", "local-task"]);
    for name in names {
        let driver = factory.create(&name).unwrap();
        assert_eq!(driver.info().name, name);
        let devices = driver.devices().unwrap();
        assert_eq!(devices.len(), 1);
        assert_eq!((devices[0].path.as_str(), devices[0].kind), ("0", DeviceKind::Cpu));
        assert_eq!(devices[0].formats, ["wgsl", "spirv"]);
        assert!(devices[0].memory_bytes < 4 << 30);
        let device = driver.open("0", &[]).unwrap();
        assert_eq!(*device.info(), devices[0]);
        assert!(driver.details("0").unwrap().contains(&devices[0].memory_bytes.to_string()));
    }
    assert_eq!(factory.create("gpu").err().unwrap().code, Code::NotFound);
}

#[test]
fn refuses_paths_and_parameters_it_does_not_know() {
    for name in DRIVERS {
        assert_eq!(driver(name).open("1", &[]).err().unwrap().code, Code::NotFound);
        assert_eq!(driver(name).details("").err().unwrap().code, Code::NotFound);
        let long = "é".repeat(1000);
        let error = driver(name).open("0", &[(long, "9".into())]).err().unwrap();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.len() < 200, "quotes too much of what a guest wrote: {error}");
    }
}

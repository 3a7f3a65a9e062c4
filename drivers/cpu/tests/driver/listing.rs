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
        // All that a kernel can need but atomics of 64 bits; and no `f16-native`.
        assert_eq!(devices[0].features, ["float32-atomic", "shader-f16", "shader-int64", "subgroup"]);
        assert!(devices[0].memory_bytes < 4 << 30);
        let device = driver.open("0", &[]).unwrap();
        assert_eq!(*device.info(), devices[0]);
        let details = driver.details("0").unwrap();
        assert!(details.contains(&format!("\nmemory: {} bytes", devices[0].memory_bytes)), "{details}");
        assert!(details.contains("\nfeatures: float32-atomic, shader-f16, shader-int64, subgroup\n"), "{details}");
        assert!(details.contains("no f16-native"), "{details}");
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

#[test]
fn a_parameter_has_one_of_its_values_once() {
    for name in DRIVERS {
        let refused = |parameters: &[(&str, &str)]| {
            let pairs: Vec<_> = parameters.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
            let error = driver(name).open("0", &pairs).err().unwrap();
            assert_eq!(error.code, Code::InvalidArgument);
            error.message
        };
        assert_eq!(refused(&[("contraction", "1")]), "contraction=\"1\"; it is \"on\" or \"off\"");
        assert_eq!(refused(&[("contraction", "")]), "contraction=\"\"; it is \"on\" or \"off\"");
        assert!(refused(&[("contraction", "on"), ("contraction", "on")]).contains("given twice"));
        assert!(refused(&[("contraction", "on"), ("contract", "on")]).contains("there is \"contraction\""));
    }
}

//! Prints the drivers that were granted, each with its devices, and beside them what failed.

use hal_guest::{DeviceInfo, DriverInfo, Failure, Registry, println, run};

run!(main);

fn main() {
    let registry = Registry::default();
    let listing = registry.enumerate_detailed();
    for driver in &listing.drivers {
        print_driver(&registry, driver);
    }
    for Failure { factory, error } in listing.failures {
        println!("factory {factory} could not list its drivers: {error}");
    }
    if listing.drivers.is_empty() {
        println!("No drivers: this program was granted none. Name one when you run it, for instance");
        println!("    hal run list-devices.wasm --grant cpu");
    }
}

fn print_driver(registry: &Registry, DriverInfo { name, full_name, version }: &DriverInfo) {
    println!("{name}: {full_name}, version {version}");
    match registry.try_create(name).and_then(|driver| driver.query_available_devices()) {
        Ok(devices) if devices.is_empty() => println!("    no devices"),
        Ok(devices) => devices.iter().for_each(|device| print_device(name, device)),
        Err(error) => println!("    failed: {error}"),
    }
}

fn print_device(driver: &str, device: &DeviceInfo) {
    let DeviceInfo { path, name, kind, memory_bytes, formats, features, .. } = device;
    println!("    {driver}://{path}  {name} ({kind}, {} MiB)", memory_bytes >> 20);
    println!("        formats {}; features {}", list(formats), list(features));
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

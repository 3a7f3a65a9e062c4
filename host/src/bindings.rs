//! Bindings to everything the host implements: both packages less `hal:registry/registry`, which is a component's.
//!
//! Resources are the checked objects of `hal_core`. A function that may wait is `async` here and sync in WIT: the guest's
//! fiber is suspended meanwhile. All the others answer at once and cost a tenth of a microsecond.

#![expect(missing_docs, reason = "generated from documented WIT")]
#![allow(clippy::all, reason = "generated")]

wasmtime::component::bindgen!({
    inline: "
        package hal:host-bindings;
        world host {
            import hal:device/device@0.1.0;
            import hal:registry/drivers@0.1.0;
            import hal:registry/factories@0.1.0;
            import hal:registry/blobs@0.1.0;
        }
    ",
    path: ["../wit/device", "../wit/registry"],
    world: "hal:host-bindings/host",
    with: {
        "hal:device/blob.blob": hal_core::Blob,
        "hal:device/buffer.buffer": hal_core::Buffer,
        "hal:device/semaphore.semaphore": hal_core::Semaphore,
        "hal:device/executable.executable": hal_core::Executable,
        "hal:device/recording.recording": hal_core::Recording,
        "hal:device/device.device": hal_core::Device,
        "hal:registry/drivers.driver": hal_core::Driver,
        "hal:registry/drivers.driver-factory": hal_core::Factory,
    },
    trappable_error_type: {
        "hal:device/types.error" => crate::wit::Refusal,
    },
    imports: {
        "hal:device/blob@0.1.0.[method]blob.read": async | trappable,
        "hal:device/buffer@0.1.0.[method]buffer.read": async | trappable,
        "hal:device/buffer@0.1.0.[method]buffer.write": async | trappable,
        "hal:device/semaphore@0.1.0.[method]semaphore.wait": async | trappable,
        "hal:device/device@0.1.0.[method]device.query": async | trappable,
        "hal:device/device@0.1.0.[method]device.allocate": async | trappable,
        "hal:device/device@0.1.0.[method]device.load-executable": async | trappable,
        "hal:device/device@0.1.0.[method]device.create-recording": async | trappable,
        "hal:device/device@0.1.0.[method]device.submit": async | trappable,
        "hal:device/device@0.1.0.[method]device.execute": async | trappable,
        "hal:device/device@0.1.0.[method]device.alloca": async | trappable,
        "hal:device/device@0.1.0.[method]device.read-blob": async | trappable,
        "hal:device/device@0.1.0.[method]device.wait-semaphores": async | trappable,
        "hal:device/device@0.1.0.[method]device.trim": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver.info": trappable,
        "hal:registry/drivers@0.1.0.[method]driver.query-available-devices": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver.device-details": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver.create-device-by-ordinal": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver.create-device-by-id": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver.create-device-by-path": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver.create-device-by-uri": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver.create-default-device": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver-factory.enumerate": async | trappable,
        "hal:registry/drivers@0.1.0.[method]driver-factory.try-create": async | trappable,
        default: trappable,
    },
    require_store_data_send: true,
});

//! Devices: listed, opened in every way, and refused.

use crate::{
    Context, Outcome,
    case::Suite,
    target::{Code, DeviceInfo, Target, Which},
};

fn listed<T: Target>(cx: &Context<'_, T>) -> Outcome<Vec<DeviceInfo>> {
    let devices = cx.fine(cx.target.query_available_devices(), "listing devices")?;
    cx.ensure(!devices.is_empty(), || "expected a device, got an empty list".into())?;
    Ok(devices)
}

/// Opens it, and looks whether it says the same of itself and can hold a byte.
fn opens<T: Target>(cx: &Context<'_, T>, which: Which<'_>, listed: &DeviceInfo) -> Outcome {
    let device = cx.fine(cx.target.create_device(which, &[]), &format!("opening {which:?}"))?;
    let info = cx.target.device_info(&device);
    cx.same(
        (info.id, &info.path, &info.name),
        (listed.id, &listed.path, &listed.name),
        "what the device calls itself",
    )?;
    let id = cx.fine(cx.target.query(&device, "hal.device", "id"), "asking for its id")?;
    cx.same(id, listed.id, "its id as a number")?;
    let buffer = cx.fine(cx.target.allocate(&device, &crate::commands::params(), 1), "allocating on it")?;
    cx.write(&buffer, 0, &[7])?;
    cx.holds(&buffer, &[7], "a byte on it")?;
    cx.target.close_device(&device);
    Ok(())
}

pub(super) fn driver<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("QueryAndCreateAvailableDevicesByID", |cx| {
        listed(cx)?.iter().try_for_each(|device| opens(cx, Which::Id(device.id), device))
    });
    suite.case("QueryAndCreateAvailableDevicesByOrdinal", |cx| {
        (0..).zip(&listed(cx)?).try_for_each(|(ordinal, device)| opens(cx, Which::Ordinal(ordinal), device))
    });
    suite.case("QueryAndCreateAvailableDevicesByPath", |cx| {
        let devices = listed(cx)?;
        devices.iter().try_for_each(|device| opens(cx, Which::Path(&device.path), device))?;
        let first = &devices[0];
        opens(cx, Which::Path(""), first)?;
        opens(cx, Which::Default, first)?;
        opens(cx, Which::Uri(""), first)?;
        opens(cx, Which::Uri(&format!("//{}", first.path)), first)
    });
    suite.case("UnknownDevices", |cx| {
        let devices = listed(cx)?;
        let open = |which| cx.target.create_device(which, &[]);
        let past = devices.len() as u32;
        cx.refused(open(Which::Ordinal(past)), Code::OutOfRange, "the ordinal past the last")?;
        cx.refused(open(Which::Id(u64::MAX)), Code::NotFound, "an id that was never listed")?;
        cx.refused(open(Which::Path("no-such-device")), Code::NotFound, "a path that is not listed")?;
        cx.refused(open(Which::Path(&"x".repeat(257))), Code::InvalidArgument, "a path of 257 bytes")?;
        opens(cx, Which::Default, &devices[0])
    });
    suite.case("UnknownParameter", |cx| {
        let open = |parameters: &[(&str, &str)]| cx.target.create_device(Which::Default, parameters);
        let error = cx.refused(open(&[("no-such-parameter", "1")]), Code::InvalidArgument, "an unknown parameter")?;
        cx.same(error.limit, None, "the limit of an unknown parameter")?;
        let many: Vec<_> = (0..129).map(|_| ("k", "v")).collect();
        cx.refused(open(&many), Code::InvalidArgument, "129 parameters")?;
        let uri = Which::Uri("?no-such-parameter=1");
        cx.refused(cx.target.create_device(uri, &[]), Code::InvalidArgument, "an unknown parameter in a URI")?;
        opens(cx, Which::Default, &listed(cx)?[0])
    });
    // A limit that is too high and a feature that nobody knows are told apart.
    suite.case("UnknownFeatureIsNoLimit", |cx| {
        let unknown = cx.target.query(&cx.device, "hal.features", "no-such-feature");
        cx.refused(unknown, Code::NotFound, "a feature that nobody knows")?;
        let missing = cx.target.query(&cx.device, "hal.limits", "no-such-limit");
        cx.refused(missing, Code::NotFound, "a limit that nobody knows")?;
        let f16 = cx.fine(cx.target.query(&cx.device, "hal.features", "shader-f16"), "a known feature")?;
        let info = cx.target.device_info(&cx.device);
        cx.same(
            f16 == 1,
            info.features.iter().any(|name| name == "shader-f16"),
            "the feature as number and in the list",
        )?;
        let most = cx.limit("max-buffer-bytes")?;
        let params = crate::commands::params();
        let above = cx.target.allocate(&cx.device, &params, most.saturating_add(1));
        let error = cx.refused(above, Code::ResourceExhausted, "a buffer above the largest")?;
        cx.ensure(error.limit.is_some(), || format!("expected the limit that was hit, got {error}"))?;
        cx.buffer(4).map(|_| ())
    });
    suite.case("CloseRefusesUse", |cx| {
        let device = cx.another_device()?;
        let params = crate::commands::params();
        let buffer = cx.fine(cx.target.allocate(&device, &params, 4), "allocating")?;
        let semaphore = cx.fine(cx.target.create_semaphore(&device, 0), "making a semaphore")?;
        let loss = cx.fine(cx.target.loss_semaphore(&device), "asking for the loss semaphore")?;
        cx.same(cx.target.lost(&device), None, "the loss of a device that is well")?;
        cx.target.close_device(&device);
        cx.target.close_device(&device);
        let closed = Code::FailedPrecondition;
        cx.refused(cx.target.allocate(&device, &params, 4), closed, "allocating on a closed device")?;
        cx.refused(cx.target.create_semaphore(&device, 0), closed, "a semaphore of a closed device")?;
        cx.refused(cx.target.read(&buffer, 0, 4), closed, "reading a buffer of a closed device")?;
        cx.refused(cx.target.signal(&semaphore, 1), closed, "signalling a semaphore of a closed device")?;
        cx.refused(cx.target.wait(&loss, 1, crate::LONG), closed, "waiting for the end of a closed device")?;
        cx.same(cx.target.lost(&device), None, "a closed device is not lost")?;
        // The other device of the same driver does not notice.
        let other = cx.buffer_of(&[1, 2, 3])?;
        cx.holds(&other, &[1, 2, 3], "a buffer of another device")
    });
    suite.case("TrimKeepsContents", |cx| {
        let buffer = cx.buffer_of(&crate::commands::sample(5000))?;
        cx.fine(cx.target.trim(&cx.device), "trimming")?;
        cx.holds(&buffer, &crate::commands::sample(5000), "a buffer after a trim")
    });
}

//! What a device publishes is what is taken: its own limits, and those of the portable profile.

use crate::*;
use hal_core::{Binding, BindingKind, Function, LimitHit, Parameters};
use hal_driver::{FEATURES, PORTABLE};

fn portable() -> Parameters {
    vec![("profile".into(), "portable".into())]
}

fn function() -> Function {
    Function {
        name: "f".into(),
        workgroup_size: [8, 8, 4],
        bindings: Vec::new(),
        constant_bytes: 128,
        workgroup_bytes: 1024,
        features: Vec::new(),
    }
}

async fn open(world: &World, parameters: Parameters) -> Result<Device, Error> {
    world.session.granted()[0].try_create("mock").await.unwrap().create_device_by_path("0", parameters).await
}

async fn load(device: &Device) -> Result<Executable, Error> {
    let params = ExecutableParams { format: "wgsl".into(), ..Default::default() };
    device.load_executable(params, b"kernel".to_vec()).await
}

fn limit(device: &Device, name: &str) -> u64 {
    device.limits().into_iter().find(|limit| limit.name == name).unwrap().value
}

#[tokio::test]
async fn a_storage_binding_ends_at_the_devices_limit() {
    let world = World::new(Mode::Inline);
    let device = world.device().await;
    let (small, large, kernel) = (buffer(&device, 4096).await, buffer(&device, 4100).await, executable(&device).await);
    let submit = async |from: BufferRef, to: BufferRef| {
        let mut batch = batch(&[&small, &large], vec![Command::Dispatch(scale(from, to))]);
        batch.executables.push(kernel.clone());
        device.submit(vec![], batch, vec![], None).await
    };
    submit(whole(0), range(1, 0, 4096)).await.unwrap();
    for (from, to) in [(whole(1), whole(0)), (whole(0), whole(1)), (range(1, 0, 4100), whole(0))] {
        let error = submit(from, to).await.unwrap_err();
        let limit = "max-storage-binding-bytes";
        assert_eq!(error.limit, Some(LimitHit { limit, asked: 4100, available: 4096, allowed: 4096 }), "{error}");
        assert!(error.message.contains(limit), "{error}");
    }
    // An open length that rounds down to the limit fits.
    submit(BufferRef { offset: 16, ..whole(1) }, whole(0)).await.unwrap();
    // So does what only looks too long: the rest of a recording's slot.
    let mut slots = batch(&[&small], vec![Command::Dispatch(scale(slot(0), whole(0)))]);
    slots.executables.push(kernel.clone());
    let recording = device.create_recording(slots, 1, "").await.unwrap();
    let fill = async |length| {
        let binding = hal_core::SlotBinding { buffer: 0, offset: 0, length };
        device.execute(vec![], &recording, vec![large.clone()], vec![binding], vec![], None).await
    };
    assert_eq!(code(fill(None).await), Code::ResourceExhausted);
    fill(Some(4096)).await.unwrap();
}

#[tokio::test]
async fn the_portable_profile_is_published_and_lists_no_features() {
    let world = World::new(Mode::Inline);
    let (device, plain) = (open(&world, portable()).await.unwrap(), open(&world, vec![]).await.unwrap());
    assert_eq!((limit(&plain, "binding-offset-alignment"), limit(&device, "binding-offset-alignment")), (16, 256));
    // What the device has less of stays.
    assert_eq!(limit(&device, "max-bindings"), 8);
    assert_eq!(limit(&device, "max-workgroup-memory-bytes"), 1024);
    assert_eq!(limit(&device, "max-loop-iterations"), 65_535);
    for (name, most) in PORTABLE.named() {
        let value = limit(&device, name);
        let within = if name.starts_with("binding-") { value >= most } else { value <= most };
        assert!(within && (value == limit(&plain, name) || value == most), "{name}: {value}");
    }
    assert_eq!((plain.info().features, device.info().features), (vec!["subgroup".to_owned()], vec![]));
    for feature in FEATURES {
        assert_eq!(device.query("hal.features", feature).await, Ok(0));
    }
    assert_eq!(device.info().path, plain.info().path);
}

#[tokio::test]
async fn the_portable_profile_is_enforced() {
    let world = World::new(Mode::Inline);
    let device = open(&world, portable()).await.unwrap();
    let (from, to, kernel) = (buffer(&device, 1024).await, buffer(&device, 1024).await, executable(&device).await);
    let submit = async |offset| {
        let mut batch = batch(&[&from, &to], vec![Command::Dispatch(scale(range(0, offset, 16), whole(1)))]);
        batch.executables.push(kernel.clone());
        device.submit(vec![], batch, vec![], None).await
    };
    submit(256).await.unwrap();
    let error = submit(16).await.unwrap_err();
    assert!(error.message.contains("\"binding-offset-alignment\", 256"), "{error}");
    assert_eq!(bytes(&to).await[..4], [9; 4], "a buffer is the device's own");
}

#[tokio::test]
async fn functions_beyond_the_profile_are_incompatible_and_name_the_limit() {
    let world = World::new(Mode::Inline);
    let device = open(&world, portable()).await.unwrap();
    let with = |function: Function| *world.mock.function.lock().unwrap() = Some(function);
    with(function());
    assert_eq!(load(&device).await.unwrap().functions()[2], function());
    let bindings = (0..9).map(|binding| Binding {
        binding,
        kind: BindingKind::Storage,
        reads: true,
        writes: false,
        min_length: 4,
    });
    for (limit, asked, beyond) in [
        ("max-invocations-per-workgroup", 512, Function { workgroup_size: [8, 8, 8], ..function() }),
        ("max-invocations-per-workgroup", u64::MAX, Function { workgroup_size: [u32::MAX; 3], ..function() }),
        ("max-bindings", 9, Function { bindings: bindings.collect(), ..function() }),
        ("max-workgroup-memory-bytes", 1025, Function { workgroup_bytes: 1025, ..function() }),
        ("max-constant-bytes", 132, Function { constant_bytes: 132, ..function() }),
    ] {
        with(beyond);
        let error = load(&device).await.err().unwrap();
        assert_eq!((error.code, error.limit.as_ref().unwrap().limit), (Code::Incompatible, limit), "{error}");
        assert_eq!(error.limit.as_ref().unwrap().asked, asked, "{error}");
        assert!(error.message.contains(limit) && error.message.contains("\"f\""), "{error}");
    }
    with(Function { features: vec!["subgroup".into()], ..function() });
    let error = load(&device).await.err().unwrap();
    assert!(error.code == Code::Incompatible && error.message.contains("\"subgroup\""), "{error}");
    load(&open(&world, vec![]).await.unwrap()).await.expect("without the profile the device has it");
    assert_eq!(world.used(Limit::Executables), 0, "what was refused costs nothing");
}

#[tokio::test]
async fn other_profiles_are_refused_on_every_driver_with_the_list() {
    let world = World::new(Mode::Inline);
    for value in ["", "Portable", "webgpu"] {
        let error = open(&world, vec![("profile".into(), value.into())]).await.err().unwrap();
        assert!(error.code == Code::InvalidArgument && error.message.ends_with("there is portable"), "{error}");
    }
    let driver = world.session.granted()[0].try_create("mock").await.unwrap();
    let device = driver.create_device_by_uri("mock://0?profile=portable").await.unwrap();
    assert_eq!(limit(&device, "binding-offset-alignment"), 256);
    assert_eq!(
        code(driver.create_device_by_uri("mock://0?profile=portable&profile=portable").await),
        Code::InvalidArgument
    );
    assert_eq!(code(driver.create_device_by_uri("mock://0?profile=portable&x=1").await), Code::InvalidArgument);
    assert_eq!(world.used(Limit::Devices), 1);
}

//! Calls of a guest: into the registry component beside the same logic natively, into the host, and a dispatch there and back.

use crate::{
    measure::{each, pair},
    native,
    table::Row,
    tenants::{self, Bench},
};
use anyhow::{Context, Result};
use hal_core::{Batch, BufferParams, Command, Dispatch, DispatchBinding, Source, TimePoint, Usage};
use std::hint::black_box;

const GROUP: &str = "calls";

/// Repetitions in one call: enough that the call itself does not count.
const ROUNDS: u32 = 200;

/// Measures the group.
///
/// # Errors
/// What any of it answers.
pub fn measure() -> Result<Vec<Row>> {
    let bench = Bench::new()?;
    let mut guest = bench.guest()?;
    let registry = native::registry(&tenants::factories()?)?;
    let id = registry_factory_id()?;
    let mut rows = Vec::new();
    let mut row = |name: &str, pair: crate::measure::Pair, at_least| {
        rows.push(Row::paired(GROUP, name, &pair, "ns").at_least(at_least));
    };
    let native = |operation: &dyn Fn() -> Result<()>| each(ROUNDS, || (0..ROUNDS).try_for_each(|_| operation()));

    let ping = pair(
        || guest.each("ping", ROUNDS, 0),
        || {
            native(&|| {
                black_box(id());
                Ok(())
            })
        },
    )?;
    row("guest to host, factory.id / native virtual call", ping, None);
    let enumerate =
        pair(|| guest.each("enumerate", ROUNDS, 0), || native(&|| registry.enumerate().map(drop).map_err(message)))?;
    row("registry.enumerate, component / native", enumerate, None);
    let create = pair(
        || guest.each("try-create", ROUNDS, 0),
        || native(&|| registry.try_create("local-sync").map(drop).map_err(message)),
    )?;
    row("registry.try-create, component / native", create, None);
    let open = pair(
        || guest.each("create-device", ROUNDS, 0),
        || native(&|| registry.create_device("null://").map(drop).map_err(message)),
    )?;
    row("registry.create-device, component / native", open, None);

    let mut dispatcher = Dispatcher::new(&bench)?;
    let dispatch = pair(|| guest.each("dispatch", ROUNDS, 0), || dispatcher.each(&bench))?;
    row("submit and wait, 1,024 elements on local-sync, guest / native", dispatch, None);
    Ok(rows)
}

fn message(error: hal_registry::Error) -> anyhow::Error {
    anyhow::anyhow!("{}", error.message)
}

/// A call through a trait object, the cheapest thing that could stand in a handle's place.
fn registry_factory_id() -> Result<impl Fn() -> usize> {
    let factories = tenants::factories()?;
    let factory = factories.into_iter().next().context("no factory")?;
    Ok(move || factory.info().name.len())
}

/// The guest's dispatch, made natively through the same checked layer.
struct Dispatcher {
    /// Its end would be the device's.
    _session: hal_core::Session,
    device: hal_core::Device,
    batch: Batch,
    timeline: hal_core::Semaphore,
    next: u64,
}

impl Dispatcher {
    fn new(bench: &Bench) -> Result<Self> {
        const KERNEL: &str = "
            struct Constants { scale: u32, offset: u32 }
            var<immediate> constants: Constants;
            @group(0) @binding(0) var<storage, read> input: array<u32>;
            @group(0) @binding(1) var<storage, read_write> output: array<u32>;
            @compute @workgroup_size(1)
            fn scale_and_offset(@builtin(global_invocation_id) id: vec3<u32>) {
                output[id.x] = input[id.x] * constants.scale + constants.offset;
            }";
        bench.runtime.block_on(async {
            let session = bench.session()?;
            let factory = session.granted().into_iter().next().context("no factory")?;
            let device = factory.try_create("local-sync").await?.create_default_device().await?;
            let params = hal_core::ExecutableParams { format: "wgsl".into(), ..Default::default() };
            let executable = device.load_executable(params, KERNEL.into()).await?;
            let params = BufferParams { usage: Usage::all(), ..Default::default() };
            let buffers = vec![device.allocate(params.clone(), 4096).await?, device.allocate(params, 4096).await?];
            let binding = |binding| DispatchBinding {
                binding,
                buffer: hal_core::BufferRef { source: Source::Direct(binding), offset: 0, length: None },
            };
            let dispatch = Dispatch {
                executable: 0,
                function: 0,
                workgroups: hal_core::Workgroups::Direct([1024, 1, 1]),
                constants: Box::new([0; 8]),
                bindings: Box::new([binding(0), binding(1)]),
            };
            let batch = Batch { buffers, executables: vec![executable], commands: vec![Command::Dispatch(dispatch)] };
            let timeline = device.create_semaphore(0)?;
            Ok(Self { _session: session, device, batch, timeline, next: 0 })
        })
    }

    fn each(&mut self, bench: &Bench) -> Result<f64> {
        each(ROUNDS, || {
            bench.runtime.block_on(async {
                for _ in 0..ROUNDS {
                    self.next += 1;
                    let signal = vec![TimePoint::new(&self.timeline, self.next)];
                    self.device.submit(Vec::new(), self.batch.clone(), signal, None).await?;
                    self.timeline.wait(self.next, u64::MAX).await?;
                }
                Ok(())
            })
        })
    }
}

//! The checked layer, natively: what conformance lists as semaphores, refusals, budgets and faults, over a driver that does as it
//! is told.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests, helpers included"
)]

mod budgets;
mod chains;
mod endings;
mod finding;
mod graphs;
mod mock;
mod profile;
mod refusals;
mod semaphores;
mod submissions;
mod transient;

use hal_core::{
    Batch, Buffer, BufferParams, BufferRef, Code, Command, Device, Dispatch, DispatchBinding, Error, Executable,
    ExecutableParams, Grant, Limit, Limits, MemoryAccess, MemoryType, Semaphore, Session, Source, TimePoint, Usage,
    Workgroups,
};
use mock::{Mock, Mode};
use std::sync::Arc;

const FOREVER: u64 = u64::MAX;
const SHORT: u64 = 20_000_000;

/// A session with one grant on a mock.
struct World {
    mock: Arc<Mock>,
    session: Session,
}

impl World {
    fn new(mode: Mode) -> Self {
        Self::limited(mode, Limits::new())
    }

    fn limited(mode: Mode, limits: Limits) -> Self {
        let mock = Mock::new(mode);
        let session = Session::builder("tenant").grant(Grant::new(mock.factory()).limits(limits)).start().unwrap();
        Self { mock, session }
    }

    async fn device(&self) -> Device {
        let factory = self.session.granted().remove(0);
        factory.try_create("mock").await.unwrap().create_default_device().await.unwrap()
    }

    /// Of a limit, what the grant uses.
    fn used(&self, limit: Limit) -> u64 {
        let budget = self.session.budget(0).unwrap();
        budget.into_iter().find(|used| used.name == limit.label()).unwrap().used
    }
}

fn params() -> BufferParams {
    BufferParams {
        memory: MemoryType::HOST_VISIBLE | MemoryType::DEVICE_VISIBLE,
        usage: Usage::all(),
        access: MemoryAccess::empty(),
        label: "b".into(),
    }
}

async fn buffer(device: &Device, size: u64) -> Buffer {
    device.allocate(params(), size).await.unwrap()
}

async fn executable(device: &Device) -> Executable {
    let params = ExecutableParams { format: "wgsl".into(), ..Default::default() };
    device.load_executable(params, b"kernel".to_vec()).await.unwrap()
}

async fn bytes(buffer: &Buffer) -> Vec<u8> {
    buffer.read(0, buffer.info().size, Vec::new()).await.unwrap()
}

fn range(index: u32, offset: u64, length: u64) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset, length: Some(length) }
}

fn whole(index: u32) -> BufferRef {
    BufferRef { source: Source::Direct(index), offset: 0, length: None }
}

fn slot(index: u32) -> BufferRef {
    BufferRef { source: Source::Slot(index), offset: 0, length: None }
}

fn fill(target: BufferRef, byte: u8) -> Command {
    Command::Fill { target, pattern: vec![byte] }
}

fn batch(buffers: &[&Buffer], commands: Vec<Command>) -> Batch {
    Batch { buffers: buffers.iter().map(|buffer| (*buffer).clone()).collect(), executables: Vec::new(), commands }
}

/// A dispatch of "scale", which is right but for what the test changes.
fn scale(from: BufferRef, to: BufferRef) -> Dispatch {
    Dispatch {
        executable: 0,
        function: 0,
        workgroups: Workgroups::Direct([1, 1, 1]),
        constants: Box::new([0; 8]),
        bindings: Box::new([DispatchBinding { binding: 2, buffer: to }, DispatchBinding { binding: 0, buffer: from }]),
    }
}

fn point(semaphore: &Semaphore, value: u64) -> TimePoint {
    TimePoint::new(semaphore, value)
}

fn code<T>(result: Result<T, Error>) -> Code {
    match result {
        Ok(_) => panic!("expected a refusal"),
        Err(error) => error.code,
    }
}

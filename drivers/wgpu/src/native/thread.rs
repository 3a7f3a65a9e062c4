//! The thread's life.

use super::{Native, group};
use crate::{
    device::Handle,
    state::{Item, Patience, State, take_done, tell},
};
use hal_driver::{Code, Error, Result, Timing, Work};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

/// Native shader compilers recurse over what a tenant nested. The same as the threads have that our own front end runs on.
const STACK_BYTES: usize = hal_kernel::limits::COMPILE_STACK_BYTES;

/// Native devices of an adapter that may hang before it is given up for this process. One on a software adapter: it shares its threads
/// between devices, so that one that hangs stops all.
const MAX_WEDGED_SOFTWARE: usize = 1;
const MAX_WEDGED_HARDWARE: usize = 4;

/// Starts the thread and waits until the native device is open. *Blocking.*
pub(crate) fn start(state: &Arc<State>, max_native_devices: usize) -> Result<()> {
    let adapter = &state.adapter;
    let most = if adapter.is_software() { MAX_WEDGED_SOFTWARE } else { MAX_WEDGED_HARDWARE };
    if adapter.health.wedged() >= most {
        return Err(Error::new(
            Code::Unavailable,
            "the adapter hangs in other work and takes no new device; it needs a new process, unless it comes back",
        ));
    }
    let place = adapter.health.place(max_native_devices).ok_or_else(|| {
        Error::new(
            Code::ResourceExhausted,
            format!("{max_native_devices} devices of this adapter are open, and no more are allowed; close one"),
        )
    })?;
    let (sender, opened) = mpsc::sync_channel(1);
    let own = state.clone();
    let run = move || {
        let _place = place;
        own.begin(Patience::Compile);
        let native = catch_unwind(AssertUnwindSafe(|| Native::open(own.clone())));
        own.end();
        let native = native.unwrap_or_else(|_| Err(Error::new(Code::Internal, "the driver panicked on opening")));
        match native {
            Ok(native) => {
                // Whoever started us may have given up.
                let _ = sender.send(Ok(()));
                live(&own, native);
            }
            Err(error) => drop(sender.send(Err(error))),
        }
    };
    let thread = thread::Builder::new().name("hal-wgpu".into()).stack_size(STACK_BYTES).spawn(run);
    thread.map_err(|error| Error::new(Code::ResourceExhausted, format!("no thread for a device: {error}")))?;
    loop {
        match opened.recv_timeout(Duration::from_millis(100)) {
            Ok(outcome) => return outcome,
            Err(mpsc::RecvTimeoutError::Timeout) => state.alive()?,
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Error::new(Code::Internal, "the device's thread ended while it opened the device"));
            }
        }
    }
}

/// Queues a work. Never blocks.
pub(crate) fn submit(handle: &Handle, mut work: Work) {
    let state = &handle.state;
    let at_once = match state.alive() {
        Err(error) => Some(Err(error)),
        // Without a native device there is nothing that a command could name: these are none, or barriers.
        Ok(()) if !handle.started() => Some(Ok(Timing::default())),
        Ok(()) => None,
    };
    if let Some(outcome) = at_once {
        let done = take_done(&mut work);
        drop(work);
        return tell(done, outcome);
    }
    state.push(Item::Work(Instant::now(), work));
    // It may have been lost between.
    if state.lost().is_some() {
        state.refuse_rest();
    }
}

/// Does what is queued until there will be no more, and lets go of the native device.
fn live(state: &Arc<State>, mut native: Native) {
    let worked = catch_unwind(AssertUnwindSafe(|| work_off(state, &mut native)));
    if worked.is_err() {
        state.lose("the driver panicked");
        state.end().into_iter().for_each(|done| tell(done, Err(state.loss())));
        state.refuse_rest();
    }
    // The native queue is waited for, and may fail, in its drop.
    state.begin(Patience::Compile);
    let close = || {
        native.save();
        drop(native);
    };
    if catch_unwind(AssertUnwindSafe(close)).is_err() {
        tracing::error!(device = %state.adapter.info.path, "the native device panicked as it was closed");
    }
    state.end();
}

fn work_off(state: &Arc<State>, native: &mut Native) {
    while let Some(item) = state.next() {
        match item {
            Item::Job(job) => {
                state.begin(Patience::Compile);
                if catch_unwind(AssertUnwindSafe(|| job(native))).is_err() {
                    state.lose("the driver panicked");
                }
                native.abandon();
                state.end();
            }
            Item::Work(since, work) => group::run(state, native, since, work),
        }
        if state.lost().is_some() {
            state.refuse_rest();
        }
    }
}

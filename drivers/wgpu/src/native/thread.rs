//! The thread's life.

use super::Native;
use crate::{
    device::Handle,
    state::{Item, State},
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

/// How long a job may take: a compiler that cannot be interrupted, on a busy machine.
const JOB_TIME: Duration = Duration::from_secs(60);

/// Work without a deadline is looked at again after this time.
const NO_DEADLINE: Duration = Duration::from_secs(24 * 60 * 60);

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
        own.take_off(Instant::now() + JOB_TIME, None);
        let native = catch_unwind(AssertUnwindSafe(|| Native::open(own.clone())));
        land(&own);
        let native = native.unwrap_or_else(|_| Err(Error::new(Code::Internal, "the driver panicked on opening")));
        match native {
            Ok(native) => {
                let _ = sender.send(Ok(()));
                work_off(&own, native);
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
        let done = std::mem::replace(&mut work.done, Box::new(drop));
        drop(work);
        return done(outcome);
    }
    state.push(Item::Work(Instant::now(), work));
    // It may have been lost between.
    if state.lost().is_some() {
        state.refuse_rest();
    }
}

/// Does what is queued, until there will be no more.
fn work_off(state: &Arc<State>, mut native: Native) {
    while let Some(item) = state.next() {
        match item {
            Item::Job(job) => {
                state.take_off(Instant::now() + JOB_TIME, None);
                if catch_unwind(AssertUnwindSafe(|| job(&mut native))).is_err() {
                    state.lose("the driver panicked");
                }
                land(state);
            }
            Item::Work(since, work) => run(state, &mut native, since, work),
        }
        native.abandon();
        if state.lost().is_some() {
            state.refuse_rest();
        }
    }
}

/// Runs one work and says how it went.
fn run(state: &Arc<State>, native: &mut Native, since: Instant, mut work: Work) {
    let begin = Instant::now();
    let done = std::mem::replace(&mut work.done, Box::new(drop));
    state.take_off(work.control.deadline().unwrap_or(begin + NO_DEADLINE), Some(done));
    let outcome = catch_unwind(AssertUnwindSafe(|| native.run(&work)));
    let outcome = outcome.unwrap_or_else(|_| {
        state.lose("the driver panicked");
        Err(Error::new(Code::Internal, "the driver panicked in a work"))
    });
    let timing = Timing { queue: begin - since, device: Some(begin.elapsed()) };
    // What was begun and not submitted holds buffers, and they go before the news does: whoever hears it may count on their memory.
    native.abandon();
    drop(work);
    let Some(done) = land(state) else { return };
    if catch_unwind(AssertUnwindSafe(|| done(outcome.map(|()| timing)))).is_err() {
        tracing::error!("a submission's `done` panicked");
    }
}

/// Ends what the thread did. Answers who is to be told.
fn land(state: &State) -> Option<hal_driver::Done> {
    let (done, hung) = state.land();
    if hung {
        tracing::warn!(device = %state.adapter.info.path, "a device that was given up has come back");
        state.adapter.health.unwedge();
    }
    done
}

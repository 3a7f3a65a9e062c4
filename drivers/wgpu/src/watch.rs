//! Who notices that a device's thread does not come back: one thread for the process, which sleeps while no device works.

use crate::state::State;
use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    thread,
    time::Duration,
};

/// How often it looks while devices work.
const INTERVAL: Duration = Duration::from_millis(250);

/// The devices that have worked since it last found them idle.
static WATCH: Watch = Watch { devices: Mutex::new(Vec::new()), more: Condvar::new() };

struct Watch {
    devices: Mutex<Vec<Weak<State>>>,
    more: Condvar,
}

/// Looks after a device until it is idle again.
pub(crate) fn look_after(state: &Arc<State>) {
    static STARTED: OnceLock<bool> = OnceLock::new();
    let started = *STARTED.get_or_init(|| thread::Builder::new().name("hal-wgpu-watch".into()).spawn(run).is_ok());
    if !started {
        tracing::error!("no thread to watch GPUs with: a device that hangs will not be noticed");
        return;
    }
    let mut devices = lock();
    if !devices.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(state))) {
        devices.push(Arc::downgrade(state));
        WATCH.more.notify_one();
    }
}

fn run() {
    loop {
        let mut devices = lock();
        while devices.is_empty() {
            devices = WATCH.more.wait(devices).unwrap_or_else(PoisonError::into_inner);
        }
        drop(devices);
        thread::sleep(INTERVAL);
        let working: Vec<Arc<State>> = lock().iter().filter_map(Weak::upgrade).collect();
        // Outside of the lock: whoever is told may begin something new.
        working.iter().for_each(|state| state.check_overdue());
        lock().retain(|state| state.upgrade().is_some_and(|state| state.is_busy()));
    }
}

fn lock() -> MutexGuard<'static, Vec<Weak<State>>> {
    WATCH.devices.lock().unwrap_or_else(PoisonError::into_inner)
}

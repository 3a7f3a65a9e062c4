//! The threads on which untrusted source is parsed and compiled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{ErrorCode, KernelError};
use crate::limits::{COMPILE_STACK_BYTES, MAX_COMPILE_THREADS};

/// Threads in use, in the process.
static BUSY: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// One of the process's compile threads, taken.
struct Slot;

impl Slot {
    fn take() -> Self {
        let mut busy = lock();
        while *busy >= MAX_COMPILE_THREADS {
            busy = FREED.wait(busy).unwrap_or_else(PoisonError::into_inner);
        }
        *busy += 1;
        Self
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *lock() -= 1;
        FREED.notify_one();
    }
}

fn lock() -> MutexGuard<'static, usize> {
    // Nothing panics while it holds the lock.
    BUSY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on a compile thread: with a stack that the capped source cannot overflow, and with panics caught. At most
/// [`MAX_COMPILE_THREADS`] run at a time, in the process; further callers wait.
///
/// For a driver's own compiler, too: it meets the same untrusted program.
///
/// # Errors
///
/// `Internal` if `work` panicked, `ResourceExhausted` if the thread cannot be had.
pub fn on_compile_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, KernelError> {
    let _slot = Slot::take();
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("kernel-compile".to_owned()).stack_size(COMPILE_STACK_BYTES);
        let thread = builder.spawn_scoped(scope, || catch_unwind(AssertUnwindSafe(work))).map_err(|error| {
            let message = format!("no thread to compile on: {error}; try again");
            KernelError::new(ErrorCode::ResourceExhausted, message)
        })?;
        match thread.join() {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) | Err(_) => {
                let message = "the front end failed on this program (a defect of it, not of the device); simplify the \
                               program, and please report it";
                Err(KernelError::new(ErrorCode::Internal, message))
            }
        }
    })
}

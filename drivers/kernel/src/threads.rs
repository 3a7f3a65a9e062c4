//! The threads on which untrusted source is parsed and compiled.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};

use crate::error::{ErrorCode, KernelError};
use crate::limits::{COMPILE_STACK_BYTES, MAX_COMPILE_THREADS};

/// Who may compile, in the process.
static GATE: Gate = Gate { line: Mutex::new(Line { came: 0, left: 0 }), moved: Condvar::new() };

/// Lets so many in at a time, in the order in which they came: who compiles one thing after the other does not overtake those who wait.
struct Gate {
    line: Mutex<Line>,
    moved: Condvar,
}

/// Counted since the process began.
struct Line {
    came: u64,
    left: u64,
}

/// One of the compile threads, taken.
struct Slot<'a>(&'a Gate);

/// A turn at compiling, until it is dropped: see [`compile_slot`].
pub struct CompileSlot {
    _slot: Slot<'static>,
}

/// Waits for a turn at compiling on the calling thread: for native compilers that a driver can call on one thread only. That thread
/// needs a stack of [`COMPILE_STACK_BYTES`], catches panics by itself, and does not call [`on_compile_thread`] meanwhile.
pub fn compile_slot() -> CompileSlot {
    CompileSlot { _slot: GATE.enter() }
}

impl Gate {
    fn enter(&self) -> Slot<'_> {
        let mut line = self.lock();
        let place = line.came;
        line.came += 1;
        while place >= line.left + MAX_COMPILE_THREADS as u64 {
            line = self.moved.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
        Slot(self)
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        // Nothing panics while it holds the lock.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.lock().left += 1;
        self.0.moved.notify_all();
    }
}

/// Runs `work` on a compile thread: with a stack that the capped source cannot overflow, and with panics caught. At most
/// [`MAX_COMPILE_THREADS`] run at a time, in the process; further callers wait, and are served in the order in which they came.
///
/// For a driver's own compiler, too: it meets the same untrusted program. Hand it one piece at a time, so that others have their turn, and
/// never call this from inside of `work`, which would wait for itself.
///
/// A tenant chooses what makes a compiler panic, so such a panic is no news of the process's: the first call puts a panic hook of its own before
/// the one there is, which says nothing of panics on these threads and hands all others on. A hook that is set later replaces it,
/// and hears of them.
///
/// # Errors
///
/// `Internal` if `work` panicked, `ResourceExhausted` if the thread cannot be had.
pub fn on_compile_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, KernelError> {
    static HOOK: Once = Once::new();
    // Not while this thread unwinds: the hook cannot be changed then.
    if !std::thread::panicking() {
        HOOK.call_once(hear_panics);
    }
    let _slot = GATE.enter();
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("kernel-compile".to_owned()).stack_size(COMPILE_STACK_BYTES);
        let run = || {
            HEARD.set(Some(Heard::default()));
            catch_unwind(AssertUnwindSafe(work)).map_err(|_| HEARD.take().unwrap_or_default())
        };
        let thread = builder.spawn_scoped(scope, run).map_err(|error| {
            let message = format!("no thread to compile on: {error}; try again");
            KernelError::new(ErrorCode::ResourceExhausted, message)
        })?;
        thread.join().unwrap_or_else(|_| Err(Heard::default())).map_err(|heard| {
            let message = format!(
                "the compiler failed on this program (a defect of it, not of the device{}); simplify the program, and \
                 please report it",
                heard.0.map(|place| format!(", at {place}")).unwrap_or_default()
            );
            KernelError::new(ErrorCode::Internal, message)
        })
    })
}

/// Where a compiler panicked: file and line, without the folder, which is the builder's machine's. What it said may quote the source.
#[derive(Default)]
struct Heard(Option<String>);

thread_local! {
    /// There on a compile thread: what a panic leaves to whoever catches it.
    static HEARD: Cell<Option<Heard>> = const { Cell::new(None) };
}

fn hear_panics() {
    let next = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // Not even there any more if a thread panics as it ends.
        if HEARD.try_with(Cell::take).ok().flatten().is_none() {
            return next(info);
        }
        HEARD.set(Some(Heard(place_of(info))));
    }));
}

fn place_of(info: &PanicHookInfo<'_>) -> Option<String> {
    let location = info.location()?;
    let file = Path::new(location.file()).file_name()?.to_str()?;
    Some(format!("{file}:{}", location.line()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn never_more_than_there_are_compile_at_once() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    on_compile_thread(|| {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(5));
                        now.fetch_sub(1, Ordering::SeqCst);
                    })
                    .unwrap();
                });
            }
        });
        let most = most.into_inner();
        assert!((1..=MAX_COMPILE_THREADS).contains(&most), "{most} at once");
    }

    #[test]
    fn a_panic_leaves_its_place_to_others() {
        for _ in 0..2 * MAX_COMPILE_THREADS {
            let error = on_compile_thread(|| panic!("on purpose")).unwrap_err();
            assert_eq!(error.code, ErrorCode::Internal);
            assert!(error.message.contains("not of the device, at threads.rs:"), "{error}");
        }
        assert_eq!(on_compile_thread(|| 7).unwrap(), 7);
    }

    #[test]
    fn first_come_first_served() {
        let gate = Gate { line: Mutex::new(Line { came: 0, left: 0 }), moved: Condvar::new() };
        let order = Mutex::new(Vec::new());
        let mut held: Vec<_> = (0..MAX_COMPILE_THREADS).map(|_| gate.enter()).collect();
        std::thread::scope(|scope| {
            for name in 0..5 {
                let (gate, order) = (&gate, &order);
                let before = gate.lock().came;
                scope.spawn(move || {
                    let slot = gate.enter();
                    order.lock().unwrap().push(name);
                    drop(slot);
                });
                while gate.lock().came == before {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            // One place: each goes when the one before has left.
            held.pop();
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4]);
    }
}

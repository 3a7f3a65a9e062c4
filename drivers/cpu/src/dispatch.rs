//! One dispatch: a range of workgroups that several threads take pieces of.
//!
//! The thread that runs the work begins alone. Only when what is left is worth the wake-up does it offer the job to the pool; the helpers and
//! it claim pieces from one counter until nothing is left. The size of a piece follows its measured time.

use crate::{
    kernel::{Arguments, Ended, Kernel, Runner},
    state::DeviceState,
};
use hal_driver::{Code, Control, Error, Result};
use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// A piece that takes less is doubled: below, the two clock readings and the call itself begin to show.
const SHORT: Duration = Duration::from_micros(250);

/// A piece that takes longer is halved: helpers leave, and stops are seen, between pieces.
const LONG: Duration = Duration::from_millis(2);

/// Remaining work that is worth waking another thread for: waking one from idle takes 7 to 50 us.
const WORTH_A_WAKE: Duration = Duration::from_micros(50);

/// What a first piece may cost in steps, for kernels without loops: some tens of microseconds.
const FIRST_PIECE: u64 = 1 << 16;

/// Scratch slot of the thread that runs the work. Nobody else uses it, as a device runs one dispatch at a time.
const LEADER: u32 = 0;

pub(crate) struct Job {
    state: Arc<DeviceState>,
    kernel: Arc<Kernel>,
    control: Arc<Control>,
    pub(crate) arguments: Arguments,
    total: u64,
    next: AtomicU64,
    piece: AtomicU64,
    /// Nothing more is claimed: it failed, or was stopped.
    ended: AtomicBool,
    offered: AtomicBool,
    /// Whether it may be offered to the pool.
    shared: bool,
    crew: Mutex<Crew>,
    left: Condvar,
}

#[derive(Default)]
struct Crew {
    /// Scratch slots of the helpers that take part.
    slots: u64,
    failure: Option<Error>,
}

/// Runs a dispatch to its end. `shared`: the pool may help.
pub(crate) fn run(
    state: &Arc<DeviceState>,
    kernel: &Arc<Kernel>,
    control: &Arc<Control>,
    arguments: Arguments,
    shared: bool,
) -> Result<()> {
    let total = arguments.groups.iter().map(|&count| u64::from(count)).product();
    if total == 0 {
        return Ok(());
    }
    let job = Arc::new(Job {
        state: state.clone(),
        kernel: kernel.clone(),
        control: control.clone(),
        piece: AtomicU64::new(first_piece(kernel)),
        arguments,
        total,
        next: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        offered: AtomicBool::new(false),
        shared,
        crew: Mutex::default(),
        left: Condvar::new(),
    });
    job.take_part(LEADER, || true);
    job.finish()
}

fn first_piece(kernel: &Kernel) -> u64 {
    let invocations: u64 = kernel.abi.workgroup_size.iter().map(|&size| u64::from(size)).product();
    let cost = kernel.cost.saturating_mul(invocations).max(1);
    if kernel.straight { (FIRST_PIECE / cost).max(1) } else { 1 }
}

impl Job {
    /// Registers a helper; call [`Job::help`] with the slot. The pool calls this under the lock under which it forgets jobs, so that
    /// nobody joins once [`Job::finish`] has begun to wait.
    pub(crate) fn join(&self) -> Option<u32> {
        let mut crew = self.lock();
        let slot = (!(crew.slots >> 1)).trailing_zeros() + 1;
        if slot >= self.state.slots || !self.has_more() {
            return None;
        }
        crew.slots |= 1 << slot;
        Some(slot)
    }

    /// Takes part until nothing is left or `stay` says no.
    pub(crate) fn help(self: &Arc<Self>, slot: u32, stay: impl Fn() -> bool) {
        self.take_part(slot, stay);
        self.lock().slots &= !(1 << slot);
        self.left.notify_one();
    }

    /// Asked by kernels after each slice of work, and between pieces.
    pub(crate) fn may_go_on(self: &Arc<Self>) -> bool {
        if self.ended.load(Ordering::Relaxed) {
            return false;
        }
        if let Some(reason) = self.state.stopped(&self.control) {
            self.fail(reason);
            return false;
        }
        self.offer();
        if let Some(pool) = &self.state.pool {
            pool.relieve();
        }
        true
    }

    /// Ends the job. The first reason stands.
    fn fail(&self, reason: Error) {
        self.lock().failure.get_or_insert(reason);
        self.ended.store(true, Ordering::Relaxed);
    }

    fn take_part(self: &Arc<Self>, slot: u32, stay: impl Fn() -> bool) {
        let run = || {
            let mut runner = self.kernel.runner(&self.state.memory, self, slot)?;
            self.run_pieces(&mut runner, slot == LEADER, stay)?;
            self.kernel.keep(runner);
            Ok(())
        };
        // A panic is a defect of this driver. It must leave neither the leader waiting nor a helper working on freed memory.
        let outcome = catch_unwind(AssertUnwindSafe(run));
        if let Err(error) =
            outcome.unwrap_or_else(|_| Err(Error::new(Code::Internal, "the driver panicked in a dispatch")))
        {
            if error.code == Code::Internal {
                self.state.lose(error.clone());
            }
            self.fail(error);
        }
    }

    fn run_pieces(self: &Arc<Self>, runner: &mut Runner, leads: bool, stay: impl Fn() -> bool) -> Result<()> {
        let mut begin = Instant::now();
        while let Some(groups) = self.claim() {
            let count = groups.end - groups.start;
            if runner.run(groups, self.arguments.groups, begin)? == Ended::Stopped {
                // Whoever said stop has said why, and the first reason stands.
                self.fail(Error::new(Code::Internal, "a kernel stopped although nobody asked it to"));
                return Ok(());
            }
            let end = Instant::now();
            self.adapt(count, end - begin, leads);
            begin = end;
            if !self.has_more() || !stay() {
                return Ok(());
            }
            if let Some(reason) = self.state.stopped(&self.control) {
                self.fail(reason);
            }
        }
        Ok(())
    }

    fn claim(&self) -> Option<Range<u64>> {
        if self.ended.load(Ordering::Relaxed) {
            return None;
        }
        let piece = self.piece.load(Ordering::Relaxed);
        let offered = self.offered.load(Ordering::Relaxed);
        let end = |start: u64| {
            // Towards the end pieces shrink, so that all finish at about the same time. Alone there is nobody to wait for.
            let rest = self.total - start;
            let fair = if offered { rest / (u64::from(self.state.slots) * 2) } else { rest };
            start + piece.min(fair).clamp(1, rest)
        };
        let claim = self
            .next
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |start| (start < self.total).then(|| end(start)));
        claim.ok().map(|start| start..end(start))
    }

    fn adapt(self: &Arc<Self>, count: u64, took: Duration, leads: bool) {
        let piece = self.piece.load(Ordering::Relaxed);
        if took < SHORT && count >= piece {
            self.piece.store(piece.saturating_mul(2), Ordering::Relaxed);
        } else if took > LONG {
            self.piece.store((piece / 2).max(1), Ordering::Relaxed);
        }
        let rest = self.total.saturating_sub(self.next.load(Ordering::Relaxed));
        if leads && took.saturating_mul(u32::try_from(rest / count).unwrap_or(u32::MAX)) > WORTH_A_WAKE {
            self.offer();
        }
    }

    fn offer(self: &Arc<Self>) {
        if let Some(pool) = &self.state.pool
            && self.shared
            && self.state.slots > 1
            && self.has_more()
            && !self.offered.swap(true, Ordering::Relaxed)
        {
            let rest = self.total.saturating_sub(self.next.load(Ordering::Relaxed));
            pool.offer(self, rest);
        }
    }

    /// Waits for the helpers, then says how it went.
    fn finish(self: Arc<Self>) -> Result<()> {
        if self.offered.load(Ordering::Relaxed)
            && let Some(pool) = &self.state.pool
        {
            pool.withdraw(&self);
        }
        let mut crew = self.lock();
        while crew.slots != 0 {
            crew = self.left.wait(crew).unwrap_or_else(PoisonError::into_inner);
        }
        crew.failure.take().map_or(Ok(()), Err)
    }

    /// Whether there is something left to claim.
    pub(crate) fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.total && !self.ended.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Crew> {
        self.crew.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

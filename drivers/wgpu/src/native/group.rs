//! Works that run together: one, or small ones that stand next to each other in the queue. Those share a native submission and the wait for
//! it, so that a chain of them costs one round trip.

use super::{Native, batch::MAX_PASSES, transfer::CHUNK_BYTES};
use crate::{
    executable::WgpuExecutable,
    state::{Patience, State, take_done, tell},
};
use hal_driver::{Command, Dispatch, Result, Timing, Work, Workgroups};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

/// What a small work has at most: commands, ...
const SMALL_COMMANDS: usize = 16;
/// ... bytes moved, ...
const SMALL_BYTES: u64 = 64 << 10;
/// ... native passes (one within a buffer goes there and back, and has two edges), ...
const SMALL_PASSES: u32 = 4 * SMALL_COMMANDS as u32;
/// ... and the time of its kernels at worst.
const SMALL_TIME: Duration = Duration::from_millis(5);

/// How long a group's kernels take at worst: so much later may the end of the first member be heard of.
const GROUP_TIME: Duration = Duration::from_millis(20);

/// Members of a group.
const MAX_MEMBERS: usize = 512;

/// Work that has less time than this does not share it with others.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// A work that was begun.
struct Member {
    work: Work,
    since: Instant,
    begin: Instant,
    recording: Duration,
    outcome: Result<Begun>,
}

/// How far a work is.
enum Begun {
    /// Its commands are recorded, and are submitted with those of the other members.
    Recorded,
    /// It has ended.
    Done,
}

/// Runs a work, with those behind it in the queue that may share its native submission, and says how each went, in order.
pub(super) fn run(state: &Arc<State>, native: &mut Native, since: Instant, work: Work) {
    state.begin(Patience::Work);
    let mut members = Vec::new();
    let shares = native.shares(&work);
    let mut next = Some((since, work));
    while let Some((since, mut work)) = next.take() {
        let begin = Instant::now();
        if let Some(done) = state.join(take_done(&mut work)) {
            drop(work);
            tell(done, Err(state.loss()));
            break;
        }
        // Those after the first are here because they share.
        let outcome = guarded(state, || native.begin_work(&work, shares));
        // What comes after one that failed may have to hear of it first.
        let more = matches!(outcome, Ok(Begun::Recorded)) && members.len() < MAX_MEMBERS;
        members.push(Member { work, since, begin, recording: begin.elapsed(), outcome });
        if more && native.has_room() {
            next = state.next_work_if(|work| native.shares(work));
        }
    }
    let begin = Instant::now();
    let ended = guarded(state, || native.settle());
    let share = u32::try_from(members.len()).map_or(Duration::ZERO, |count| begin.elapsed() / count.max(1));
    // What was begun and not submitted holds buffers, and they go before the news does: whoever hears it may count on their memory.
    native.abandon();
    // None if they have been told that the device hangs.
    for (member, done) in members.into_iter().zip(state.end()) {
        let (outcome, timing) = member.end(&ended, share);
        tell(done, outcome.map(|()| timing));
    }
}

/// A panic is a loss: wgpu panics, for one, in a wait for a device that it has lost.
fn guarded<T>(state: &State, calls: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(calls)).unwrap_or_else(|_| {
        state.lose("the driver panicked");
        Err(state.loss())
    })
}

impl Member {
    /// Lets go of the work and answers how it went. `ended`: how its group did; `share`: its part of the wait for that.
    fn end(self, ended: &Result<()>, share: Duration) -> (Result<()>, Timing) {
        let Self { work, since, begin, recording, outcome } = self;
        let outcome = match outcome {
            Ok(Begun::Done) => Ok(()),
            // A member before it may have failed, and stopped it.
            Ok(Begun::Recorded) => ended.clone().and_then(|()| work.control.stopped().map_or(Ok(()), Err)),
            Err(error) => Err(error),
        };
        let ready = work.control.begun().map_or(begin, |begun| begun.max(since));
        let timing =
            Timing { queue: begin.saturating_duration_since(ready), device: Some(recording.saturating_add(share)) };
        (outcome, timing)
    }
}

impl Native {
    /// Runs a work, or, if it may share a submission, records it.
    fn begin_work(&mut self, work: &Work, shares: bool) -> Result<Begun> {
        work.control.stopped().map_or(Ok(()), Err)?;
        if !shares {
            return self.run(work).map(|()| Begun::Done);
        }
        let recorded = self.record_work(work).and_then(|()| self.seal());
        if recorded.is_err() {
            self.abandon_unsealed();
        }
        recorded.map(|()| Begun::Recorded)
    }

    /// Whether the batch can take one more small work without being submitted on the way.
    fn has_room(&self) -> bool {
        let batch = self.batch.as_ref();
        batch.is_none_or(|batch| batch.passes + SMALL_PASSES < MAX_PASSES && batch.worst < GROUP_TIME)
            && self.transfers.upload.used() <= CHUNK_BYTES / 2
    }

    /// Whether a work may share a native submission with others: it is small, cannot be stopped half way, and has time.
    fn shares(&self, work: &Work) -> bool {
        let now = Instant::now();
        let (mut bytes, mut time) = (0_u64, Duration::ZERO);
        work.commands.len() <= SMALL_COMMANDS
            && work.control.deadline().is_none_or(|deadline| deadline.saturating_duration_since(now) >= LEAST_TIME)
            && work.commands.iter().all(|command| {
                match command {
                    Command::Barrier => {}
                    Command::Fill { target, .. } | Command::Update { target, .. } | Command::Copy { target, .. } => {
                        bytes = bytes.saturating_add(work.resolve(target).map_or(u64::MAX, |target| target.length));
                    }
                    Command::ReadBlob { .. } => return false,
                    Command::Dispatch(dispatch) => {
                        time = time.saturating_add(self.small_time(work, dispatch).unwrap_or(Duration::MAX));
                    }
                }
                bytes <= SMALL_BYTES && time <= SMALL_TIME
            })
    }

    /// How long a dispatch takes at worst that is recorded in one pass; none for others.
    fn small_time(&self, work: &Work, dispatch: &Dispatch) -> Option<Duration> {
        let Workgroups::Direct(grid) = dispatch.workgroups else { return None };
        let executable = work.executables.get(dispatch.executable as usize)?;
        let kernel = executable.as_any().downcast_ref::<WgpuExecutable>()?.kernel(dispatch.function)?;
        // A buffer that is bound twice may need another variant of the kernel, or a copy.
        let buffers = || dispatch.bindings.iter().filter_map(|it| Some(work.resolve(&it.buffer).ok()?.buffer));
        let twice = |(at, buffer)| buffers().take(at).any(|other| Arc::ptr_eq(other, buffer));
        if buffers().enumerate().any(twice) { None } else { self.plain_time(kernel, grid) }
    }
}

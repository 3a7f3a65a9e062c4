//! Timelines, submissions and the order between them.
//!
//! - `timeline`: the value that only grows, and who waits for which value of it.
//! - `entry`: a submission from the call to its end. A driver sees it when its waits are met, or when all that is left of them is in the same
//!   native queue before it, where that keeps its order.
//! - `trampoline`: runs what became ready, one after the other, however long a chain is.
//! - `wait`: a caller's wait.
//! - `uses`: which bytes pending submissions touch.

mod entry;
mod timeline;
mod trampoline;
mod uses;
mod wait;
mod weaks;

pub(crate) use entry::{Action, Entry, Job, Rest, Signals, View, enqueue};
use timeline::Waiter;
pub(crate) use timeline::{QueueId, Timeline, not_above};
pub(crate) use uses::{Range, Touch, Uses, merge};
pub(crate) use wait::wait;
pub(crate) use weaks::Weaks;

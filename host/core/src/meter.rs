//! What a tenant did, in numbers: for its report, and for the `metrics` facade.

use crate::{Code, Error};
use metrics::counter;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why a call was not answered with a value. The labels are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Refused,
    OverBudget,
    NotHere,
    Lost,
    Deadline,
    Other,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Refused, Self::OverBudget, Self::NotHere, Self::Lost, Self::Deadline, Self::Other];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::OverBudget => "over-budget",
            Self::NotHere => "not-here",
            Self::Lost => "lost",
            Self::Deadline => "deadline",
            Self::Other => "other",
        }
    }

    fn of(error: &Error) -> Self {
        match error.code {
            Code::PermissionDenied => Self::Refused,
            Code::ResourceExhausted => Self::OverBudget,
            Code::NotFound => Self::NotHere,
            Code::Unavailable => Self::Lost,
            Code::DeadlineExceeded => Self::Deadline,
            _ => Self::Other,
        }
    }
}

/// One number, kept for the report and told to the facade. The handle of the facade is made once: a lookup by name and label
/// costs more than the call that is counted.
pub(crate) struct Count {
    own: AtomicU64,
    facade: metrics::Counter,
}

impl Count {
    fn new(facade: metrics::Counter) -> Self {
        Self { own: AtomicU64::new(0), facade }
    }

    pub(crate) fn add(&self, amount: u64) {
        self.own.fetch_add(amount, Ordering::Relaxed);
        self.facade.increment(amount);
    }

    pub(crate) fn get(&self) -> u64 {
        self.own.load(Ordering::Relaxed)
    }
}

/// A tenant's numbers.
pub(crate) struct Meter {
    pub(crate) calls: Count,
    pub(crate) submissions: Count,
    pub(crate) read_bytes: Count,
    pub(crate) written_bytes: Count,
    pub(crate) kernel_ns: Count,
    pub(crate) waits_cut: Count,
    pub(crate) blobs_asked: Count,
    failures: [Count; Kind::ALL.len()],
}

impl Meter {
    pub(crate) fn new(tenant: &str) -> Self {
        let tenant = tenant.to_owned();
        Self {
            calls: Count::new(counter!("hal_calls_total", "tenant" => tenant.clone())),
            submissions: Count::new(counter!("hal_submissions_total", "tenant" => tenant.clone())),
            read_bytes: Count::new(counter!("hal_read_bytes_total", "tenant" => tenant.clone())),
            written_bytes: Count::new(counter!("hal_written_bytes_total", "tenant" => tenant.clone())),
            waits_cut: Count::new(counter!("hal_waits_cut_total", "tenant" => tenant.clone())),
            blobs_asked: Count::new(counter!("hal_blobs_asked_total", "tenant" => tenant.clone())),
            kernel_ns: Count::new(counter!("hal_kernel_ns_total", "tenant" => tenant.clone())),
            failures: Kind::ALL.map(|kind| {
                Count::new(counter!("hal_failures_total", "tenant" => tenant.clone(), "kind" => kind.label()))
            }),
        }
    }

    pub(crate) fn failed(&self, error: &Error) {
        if let Some(count) = self.failures.get(Kind::of(error) as usize) {
            count.add(1);
        }
    }

    /// How many failures of each kind, under the kind's label.
    pub(crate) fn failures(&self) -> Vec<(&'static str, u64)> {
        Kind::ALL.into_iter().zip(&self.failures).map(|(kind, count)| (kind.label(), count.get())).collect()
    }
}

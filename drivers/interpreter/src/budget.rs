//! What a run may still use: every run ends, and keeps no more memory than it may.

use crate::{
    Options,
    error::{Error, ErrorKind, Result},
    value::{Scalar, Value},
};
use std::time::Instant;

/// Largest value in bytes, as WGSL lays it out. Here one takes about twelve times as much, and copies of it are made freely; kernels hold
/// structures and small arrays in values.
pub(crate) const MAX_VALUE_BYTES: usize = 1 << 20;

/// Bytes that are handled in the time of one step.
const STEP_BYTES: u64 = 256;

/// Steps between looks at the clock: some milliseconds.
const LOOK: u64 = 1 << 14;

/// Steps and memory that are left.
pub(crate) struct Budget {
    steps: u64,
    memory: u64,
    allowed: Options,
}

impl Budget {
    pub(crate) fn new(allowed: &Options) -> Self {
        Self { steps: allowed.steps, memory: allowed.memory_bytes, allowed: *allowed }
    }

    /// Steps taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.allowed.steps - self.steps
    }

    /// Counts a step.
    pub(crate) fn step(&mut self) -> Result<()> {
        self.steps(1)
    }

    /// Counts the time that it takes to go through so many bytes.
    pub(crate) fn work(&mut self, bytes: u64) -> Result<()> {
        self.steps(bytes / STEP_BYTES)
    }

    fn steps(&mut self, count: u64) -> Result<()> {
        let left = self.steps.checked_sub(count).ok_or_else(|| {
            let message = format!(
                "the {} steps that are allowed are used up; run fewer workgroups, or look for an endless loop",
                self.allowed.steps
            );
            Error::new(ErrorKind::Steps, message)
        });
        let left = left?;
        if let Some(until) = self.allowed.until
            && left / LOOK != self.steps / LOOK
            && Instant::now() >= until
        {
            let message = "the time that is allowed is up; run fewer workgroups, or look for an endless loop";
            return Err(Error::new(ErrorKind::Time, message));
        }
        self.steps = left;
        Ok(())
    }

    /// Counts memory that is about to be kept, and the time to fill it.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<()> {
        let left = self.memory.checked_sub(bytes).ok_or_else(|| {
            let message = format!(
                "the invocations of a workgroup need more than the {} bytes that are allowed; make their variables smaller",
                self.allowed.memory_bytes
            );
            Error::new(ErrorKind::Memory, message)
        });
        self.memory = left?;
        self.work(bytes)
    }

    /// Memory that is no longer kept.
    pub(crate) fn give(&mut self, bytes: u64) {
        self.memory = self.memory.saturating_add(bytes).min(self.allowed.memory_bytes);
    }

    /// What is left of the memory, for [`Budget::restore`].
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// Gives back all that was taken since there was this much left.
    pub(crate) fn restore(&mut self, memory: u64) {
        self.memory = memory;
    }
}

/// Refuses a value of so many bytes before it is made.
pub(crate) fn fits(bytes: usize) -> Result<()> {
    if bytes <= MAX_VALUE_BYTES {
        return Ok(());
    }
    let message = format!("a value of {bytes} bytes is larger than {MAX_VALUE_BYTES}; go through it part by part");
    Err(Error::new(ErrorKind::Memory, message))
}

/// Bytes that a value keeps beside itself.
pub(crate) fn kept(value: &Value) -> u64 {
    let scalars = |count: usize| (count * size_of::<Scalar>()) as u64;
    match value {
        Value::Scalar(_) | Value::Pointer(_) => 0,
        Value::Vector(parts) => scalars(parts.len()),
        Value::Matrix(columns) => {
            columns.iter().map(|column| size_of::<Vec<Scalar>>() as u64 + scalars(column.len())).sum()
        }
        Value::Composite(parts) => parts.iter().map(|part| size_of::<Value>() as u64 + kept(part)).sum(),
    }
}

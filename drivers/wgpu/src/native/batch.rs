//! Commands on their way into one native submission, and the wait for it.

use super::{Native, dispatch::Status, scoped};
use crate::state::Patience;
use hal_driver::{Code, Control, Error, Result};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How long one native wait takes at most: between two of them the thread looks whether it was given up.
const SLICE: Duration = Duration::from_millis(250);

/// Native passes of one submission. More would only make one submission longer, and a software adapter slower to answer.
pub(super) const MAX_PASSES: u32 = 512;

/// What is recorded and not submitted.
#[derive(Default)]
pub(super) struct Batch {
    /// Commands that are complete: what is recorded after them can be thrown away without them.
    sealed: Vec<wgpu::CommandBuffer>,
    /// Those after them.
    encoder: Option<wgpu::CommandEncoder>,
    /// Launch parameters of its kernels, one after the other.
    pub(super) launches: Vec<u8>,
    /// How long its kernels take at worst.
    pub(super) worst: Duration,
    /// Chunks of iterations that its kernels may draw before they stop.
    pub(super) chunks: u32,
    /// Whether the status is to be looked at: there are kernels with loops.
    pub(super) counted: bool,
    pub(super) passes: u32,
}

/// What is known after a submission has ended.
#[derive(Default)]
pub(super) struct Ended {
    /// From the native submission until it was done.
    pub(super) time: Duration,
    /// Of the kernels with loops, if there were any.
    pub(super) status: Option<Status>,
}

impl Native {
    /// Records native commands, in a new batch if there is none.
    pub(super) fn record<T>(&mut self, commands: impl FnOnce(&mut wgpu::CommandEncoder) -> T) -> Result<T> {
        let mut encoder = match self.batch.get_or_insert_default().encoder.take() {
            Some(encoder) => encoder,
            None => self.scoped(|device| device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()))?,
        };
        let value = self.scoped(|_| commands(&mut encoder))?;
        let batch = self.batch.get_or_insert_default();
        batch.passes += 1;
        batch.encoder = Some(encoder);
        Ok(value)
    }

    /// Completes what is recorded, so that it stays whatever is recorded next.
    pub(super) fn seal(&mut self) -> Result<()> {
        let Some(encoder) = self.batch.as_mut().and_then(|batch| batch.encoder.take()) else { return Ok(()) };
        let commands = self.scoped(|_| encoder.finish())?;
        self.batch.get_or_insert_default().sealed.push(commands);
        Ok(())
    }

    /// Submits what is recorded if it has become long.
    pub(super) fn flush_if_full(&mut self, control: &Control) -> Result<()> {
        let full = self.batch.as_ref().is_some_and(|batch| batch.passes >= MAX_PASSES);
        if full { self.flush(control).map(drop) } else { Ok(()) }
    }

    /// Submits what is recorded and waits until it is done. Then looks whether to go on.
    ///
    /// # Errors
    /// Why not to go on: the loss, a kernel that was stopped, `control`.
    pub(super) fn flush(&mut self, control: &Control) -> Result<Ended> {
        let ended = self.submit()?;
        // First: a kernel that was stopped because there was no time left says less.
        control.stopped().map_or(Ok(()), Err)?;
        if let Some(status) = &ended.status {
            status.check(&self.state.adapter)?;
        }
        Ok(ended)
    }

    /// Submits what is recorded and waits until it is done.
    pub(crate) fn finish(&mut self, control: &Control) -> Result<()> {
        self.flush(control).map(drop)
    }

    /// The same, whoever wants it stopped.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.submit().map(drop)
    }

    /// The same where what is recorded has a native compiler at work.
    pub(super) fn finish_compiling(&mut self) -> Result<()> {
        let Some((index, _)) = self.hand_over()? else { return Ok(()) };
        self.state.renew(Patience::Compile);
        self.wait(index)
    }

    /// Forgets what is recorded.
    pub(super) fn abandon(&mut self) {
        self.batch = None;
        self.transfers.upload.forget();
    }

    /// Forgets what is recorded and not sealed. Its kernels' parameters stay, and nothing names them.
    pub(super) fn abandon_unsealed(&mut self) {
        if let Some(batch) = &mut self.batch {
            batch.encoder = None;
        }
    }

    fn submit(&mut self) -> Result<Ended> {
        let begin = Instant::now();
        let Some((index, counted)) = self.hand_over()? else { return Ok(Ended::default()) };
        if !counted {
            self.wait(index)?;
            return Ok(Ended { time: begin.elapsed(), status: None });
        }
        let buffer = self.launches.status_read.clone();
        let status = self.mapped(&buffer, Status::BYTES, index, Status::read)?;
        Ok(Ended { time: begin.elapsed(), status: Some(status) })
    }

    /// Submits what is recorded, waits, and shows the first `length` bytes of a buffer that it filled.
    pub(super) fn submit_and_look<T>(
        &mut self,
        buffer: &wgpu::Buffer,
        length: u64,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        match self.hand_over()? {
            Some((index, false)) => self.mapped(buffer, length, index, look),
            // Kernels are looked at by `flush`, which comes before.
            Some((index, true)) => {
                self.wait(index)?;
                Err(Error::new(Code::Internal, "a read shares its submission with kernels"))
            }
            None => Err(Error::new(Code::Internal, "nothing to submit")),
        }
    }

    /// Makes one native submission. Answers whether its kernels are counted.
    fn hand_over(&mut self) -> Result<Option<(wgpu::SubmissionIndex, bool)>> {
        let some = |batch: &Batch| batch.encoder.is_some() || !batch.sealed.is_empty();
        let Some(mut batch) = self.batch.take().filter(some) else { return Ok(None) };
        let launches = match batch.launches.is_empty() {
            true => None,
            false => Some(self.stage(&batch.launches)?),
        };
        let Self { transfers, launches: own, queue, device, state, .. } = self;
        let index = scoped(state, device, |device| {
            transfers.upload.unmap();
            let mut head = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            if let Some((upload, at)) = launches {
                own.begin(&mut head, &upload, at, batch.launches.len() as u64);
            }
            if let (true, Some(encoder)) = (batch.counted, &mut batch.encoder) {
                own.end(encoder);
            }
            let last = batch.encoder.map(wgpu::CommandEncoder::finish);
            queue.submit([head.finish()].into_iter().chain(batch.sealed).chain(last))
        })?;
        state.renew(Patience::Work);
        Ok(Some((index, batch.counted)))
    }

    /// Waits until a submission is done, whatever that takes: who waits for us looks at the clock. Also when the device is lost meanwhile,
    /// or the thread would count as back while the device still works.
    fn wait(&self, index: wgpu::SubmissionIndex) -> Result<()> {
        loop {
            let slice = wgpu::PollType::Wait { submission_index: Some(index.clone()), timeout: Some(SLICE) };
            match self.device.poll(slice) {
                Ok(_) => return self.state.alive(),
                Err(wgpu::PollError::Timeout) => {}
                Err(error) => {
                    self.state.lose(&format!("waiting for it failed: {error}"));
                    return self.state.alive();
                }
            }
        }
    }

    /// Waits for a submission, and shows the first `length` bytes of a buffer that it filled.
    pub(super) fn mapped<T>(
        &self,
        buffer: &wgpu::Buffer,
        length: u64,
        index: wgpu::SubmissionIndex,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let mapped = Arc::new(AtomicBool::new(false));
        let flag = mapped.clone();
        let asked = self.scoped(|_| {
            buffer.map_async(wgpu::MapMode::Read, ..length, move |outcome| {
                flag.store(outcome.is_ok(), Ordering::Release);
            });
        });
        self.wait(index)?;
        asked?;
        if !mapped.load(Ordering::Acquire) {
            // Its callback comes with a poll after the submission is done.
            self.scoped(|device| device.poll(wgpu::PollType::Poll)).map(drop)?;
        }
        let value = self.scoped(|_| {
            if !mapped.load(Ordering::Acquire) {
                return None;
            }
            let value = buffer.get_mapped_range(..length).ok().map(|view| look(&view));
            buffer.unmap();
            value
        })?;
        if value.is_none() {
            // It stays half mapped, and nothing can be read any more.
            self.state.lose("memory that it filled could not be mapped");
            self.state.alive()?;
        }
        value.ok_or_else(|| Error::new(Code::Internal, "memory that the device filled could not be mapped"))
    }
}

//! Where a tenant's stdout and stderr go.
//!
//! Both share one bounded queue and one thread that writes it out, so that lines come out in the order in which they were
//! printed, a reader who is slow holds up the tenant and not the program, and a tenant can be stopped while its
//! reader is stuck. A flush is done once the bytes are queued: [`Terminal::finish`] waits for the rest.

use bytes::Bytes;
use std::{
    collections::VecDeque,
    io::{ErrorKind, Write},
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};
use wasmtime_wasi::{
    async_trait,
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamError, StreamResult},
};

/// Bytes that may wait to be written: a pipe's worth.
const CAPACITY: usize = 64 << 10;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Channel {
    fn write(self, bytes: &[u8]) -> std::io::Result<()> {
        fn all(mut out: impl Write, bytes: &[u8]) -> std::io::Result<()> {
            out.write_all(bytes)?;
            out.flush()
        }
        match self {
            Self::Stdout => all(std::io::stdout().lock(), bytes),
            Self::Stderr => all(std::io::stderr().lock(), bytes),
        }
    }
}

/// Ends a tenant whose output nobody reads, as a closed pipe ends a native program.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("its output could not be written: {0}")]
pub struct OutputClosed(ErrorKind);

impl OutputClosed {
    /// Whether the reader left, which is not worth a message.
    pub fn is_broken_pipe(self) -> bool {
        self.0 == ErrorKind::BrokenPipe
    }
}

#[derive(Default)]
struct Queue {
    chunks: VecDeque<(Channel, Vec<u8>)>,
    /// Bytes queued and bytes being written.
    waiting: usize,
    failure: Option<OutputClosed>,
    closing: bool,
    wakers: Vec<Waker>,
}

impl Queue {
    fn room(&self) -> StreamResult<usize> {
        match self.failure {
            Some(failure) => Err(StreamError::Trap(failure.into())),
            None => Ok(CAPACITY.saturating_sub(self.waiting)),
        }
    }

    fn push(&mut self, channel: Channel, bytes: &[u8]) {
        self.waiting += bytes.len();
        match self.chunks.back_mut() {
            Some((last, chunk)) if *last == channel => chunk.extend_from_slice(bytes),
            _ => self.chunks.push_back((channel, bytes.to_vec())),
        }
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    /// A panic elsewhere does not make what was printed wrong.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_out(&self) {
        loop {
            let mut queue = self.lock();
            while queue.chunks.is_empty() {
                if queue.closing {
                    return;
                }
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let chunks = std::mem::take(&mut queue.chunks);
            drop(queue);
            let result = chunks.iter().try_for_each(|(channel, bytes)| channel.write(bytes));
            let mut queue = self.lock();
            queue.waiting -= chunks.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
            if let Err(error) = result {
                queue.failure = Some(OutputClosed(error.kind()));
                queue.chunks.clear();
                queue.waiting = 0;
            }
            queue.wake();
            drop(queue);
            self.changed.notify_all();
        }
    }
}

/// The queue, for the tenant's session.
pub struct Terminal(Arc<Shared>);

impl Terminal {
    /// Starts the thread that writes.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = Arc::clone(&shared);
        std::thread::Builder::new().name("hal-output".to_owned()).spawn(move || writer.write_out())?;
        Ok(Self(shared))
    }

    /// One of the two streams, for WASI.
    pub fn stream(&self, channel: Channel) -> Stream {
        Stream { shared: Arc::clone(&self.0), channel }
    }

    /// Waits until all that was printed is written, or a reader has been stuck for `patience`. Says what went wrong.
    pub fn finish(&self, patience: Duration) -> Option<OutputClosed> {
        let end = Instant::now() + patience;
        let mut queue = self.0.lock();
        queue.closing = true;
        self.0.changed.notify_all();
        while queue.waiting > 0 && queue.failure.is_none() {
            let left = end.checked_duration_since(Instant::now())?;
            (queue, _) = self.0.changed.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner);
        }
        queue.failure
    }
}

/// One of a tenant's two output streams.
#[derive(Clone)]
pub struct Stream {
    shared: Arc<Shared>,
    channel: Channel,
}

impl Stream {
    fn poll_room(&self, context: &Context<'_>) -> Poll<StreamResult<usize>> {
        let mut queue = self.shared.lock();
        match queue.room() {
            Ok(0) => {
                if !queue.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                    queue.wakers.push(context.waker().clone());
                }
                Poll::Pending
            }
            ready => Poll::Ready(ready),
        }
    }

    fn push(&self, bytes: &[u8]) {
        self.shared.lock().push(self.channel, bytes);
        self.shared.changed.notify_all();
    }
}

/// Nothing is behind the terminal interfaces: a tenant is never told that it writes to one.
impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {
        let _why = std::future::poll_fn(|context| self.poll_room(context)).await;
    }
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > self.check_write()? {
            return Err(StreamError::Trap(wasmtime::format_err!(
                "wrote more to a stream than check-write permitted; write that much at most"
            )));
        }
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.shared.lock().room().map(drop)
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.shared.lock().room()
    }
}

impl tokio::io::AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.poll_room(context).map(|room| {
            let room = room.map_err(std::io::Error::other)?;
            let (now, _later) = bytes.split_at(bytes.len().min(room));
            self.push(now);
            Ok(now.len())
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

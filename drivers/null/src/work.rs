//! Running the commands of one piece of work, in order.

use crate::buffer::NullBuffer;
use hal_driver::{Blob, BufferRef, Code, Command, Error, Result, Span, Work};

/// Bytes copied at a time: bounds what a copy stages and how long it takes to notice a stop.
const CHUNK_BYTES: u64 = 256 << 10;

pub(crate) fn run(work: &Work) -> Result<()> {
    for command in work.commands.iter() {
        proceed(work)?;
        match command {
            // Commands run one after the other: each sees what was before it.
            Command::Barrier => {}
            Command::Fill { target, pattern } => fill(work, target, *pattern)?,
            Command::Update { target, bytes } => {
                with(&work.resolve(target)?, |target| copy_slice(target, bytes))??;
            }
            Command::Copy { source, target } => copy(work, source, target)?,
            Command::ReadBlob { blob, blob_offset, target } => read_blob(work, &**blob, *blob_offset, target)?,
            Command::Dispatch(_) => return Err(Error::new(Code::Unimplemented, "a null device runs no kernels")),
        }
    }
    proceed(work)
}

/// Fails if the work was told to stop.
fn proceed(work: &Work) -> Result<()> {
    work.control.stopped().map_or(Ok(()), Err)
}

fn fill(work: &Work, target: &BufferRef, pattern: [u8; 4]) -> Result<()> {
    let target = work.resolve(target)?;
    chunks(work, target.length, |at, length| {
        with(&part(&target, at, length), |bytes| {
            // The length is a multiple of the pattern's own length, which may be less than four.
            for piece in bytes.chunks_mut(pattern.len()) {
                piece.iter_mut().zip(pattern).for_each(|(byte, value)| *byte = value);
            }
        })
    })
}

fn copy(work: &Work, source: &BufferRef, target: &BufferRef) -> Result<()> {
    let (source, target) = (work.resolve(source)?, work.resolve(target)?);
    // Through a stage, so that no two buffers are ever locked at once.
    let mut stage = Vec::new();
    chunks(work, target.length, |at, length| {
        stage.clear();
        with(&part(&source, at, length), |bytes| stage.extend_from_slice(bytes))?;
        with(&part(&target, at, length), |bytes| copy_slice(bytes, &stage))?
    })
}

fn read_blob(work: &Work, blob: &dyn Blob, blob_offset: u64, target: &BufferRef) -> Result<()> {
    let target = work.resolve(target)?;
    let mut stage = Vec::new();
    chunks(work, target.length, |at, length| {
        stage.resize(length as usize, 0);
        // A blob may block: it is read with no lock held.
        blob.read_at(blob_offset + at, &mut stage)?;
        with(&part(&target, at, length), |bytes| copy_slice(bytes, &stage))?
    })
}

/// Calls `step` with offset and length of one bounded piece after the other, as long as the work may go on.
fn chunks(work: &Work, length: u64, mut step: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
    let mut at = 0;
    while at < length {
        proceed(work)?;
        let piece = CHUNK_BYTES.min(length - at);
        step(at, piece)?;
        at += piece;
    }
    Ok(())
}

fn part<'a>(span: &Span<'a>, at: u64, length: u64) -> Span<'a> {
    Span { buffer: span.buffer, offset: span.offset + at, length }
}

fn with<T>(span: &Span<'_>, f: impl FnOnce(&mut [u8]) -> T) -> Result<T> {
    let buffer = span.buffer.as_any().downcast_ref::<NullBuffer>();
    let buffer = buffer.ok_or_else(|| Error::new(Code::Internal, "work names a buffer of another driver"))?;
    buffer.with(span.offset, span.length, f)
}

fn copy_slice(target: &mut [u8], source: &[u8]) -> Result<()> {
    if target.len() != source.len() {
        let (from, to) = (source.len(), target.len());
        return Err(Error::new(Code::Internal, format!("a copy of {from} bytes to {to} passed the checks above")));
    }
    target.copy_from_slice(source);
    Ok(())
}

//! The commands of a work.

use super::{
    Native,
    dispatch::Bound,
    transfer::{At, CHUNK_BYTES},
};
use crate::{buffer::WgpuBuffer, executable::WgpuExecutable};
use hal_driver::{Blob, BufferRef, Code, Command, Dispatch, Error, Result, Work, Workgroups};

/// Bytes of a blob staged at a time.
const BLOB_BYTES: u64 = CHUNK_BYTES;

impl Native {
    /// Runs the commands of a work and waits until they are done.
    pub(super) fn run(&mut self, work: &Work) -> Result<()> {
        self.record_work(work)?;
        self.finish(&work.control)
    }

    /// Records the commands of a work, and submits them on the way where there are many, or one has to be waited for.
    pub(super) fn record_work(&mut self, work: &Work) -> Result<()> {
        work.commands.iter().try_for_each(|command| {
            self.command(work, command)?;
            self.flush_if_full(&work.control)
        })
    }

    fn command(&mut self, work: &Work, command: &Command) -> Result<()> {
        let control = &*work.control;
        match command {
            // wgpu orders native commands that touch one buffer.
            Command::Barrier => Ok(()),
            Command::Fill { target, pattern } => {
                let (to, length) = self.place(work, target)?;
                self.fill(to, length, *pattern)
            }
            Command::Update { target, bytes } => {
                let (to, length) = self.place(work, target)?;
                same_length(length, bytes.len() as u64)?;
                self.upload(bytes, to, control)
            }
            Command::Copy { source, target } => {
                let ((from, source_length), (to, length)) = (self.place(work, source)?, self.place(work, target)?);
                same_length(length, source_length)?;
                self.copy(from, to, length, control)
            }
            Command::ReadBlob { blob, blob_offset, target } => {
                let (to, length) = self.place(work, target)?;
                self.read_blob(&**blob, *blob_offset, to, length, control)
            }
            Command::Dispatch(dispatch) => self.dispatch_command(work, dispatch),
        }
    }

    fn read_blob(
        &mut self,
        blob: &dyn Blob,
        blob_offset: u64,
        to: At<'_>,
        length: u64,
        control: &hal_driver::Control,
    ) -> Result<()> {
        let mut stage = vec![0; length.min(BLOB_BYTES) as usize];
        let mut at = 0;
        while at < length {
            let piece = BLOB_BYTES.min(length - at);
            control.stopped().map_or(Ok(()), Err)?;
            let bytes = stage.get_mut(..piece as usize).unwrap_or_default();
            blob.read_at(blob_offset + at, bytes)?;
            self.upload(bytes, to.plus(at), control)?;
            self.finish(control)?;
            at += piece;
        }
        Ok(())
    }

    fn dispatch_command(&mut self, work: &Work, dispatch: &Dispatch) -> Result<()> {
        let executable = work.executables.get(dispatch.executable as usize);
        let executable = executable.and_then(|executable| executable.as_any().downcast_ref::<WgpuExecutable>());
        let executable = executable.filter(|executable| executable.belongs_to(&self.state));
        let kernel = executable.and_then(|executable| executable.kernel(dispatch.function));
        let kernel = kernel.ok_or_else(|| hole("a dispatch names no function of this device"))?.clone();
        let grid = self.groups(work, dispatch)?;
        same_length(dispatch.constants.len() as u64, u64::from(kernel.info.constant_bytes))?;
        let mut given = dispatch.bindings.iter();
        let bindings = kernel.info.bindings.iter().map(|wanted| {
            let found = given.find(|given| given.binding == wanted.binding);
            let found = found.ok_or_else(|| hole("a dispatch lacks a binding"))?;
            let (at, length) = self.place(work, &found.buffer)?;
            // An open length is rounded down; a whole one is a multiple already.
            let length = length / 4 * 4;
            if length == 0 {
                return Err(hole("a binding is empty"));
            }
            Ok(Bound { binding: wanted.binding, buffer: at.buffer.clone(), offset: at.offset, length })
        });
        let bindings = bindings.collect::<Result<Vec<_>>>()?;
        self.dispatch(&kernel, bindings, &dispatch.constants, grid, &work.control)
    }

    /// The counts. Those in a buffer are read when all before them is done, once, and then checked here: what the native interface does
    /// with counts above its limit depends on how it was set up.
    fn groups(&mut self, work: &Work, dispatch: &Dispatch) -> Result<[u32; 3]> {
        let counts = match &dispatch.workgroups {
            Workgroups::Direct(counts) => return Ok(*counts),
            Workgroups::Indirect(counts) => counts,
        };
        let (at, length) = self.place(work, counts)?;
        same_length(length, 12)?;
        self.finish(&work.control)?;
        let mut bytes = Vec::with_capacity(12);
        self.download(at, length, &mut bytes, &work.control)?;
        let mut counts = [0; 3];
        for (count, word) in counts.iter_mut().zip(bytes.as_chunks().0) {
            *count = u32::from_le_bytes(*word);
        }
        self.state.adapter.limits().check_workgroups(counts)?;
        Ok(counts)
    }

    fn place<'a>(&self, work: &'a Work, reference: &BufferRef) -> Result<(At<'a>, u64)> {
        let span = work.resolve(reference)?;
        let buffer = span.buffer.as_any().downcast_ref::<WgpuBuffer>();
        let buffer = buffer.filter(|buffer| buffer.belongs_to(&self.state));
        let buffer = buffer.ok_or_else(|| hole("a work names a buffer of another device"))?;
        Ok((At { buffer: buffer.native(), offset: span.offset }, span.length))
    }
}

fn same_length(left: u64, right: u64) -> Result<()> {
    if left == right { Ok(()) } else { Err(hole(&format!("{left} bytes stand where {right} belong"))) }
}

fn hole(what: &str) -> Error {
    Error::new(Code::Internal, format!("{what}, and the checks above let it pass"))
}

//! What a command's references mean, and whether they may.

use crate::{
    error::{Error, Result, invalid, out_of_range},
    object::{BufferShared, DeviceShared, ExecutableShared, Storage},
    queue::Range,
};
use hal_driver::{
    Binding, BindingKind, BufferRef, Command, Dispatch, Function, MemoryAccess, Source, Usage, Workgroups,
};
use std::sync::Arc;

/// Workgroup counts in a buffer: three `u32`.
const INDIRECT_BYTES: u64 = 12;

/// What fills a slot.
pub(super) struct SlotView<'a> {
    pub(super) buffer: &'a BufferShared,
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// The tables that references name.
pub(super) struct Scope<'a> {
    pub(super) device: &'a Arc<DeviceShared>,
    pub(super) buffers: &'a [Arc<BufferShared>],
    pub(super) executables: &'a [Arc<ExecutableShared>],
    /// None while slots are not filled: what hangs on them passes then, and is checked when they are.
    pub(super) slots: Option<&'a [SlotView<'a>]>,
    /// None outside of recordings.
    pub(super) slot_count: Option<u32>,
}

/// A range of an allocation.
#[derive(Clone, Copy)]
struct Span<'a> {
    storage: &'a Storage,
    start: u64,
    length: u64,
}

impl Span<'_> {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }

    fn overlaps(&self, other: &Self) -> bool {
        std::ptr::eq(self.storage, other.storage)
            && self.length > 0
            && other.length > 0
            && self.start < other.end()
            && other.start < self.end()
    }
}

/// Told of every range and whether it is written. For a slot that is not filled the range is empty.
type Tell<'t> = dyn FnMut(Source, Range) + 't;

impl<'a> Scope<'a> {
    /// The function that a dispatch names.
    pub(super) fn function(&self, dispatch: &Dispatch) -> Result<&'a Function> {
        let executable = self.executables.get(dispatch.executable as usize).ok_or_else(|| {
            out_of_range(format!(
                "it names executable {}, but there are {}",
                dispatch.executable,
                self.executables.len()
            ))
        })?;
        let functions = executable.native.functions();
        functions.get(dispatch.function as usize).ok_or_else(|| {
            out_of_range(format!("it names function {}, but the executable has {}", dispatch.function, functions.len()))
        })
    }

    /// Checks the references of one command whose shape is right.
    pub(super) fn command(&self, command: &Command, multiple: u64, tell: &mut Tell<'_>) -> Result<()> {
        match command {
            Command::Barrier => Ok(()),
            Command::Fill { target, .. } => self.fill(target, multiple, tell),
            Command::Update { target, bytes } => self.update(target, bytes.len() as u64, tell),
            Command::Copy { source, target } => self.copy(source, target, tell),
            Command::Dispatch(dispatch) => self.dispatch(dispatch, tell),
            Command::ReadBlob { target, .. } => self.transfer_target(target, tell).map(|_| ()),
        }
    }

    /// The range that a reference means; none for a slot that is not filled.
    fn resolve(&self, reference: &BufferRef) -> Result<Option<Span<'a>>> {
        let (buffer, base, size) = match reference.source {
            Source::Direct(index) => match self.buffers.get(index as usize) {
                Some(buffer) => (&**buffer, buffer.offset, buffer.size),
                None => {
                    return Err(out_of_range(format!("it names buffer {index}, but there are {}", self.buffers.len())));
                }
            },
            Source::Slot(slot) => match self.slots {
                None => match self.slot_count {
                    Some(count) if slot < count => return Ok(None),
                    Some(count) => return Err(out_of_range(format!("it names slot {slot}, but there are {count}"))),
                    None => return Err(invalid(format!("it names slot {slot}; slots exist in recordings only"))),
                },
                Some(slots) => match slots.get(slot as usize) {
                    Some(view) => (view.buffer, view.buffer.offset.saturating_add(view.offset), view.length),
                    None => {
                        return Err(invalid(format!(
                            "it names slot {slot}, and the table has {} bindings",
                            slots.len()
                        )));
                    }
                },
            },
        };
        let length = super::length(size, reference.offset, reference.length)?;
        Ok(Some(Span { storage: &buffer.storage, start: base.saturating_add(reference.offset), length }))
    }

    /// Resolves, checks rights, and tells.
    fn touch(
        &self,
        reference: &BufferRef,
        usage: Usage,
        access: MemoryAccess,
        tell: &mut Tell<'_>,
    ) -> Result<Option<Span<'a>>> {
        let span = self.resolve(reference)?;
        if let Some(span) = &span {
            super::rights(span.storage, usage, access)?;
        }
        self.tell(reference, span.as_ref(), access.contains(MemoryAccess::WRITE), tell);
        Ok(span)
    }

    fn tell(&self, reference: &BufferRef, span: Option<&Span<'_>>, write: bool, tell: &mut Tell<'_>) {
        let (start, end) = span.map_or((0, 0), |span| (span.start, span.end()));
        tell(reference.source, Range { write, start, end });
    }

    fn transfer_target(&self, target: &BufferRef, tell: &mut Tell<'_>) -> Result<Option<Span<'a>>> {
        self.touch(target, Usage::TRANSFER_TARGET, MemoryAccess::WRITE, tell)
    }

    fn fill(&self, target: &BufferRef, multiple: u64, tell: &mut Tell<'_>) -> Result<()> {
        if let Some(span) = self.transfer_target(target, tell)? {
            // Counted from the start of the allocation, which is what a device is aligned to.
            if span.start.checked_rem(multiple) != Some(0) || span.length.checked_rem(multiple) != Some(0) {
                return Err(invalid(format!(
                    "offset {} and length {} have to be multiples of the pattern's {multiple} bytes",
                    span.start, span.length
                )));
            }
        }
        Ok(())
    }

    fn update(&self, target: &BufferRef, bytes: u64, tell: &mut Tell<'_>) -> Result<()> {
        match self.transfer_target(target, tell)? {
            Some(span) if span.length != bytes => {
                Err(invalid(format!("{bytes} bytes are given for a range of {}", span.length)))
            }
            _ => Ok(()),
        }
    }

    fn copy(&self, source: &BufferRef, target: &BufferRef, tell: &mut Tell<'_>) -> Result<()> {
        let from = self.touch(source, Usage::TRANSFER_SOURCE, MemoryAccess::READ, tell)?;
        let to = self.transfer_target(target, tell)?;
        let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
        if from.length != to.length {
            return Err(invalid(format!("{} bytes cannot be copied to {}", from.length, to.length)));
        }
        if from.overlaps(&to) {
            return Err(invalid("source and target overlap"));
        }
        Ok(())
    }

    fn dispatch(&self, dispatch: &Dispatch, tell: &mut Tell<'_>) -> Result<()> {
        let function = self.function(dispatch)?;
        let mut spans: Vec<(Span<'a>, bool)> = Vec::with_capacity(dispatch.bindings.len() + 1);
        if let Workgroups::Indirect(counts) = &dispatch.workgroups {
            spans.extend(self.indirect(counts, tell)?.map(|span| (span, false)));
        }
        let mut used = function.bindings.iter().peekable();
        for given in &dispatch.bindings {
            // Both are in ascending order.
            while used.next_if(|binding| binding.binding < given.binding).is_some() {}
            let use_of = used.next_if(|binding| binding.binding == given.binding);
            let span = self
                .bind(&given.buffer, use_of, tell)
                .map_err(|error| Error { message: format!("binding {}: {}", given.binding, error.message), ..error })?;
            let (Some(span), Some(use_of)) = (span, use_of) else { continue };
            let clash = spans.iter().any(|(other, written)| (*written || use_of.writes) && span.overlaps(other));
            if clash {
                return Err(invalid(format!(
                    "binding {} overlaps another one or the workgroup counts, and one of them is written",
                    given.binding
                )));
            }
            spans.push((span, use_of.writes));
        }
        Ok(())
    }

    fn indirect(&self, counts: &BufferRef, tell: &mut Tell<'_>) -> Result<Option<Span<'a>>> {
        let Some(span) = self.touch(counts, Usage::DISPATCH_INDIRECT_PARAMETERS, MemoryAccess::READ, tell)? else {
            return Ok(None);
        };
        if span.length < INDIRECT_BYTES {
            return Err(out_of_range(format!(
                "workgroup counts take {INDIRECT_BYTES} bytes; the range has {}",
                span.length
            )));
        }
        if span.start.checked_rem(4) != Some(0) {
            return Err(invalid(format!("workgroup counts lie at a multiple of 4, not at {}", span.start)));
        }
        Ok(Some(Span { length: INDIRECT_BYTES, ..span }))
    }

    /// A binding, with what the function does with it, if it uses it at all.
    fn bind(&self, reference: &BufferRef, use_of: Option<&Binding>, tell: &mut Tell<'_>) -> Result<Option<Span<'a>>> {
        let span = self.resolve(reference)?;
        if let Some(binding) = use_of {
            // One for each, as a range that is read and one that is written.
            let kinds = [(binding.reads || !binding.writes, false), (binding.writes, true)];
            for (_, write) in kinds.into_iter().filter(|(used, _)| *used) {
                self.tell(reference, span.as_ref(), write, tell);
            }
        } else if span.is_none() {
            self.tell(reference, None, false, tell);
        }
        let Some(mut span) = span else { return Ok(None) };
        let limits = self.device.native.limits();
        let (alignment, multiple) = (limits.binding_offset_alignment.max(1), limits.binding_length_multiple.max(1));
        if !span.start.is_multiple_of(alignment) {
            return Err(invalid(format!(
                "offset {} is no multiple of \"binding-offset-alignment\", {alignment}",
                span.start
            )));
        }
        if reference.length.is_none() {
            span.length -= span.length.checked_rem(multiple).unwrap_or(0);
        } else if !span.length.is_multiple_of(multiple) {
            return Err(invalid(format!(
                "length {} is no multiple of \"binding-length-multiple\", {multiple}",
                span.length
            )));
        }
        if let Some(binding) = use_of {
            self.bind_used(&span, binding)?;
        }
        Ok(Some(span))
    }

    fn bind_used(&self, span: &Span<'_>, binding: &Binding) -> Result<()> {
        if span.length < binding.min_length {
            return Err(invalid(format!(
                "the function needs {} bytes; the range has {}",
                binding.min_length, span.length
            )));
        }
        let limits = self.device.native.limits();
        let most = |limit, length, allowed| {
            let advice = "bind a part of the buffer, and say its length";
            if length > allowed { Err(Error::bound(limit, length, allowed, advice)) } else { Ok(()) }
        };
        match binding.kind {
            BindingKind::Uniform => {
                most("max-uniform-bytes", span.length, limits.max_uniform_bytes)?;
                super::rights(span.storage, Usage::DISPATCH_UNIFORM_READ, MemoryAccess::READ)
            }
            BindingKind::Storage => {
                most("max-storage-binding-bytes", span.length, limits.max_storage_binding_bytes)?;
                if binding.reads || !binding.writes {
                    super::rights(span.storage, Usage::DISPATCH_STORAGE_READ, MemoryAccess::READ)?;
                }
                if binding.writes {
                    super::rights(span.storage, Usage::DISPATCH_STORAGE_WRITE, MemoryAccess::WRITE)?;
                }
                Ok(())
            }
        }
    }
}

//! Fills, copies, uploads and reads, at any byte. Whole words at multiples of four go the native way; what is left of a range at its
//! edges, and whatever does not line up, goes through two small kernels.

use super::{Native, pipeline, scoped};
use hal_driver::{Code, Control, Error, Result};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Bytes on their way to the device in one submission, and from it. Each device holds both, once it has used them.
const UPLOAD_BYTES: u64 = 4 << 20;
const DOWNLOAD_BYTES: u64 = 4 << 20;

/// Of the upload memory, what launch parameters get: those of a batch come last.
const LAUNCH_BYTES: u64 = 256 << 10;

/// Bytes of a host transfer between two looks at whether it is still wanted.
pub(super) const CHUNK_BYTES: u64 = UPLOAD_BYTES - LAUNCH_BYTES;

/// Bytes that a copy inside one buffer takes through other memory at a time.
const SCRATCH_BYTES: u64 = 4 << 20;

/// Bytes of one fill or copy kernel: well within what can be bound and counted in 32 bits.
const KERNEL_BYTES: u64 = 64 << 20;

/// Mapped ranges begin at multiples of this.
const MAP_ALIGNMENT: u64 = 8;

/// A place in a native buffer.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) buffer: &'a wgpu::Buffer,
    pub(crate) offset: u64,
}

/// What transfers need, made when first needed.
pub(super) struct Transfers {
    pub(super) upload: Upload,
    download: Option<wgpu::Buffer>,
    scratch: Option<wgpu::Buffer>,
    kernels: Option<Arc<Kernels>>,
    /// Bindings begin at multiples of this.
    alignment: u64,
}

struct Kernels {
    fill: wgpu::ComputePipeline,
    fill_layout: wgpu::BindGroupLayout,
    copy: wgpu::ComputePipeline,
    copy_layout: wgpu::BindGroupLayout,
}

/// Memory that the host writes and the device copies from. While mapped nothing in flight uses it.
#[derive(Default)]
pub(super) struct Upload {
    buffer: Option<wgpu::Buffer>,
    mapped: bool,
    used: u64,
}

impl Transfers {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let alignment = u64::from(device.limits().min_storage_buffer_offset_alignment);
        Self { upload: Upload::default(), download: None, scratch: None, kernels: None, alignment }
    }

    /// Lets go of the memory. Nothing is in flight.
    pub(super) fn trim(&mut self) {
        (self.upload, self.download, self.scratch) = (Upload::default(), None, None);
    }
}

impl Upload {
    /// Bytes that are staged.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Nothing of what was staged will be submitted.
    pub(super) fn forget(&mut self) {
        self.used = 0;
    }

    /// Hands what was staged over to the device.
    pub(super) fn unmap(&mut self) {
        if let (Some(buffer), true, true) = (&self.buffer, self.mapped, self.used > 0) {
            buffer.unmap();
            self.mapped = false;
        }
        self.used = 0;
    }
}

impl Native {
    /// Repeats a pattern, given as it stands at the range's first byte.
    pub(super) fn fill(&mut self, to: At<'_>, length: u64, pattern: [u8; 4]) -> Result<()> {
        let zero = pattern == [0; 4];
        let (head, middle, tail) = split(to.offset, length);
        if zero && middle > 0 {
            self.fill_words(to, head, pattern)?;
            self.record(|encoder| encoder.clear_buffer(to.buffer, to.offset + head, Some(middle)))?;
            // Whatever the phase, zeros are zeros.
            return self.fill_words(to.plus(head + middle), tail, pattern);
        }
        self.fill_words(to, length, pattern)
    }

    /// Copies; the ranges do not overlap.
    pub(super) fn copy(&mut self, from: At<'_>, to: At<'_>, length: u64, control: &Control) -> Result<()> {
        if from.buffer != to.buffer {
            return self.copy_between(from, to, length);
        }
        // The native copy refuses one buffer on both sides, and no kernel may read what it also writes through another binding.
        let mut at = 0;
        while at < length {
            let piece = (length - at).min(SCRATCH_BYTES - 8);
            let scratch = self.scratch()?;
            let cover = cover(from.offset + at, piece);
            self.record(|encoder| {
                encoder.copy_buffer_to_buffer(from.buffer, cover.0, &scratch, 0, cover.1);
            })?;
            let staged = At { buffer: &scratch, offset: from.offset + at - cover.0 };
            self.copy_between(staged, to.plus(at), piece)?;
            self.flush_if_full(control)?;
            at += piece;
        }
        Ok(())
    }

    /// Copies bytes of the host, at most [`CHUNK_BYTES`] between two looks at `control`.
    pub(crate) fn upload(&mut self, bytes: &[u8], to: At<'_>, control: &Control) -> Result<()> {
        let (head, middle, _) = split(to.offset, bytes.len() as u64);
        let (first, rest) = bytes.split_at(head as usize);
        let (middle_bytes, last) = rest.split_at(middle as usize);
        self.put(first, to)?;
        let mut at = to.plus(head);
        for piece in middle_bytes.chunks(CHUNK_BYTES as usize) {
            if self.transfers.upload.used + piece.len() as u64 + MAP_ALIGNMENT > CHUNK_BYTES {
                self.flush(control)?;
            }
            let (staging, offset) = self.stage(piece)?;
            self.record(|encoder| {
                encoder.copy_buffer_to_buffer(&staging, offset, at.buffer, at.offset, piece.len() as u64);
            })?;
            at = at.plus(piece.len() as u64);
        }
        self.put(last, at)
    }

    /// Copies to the host, behind the end of `into`.
    pub(crate) fn download(&mut self, from: At<'_>, length: u64, into: &mut Vec<u8>, control: &Control) -> Result<()> {
        let mut at = 0;
        while at < length {
            let piece = (length - at).min(DOWNLOAD_BYTES - 8);
            let (start, covered) = cover(from.offset + at, piece);
            let download = self.download_buffer()?;
            self.record(|encoder| encoder.copy_buffer_to_buffer(from.buffer, start, &download, 0, covered))?;
            let skip = (from.offset + at - start) as usize;
            self.submit_and_look(&download, covered, |bytes| {
                into.extend_from_slice(
                    bytes.get(skip..).and_then(|rest| rest.get(..piece as usize)).unwrap_or_default(),
                );
            })?;
            control.stopped().map_or(Ok(()), Err)?;
            at += piece;
        }
        Ok(())
    }

    /// Writes fewer than four bytes of the host into one word.
    fn put(&mut self, bytes: &[u8], to: At<'_>) -> Result<()> {
        let mut pattern = [0; 4];
        for (slot, byte) in pattern.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        self.fill_words(to, bytes.len() as u64, pattern)
    }

    /// Fills by kernel.
    fn fill_words(&mut self, to: At<'_>, length: u64, pattern: [u8; 4]) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        let kernels = self.kernels()?;
        // As it stands at a multiple of four: byte 0 there is the pattern's at the same distance from the range's first byte.
        let pattern = u32::from_le_bytes(pattern).rotate_left(8 * (to.offset % 4) as u32);
        self.in_pieces(length, |native, at, piece| {
            let target = native.covered(to.plus(at), piece);
            let immediates = [target.start, target.start + piece as u32, 0, pattern];
            native.kernel(&kernels.fill, &kernels.fill_layout, &[target.binding()], immediates)
        })
    }

    /// Copies between two buffers.
    fn copy_between(&mut self, from: At<'_>, to: At<'_>, length: u64) -> Result<()> {
        let (head, middle, tail) = split(to.offset, length);
        if middle == 0 || from.offset % 4 != to.offset % 4 {
            return self.copy_words(from, to, length);
        }
        self.copy_words(from, to, head)?;
        self.record(|encoder| {
            encoder.copy_buffer_to_buffer(from.buffer, from.offset + head, to.buffer, to.offset + head, middle);
        })?;
        self.copy_words(from.plus(head + middle), to.plus(head + middle), tail)
    }

    /// Copies by kernel.
    fn copy_words(&mut self, from: At<'_>, to: At<'_>, length: u64) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        let kernels = self.kernels()?;
        self.in_pieces(length, |native, at, piece| {
            let (source, target) = (native.covered(from.plus(at), piece), native.covered(to.plus(at), piece));
            let delta = source.start.wrapping_sub(target.start);
            let immediates = [target.start, target.start + piece as u32, delta, 0];
            native.kernel(&kernels.copy, &kernels.copy_layout, &[target.binding(), source.binding()], immediates)
        })
    }

    fn in_pieces(&mut self, length: u64, mut step: impl FnMut(&mut Self, u64, u64) -> Result<()>) -> Result<()> {
        let mut at = 0;
        while at < length {
            let piece = (length - at).min(KERNEL_BYTES);
            step(self, at, piece)?;
            at += piece;
        }
        Ok(())
    }

    /// A range as it can be bound.
    fn covered<'a>(&self, at: At<'a>, length: u64) -> Covered<'a> {
        let offset = at.offset / self.transfers.alignment * self.transfers.alignment;
        let start = at.offset - offset;
        // Both fit: a piece is far below 4 GiB, and so is an alignment.
        Covered { buffer: at.buffer, offset, size: (start + length).next_multiple_of(4), start: start as u32 }
    }

    fn kernel(
        &mut self,
        pipeline: &wgpu::ComputePipeline,
        layout: &wgpu::BindGroupLayout,
        bindings: &[wgpu::BufferBinding<'_>],
        immediates: [u32; 4],
    ) -> Result<()> {
        let [start, end, ..] = immediates;
        let groups = (end.div_ceil(4) - start / 4).div_ceil(256);
        let rows = groups.div_ceil(MAX_GROUPS);
        let entries: Vec<_> =
            (0..).zip(bindings).map(|(binding, bound)| pipeline::entry(binding, bound.clone())).collect();
        let group = self.scoped(|device| {
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
        })?;
        let bytes: Vec<u8> = immediates.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.record(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.set_immediates(0, &bytes);
            pass.dispatch_workgroups(groups.div_ceil(rows), rows, 1);
        })
    }

    /// Puts bytes into upload memory, and answers where. A multiple of four bytes.
    pub(super) fn stage(&mut self, bytes: &[u8]) -> Result<(wgpu::Buffer, u64)> {
        let buffer = self.map_upload()?;
        let (start, length) = (self.transfers.upload.used, bytes.len() as u64);
        let written = self.scoped(|_| {
            let view = buffer.get_mapped_range_mut(start..start + length);
            view.map(|mut view| view.copy_from_slice(bytes)).is_ok()
        })?;
        if !written {
            return Err(Error::new(Code::Internal, "upload memory could not be written"));
        }
        self.transfers.upload.used = (start + length).next_multiple_of(MAP_ALIGNMENT);
        Ok((buffer, start))
    }

    fn map_upload(&mut self) -> Result<wgpu::Buffer> {
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        let buffer = match &self.transfers.upload.buffer {
            Some(buffer) => buffer.clone(),
            None => self.make(UPLOAD_BYTES, usage, "upload")?,
        };
        self.transfers.upload.buffer = Some(buffer.clone());
        if !self.transfers.upload.mapped {
            let mapped = Arc::new(AtomicBool::new(false));
            let flag = mapped.clone();
            // Nothing in flight uses it, so it is there after the first poll.
            self.scoped(|device| {
                buffer
                    .map_async(wgpu::MapMode::Write, .., move |outcome| flag.store(outcome.is_ok(), Ordering::Release));
                device.poll(wgpu::PollType::Poll)
            })
            .map(drop)?;
            if !mapped.load(Ordering::Acquire) {
                self.transfers.upload = Upload::default();
                return Err(Error::new(Code::Internal, "upload memory could not be mapped"));
            }
            self.transfers.upload.mapped = true;
            self.transfers.upload.used = 0;
        }
        Ok(buffer)
    }

    fn download_buffer(&mut self) -> Result<wgpu::Buffer> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let buffer = match &self.transfers.download {
            Some(buffer) => buffer.clone(),
            None => self.make(DOWNLOAD_BYTES, usage, "download")?,
        };
        self.transfers.download = Some(buffer.clone());
        Ok(buffer)
    }

    fn scratch(&mut self) -> Result<wgpu::Buffer> {
        let buffer = match &self.transfers.scratch {
            Some(buffer) => buffer.clone(),
            None => self.make(SCRATCH_BYTES, super::USAGES, "scratch")?,
        };
        self.transfers.scratch = Some(buffer.clone());
        Ok(buffer)
    }

    /// Memory of the driver's own.
    pub(super) fn make(&self, size: u64, usage: wgpu::BufferUsages, label: &str) -> Result<wgpu::Buffer> {
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        self.scoped(|device| device.create_buffer(&descriptor))
    }

    fn kernels(&mut self) -> Result<Arc<Kernels>> {
        if let Some(kernels) = &self.transfers.kernels {
            return Ok(kernels.clone());
        }
        let kernels = Arc::new(scoped(&self.state, &self.device, Kernels::new)??);
        self.transfers.kernels = Some(kernels.clone());
        Ok(kernels)
    }
}

/// What every device takes in one dimension.
const MAX_GROUPS: u32 = 65_535;

/// A range of a buffer in a binding that covers it.
struct Covered<'a> {
    buffer: &'a wgpu::Buffer,
    offset: u64,
    size: u64,
    /// Of the range in the binding.
    start: u32,
}

impl<'a> Covered<'a> {
    fn binding(&self) -> wgpu::BufferBinding<'a> {
        wgpu::BufferBinding { buffer: self.buffer, offset: self.offset, size: wgpu::BufferSize::new(self.size) }
    }
}

impl At<'_> {
    pub(super) fn plus(self, bytes: u64) -> Self {
        Self { offset: self.offset + bytes, ..self }
    }
}

impl Kernels {
    fn new(device: &wgpu::Device) -> Result<Self> {
        let module = naga::front::wgsl::parse_str(include_str!("transfers.wgsl"))
            .map_err(|error| Error::new(Code::Internal, format!("the driver's own kernels: {error}")))?;
        let source = wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(module));
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("transfers"), source });
        let target = pipeline::storage_entry(0, true);
        let source = pipeline::storage_entry(1, false);
        let (fill, fill_layout) = own_pipeline(device, &module, "fill", &[target]);
        let (copy, copy_layout) = own_pipeline(device, &module, "copy", &[target, source]);
        Ok(Self { fill, fill_layout, copy, copy_layout })
    }
}

fn own_pipeline(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    name: &str,
    entries: &[wgpu::BindGroupLayoutEntry],
) -> (wgpu::ComputePipeline, wgpu::BindGroupLayout) {
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(name), entries });
    (pipeline::compute(device, module, name, &[Some(&layout)], 16, None), layout)
}

/// Bytes before the first multiple of four, whole words, and what is left; of a range that has no whole word all is left.
fn split(offset: u64, length: u64) -> (u64, u64, u64) {
    let head = (offset.next_multiple_of(4) - offset).min(length);
    let middle = (length - head) / 4 * 4;
    (head, middle, length - head - middle)
}

/// The whole words around a range. Allocations are padded, so they are always there.
fn cover(offset: u64, length: u64) -> (u64, u64) {
    let start = offset / 4 * 4;
    (start, (offset + length).next_multiple_of(4) - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_split_at_multiples_of_four() {
        assert_eq!(split(0, 8), (0, 8, 0));
        assert_eq!(split(1, 2), (2, 0, 0));
        assert_eq!(split(1, 3), (3, 0, 0));
        assert_eq!(split(3, 10), (1, 8, 1));
        assert_eq!(split(4, 3), (0, 0, 3));
        assert_eq!(split(7, 0), (0, 0, 0));
    }

    #[test]
    fn a_cover_is_whole_words() {
        assert_eq!(cover(0, 4), (0, 4));
        assert_eq!(cover(3, 2), (0, 8));
        assert_eq!(cover(5, 3), (4, 4));
    }
}

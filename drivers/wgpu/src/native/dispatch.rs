//! Kernels, in pieces that end.

use super::{
    Native,
    batch::MAX_PASSES,
    pace::{self, Known, Pace, Piece, Pieces},
    pipeline::{self, Bindings, Kernel, Pipeline},
};
use crate::adapter::Adapter;
use hal_driver::{Code, Control, Error, Result};
use hal_kernel::native::{
    ERROR_DISPATCH, ERROR_INVOCATION, LARGEST_CHUNKS_PER_INVOCATION, LAUNCH_BINDING, STATUS_BINDING,
};
use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

/// Bytes of one launch's parameters.
const LAUNCH_BYTES: u64 = hal_kernel::native::LAUNCH_BYTES as u64;

/// Launch parameters of one batch: as many as it may have passes.
const MAX_LAUNCHES: u64 = MAX_PASSES as u64;

/// Memory that is made up for a kernel that is only compiled.
const MAX_WARM_UP_BYTES: u64 = 16 << 20;

/// A buffer's range as a kernel gets it.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) binding: u32,
    pub(super) buffer: wgpu::Buffer,
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// What the driver itself binds to every kernel.
pub(super) struct Launches {
    params: wgpu::Buffer,
    status: wgpu::Buffer,
    pub(super) status_read: wgpu::Buffer,
    pub(super) layout: wgpu::BindGroupLayout,
    group: wgpu::BindGroup,
    /// Bytes from one launch's parameters to the next.
    stride: u64,
    /// Iterations that one invocation may make, as far as the driver is to see to it.
    iterations: u32,
    /// Whether the device ends an invocation by itself, sooner or later. It knows better what it has done: its compiler writes loops
    /// out that a kernel counts.
    cuts_off: bool,
}

/// What kernels with loops report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Status {
    /// Chunks of iterations beyond each invocation's first.
    spent: u32,
    error: u32,
}

impl Status {
    /// What mapped memory is a multiple of, and no less than the kernel's two words.
    pub(super) const BYTES: u64 = 16;

    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        Self { spent: words.next().unwrap_or_default(), error: words.next().unwrap_or_default() }
    }

    /// Fails if a kernel was stopped.
    pub(super) fn check(&self, adapter: &Adapter) -> Result<()> {
        if self.error & ERROR_INVOCATION != 0 {
            return Err(Error::new(
                Code::DeadlineExceeded,
                format!(
                    "an invocation, alone or with those that run in step with it, went through its loops more often than this device's \
                     limit \"max-loop-iterations\" of {} and was stopped; spread the work over more invocations",
                    adapter.limits().max_loop_iterations
                ),
            ));
        }
        if self.error & ERROR_DISPATCH != 0 {
            return Err(Error::new(
                Code::DeadlineExceeded,
                "the kernel was stopped: it ran for seconds without an end, or past the submission's deadline; \
                 dispatch it in smaller parts",
            ));
        }
        Ok(())
    }
}

impl Launches {
    pub(super) fn new(device: &wgpu::Device, adapter: &Adapter) -> Self {
        let stride = LAUNCH_BYTES.next_multiple_of(u64::from(device.limits().min_uniform_buffer_offset_alignment));
        let make = |size, usage, label| {
            device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false })
        };
        let copied = wgpu::BufferUsages::COPY_DST;
        let params = make(stride * MAX_LAUNCHES, wgpu::BufferUsages::UNIFORM | copied, "launches");
        let status = make(Status::BYTES, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | copied, "status");
        let status_read = make(Status::BYTES, wgpu::BufferUsages::MAP_READ | copied, "status read");
        let entries = [pipeline::uniform_entry(LAUNCH_BINDING, true), pipeline::storage_entry(STATUS_BINDING, true)];
        let label = Some("launch");
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let first = wgpu::BufferBinding { buffer: &params, offset: 0, size: wgpu::BufferSize::new(LAUNCH_BYTES) };
        let entries = [
            pipeline::entry(LAUNCH_BINDING, first),
            pipeline::entry(STATUS_BINDING, status.as_entire_buffer_binding()),
        ];
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout: &layout, entries: &entries });
        let iterations = u32::try_from(adapter.limits().max_loop_iterations).unwrap_or(u32::MAX);
        let cuts_off = adapter.cut_off().is_some();
        Self { params, status, status_read, layout, group, stride, iterations, cuts_off }
    }

    /// Before the kernels of a batch.
    pub(super) fn begin(&self, encoder: &mut wgpu::CommandEncoder, upload: &wgpu::Buffer, at: u64, length: u64) {
        encoder.copy_buffer_to_buffer(upload, at, &self.params, 0, length);
        encoder.clear_buffer(&self.status, 0, None);
    }

    /// After them.
    pub(super) fn end(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.status, 0, &self.status_read, 0, Status::BYTES);
    }

    /// The parameters of one launch, padded to the stride.
    fn bytes(&self, launch: &Launch<'_>, piece: &Piece, chunk: u32, chunks: u32) -> Vec<u8> {
        let [bx, by, bz] = piece.base;
        let [gx, gy, gz] = launch.grid;
        let most = if self.cuts_off { LARGEST_CHUNKS_PER_INVOCATION } else { self.iterations / chunk };
        let words = [bx, by, bz, chunk, gx, gy, gz, most, chunks];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(self.stride as usize, 0);
        bytes
    }
}

/// A dispatch, ready to be cut.
struct Launch<'a> {
    kernel: &'a Kernel,
    pipeline: Arc<Pipeline>,
    group: wgpu::BindGroup,
    constants: &'a [u8],
    grid: [u32; 3],
    control: &'a Control,
}

impl Native {
    /// Has the native compiler do its work now, which some leave until a kernel is first run: no workgroup runs. Nothing else is recorded.
    pub(super) fn warm_up(&mut self, kernel: &Kernel, pipeline: &Pipeline) -> Result<()> {
        let most = kernel.info.bindings.iter().map(|binding| binding.min_length).max().unwrap_or_default();
        if most > MAX_WARM_UP_BYTES {
            return Ok(());
        }
        let size = most.max(1).next_multiple_of(16);
        let (read, written) = (self.make(size, super::USAGES, "warm-up")?, self.make(size, super::USAGES, "warm-up")?);
        let entries = kernel.info.bindings.iter().map(|binding| {
            let buffer = if kernel.declared.contains(&binding.binding) { &written } else { &read };
            pipeline::entry(binding.binding, buffer.as_entire_buffer_binding())
        });
        let entries: Vec<_> = entries.collect();
        let (own, constants) = (self.launches.group.clone(), vec![0; kernel.info.constant_bytes as usize]);
        let group = self.scoped(|device| {
            let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &pipeline.layout, entries: &entries };
            device.create_bind_group(&descriptor)
        })?;
        self.record(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline.native);
            pass.set_bind_group(0, &group, &[]);
            pass.set_bind_group(1, &own, &[0]);
            if !constants.is_empty() {
                pass.set_immediates(0, &constants);
            }
            pass.dispatch_workgroups(0, 0, 0);
        })?;
        self.finish_compiling()
    }

    /// Runs a kernel over a grid.
    pub(super) fn dispatch(
        &mut self,
        kernel: &Arc<Kernel>,
        bindings: Vec<Bound>,
        constants: &[u8],
        grid: [u32; 3],
        control: &Control,
    ) -> Result<()> {
        if grid.contains(&0) {
            return Ok(());
        }
        let (bindings, writable) = self.reconcile(kernel, bindings)?;
        let pipeline = self.pipeline(kernel, &writable)?;
        let entries: Vec<_> = bindings.iter().map(Bound::entry).collect();
        let group = self.scoped(|device| {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.layout,
                entries: &entries,
            })
        })?;
        let launch = Launch { kernel, pipeline, group, constants, grid, control };
        self.launch(&launch)
    }

    /// How long a dispatch takes at worst that is one piece and whose kernel cannot be stopped half way; none for others.
    pub(super) fn plain_time(&self, kernel: &Kernel, grid: [u32; 3]) -> Option<Duration> {
        let (pace, groups) = (self.pace(kernel), groups(grid));
        (!kernel.has_loops && groups <= pace.groups()).then(|| pace.worst_time(groups))
    }

    fn pace(&self, kernel: &Kernel) -> Pace {
        let kinds = if kernel.has_group_loops { 2 } else { 1 };
        Pace::new(
            &self.state.adapter,
            Known {
                rounds: if kernel.has_loops { u64::from(self.launches.iterations) * kinds } else { 1 },
                invocations: kernel.invocations(),
                steps: kernel.steps,
                beside: kernel.work / kernel.steps.max(1),
                rate: kernel.rate.load(Ordering::Relaxed),
            },
        )
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<()> {
        let Launch { kernel, grid, control, .. } = *launch;
        let mut pace = self.pace(kernel);
        let mut left = groups(grid);
        let begun = self.batch.as_ref().map_or(Duration::ZERO, |batch| batch.worst);
        if begun > Duration::ZERO && !pace::fits_a_batch(begun.saturating_add(pace.worst_time(left))) {
            self.flush(control)?;
        }
        let mut pieces = Pieces::new(grid);
        while let Some(piece) = pieces.next(pace.groups()) {
            self.launch_piece(launch, &piece, &pace)?;
            left -= piece.groups();
            if left > 0 {
                let ended = self.flush(control)?;
                let chunks = ended.status.map_or(0, |status| status.spent);
                if let Some(rate) = pace.ended(piece.groups(), ended.time, chunks) {
                    kernel.saw_rate(rate);
                }
            }
        }
        self.flush_if_full(control)
    }

    fn launch_piece(&mut self, launch: &Launch<'_>, piece: &Piece, pace: &Pace) -> Result<()> {
        let left = launch.control.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let (at, before) = self.batch.as_ref().map_or((0, 0), |batch| (batch.launches.len(), batch.chunks));
        // Kernels of a batch draw on one counter: what those before may draw comes on top.
        let chunks = pace.bound(left, piece.groups()).saturating_add(before);
        let bytes = self.launches.bytes(launch, piece, pace.chunk(), chunks);
        let (own, [x, y, z]) = (self.launches.group.clone(), piece.size);
        self.record(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(&launch.kernel.label),
                timestamp_writes: None,
            });
            pass.set_pipeline(&launch.pipeline.native);
            pass.set_bind_group(0, &launch.group, &[]);
            // A batch has few enough launches.
            pass.set_bind_group(1, &own, &[at as u32]);
            if !launch.constants.is_empty() {
                pass.set_immediates(0, launch.constants);
            }
            pass.dispatch_workgroups(x, y, z);
        })?;
        if let Some(batch) = &mut self.batch {
            batch.launches.extend(bytes);
            batch.worst = batch.worst.saturating_add(pace.worst_time(piece.groups()));
            if launch.kernel.has_loops {
                batch.counted = true;
                batch.chunks = chunks;
            }
        }
        Ok(())
    }

    /// Bindings as the native interface takes them, and those that have to be declared writable though they are only read.
    ///
    /// Natively a buffer is either read or written by a dispatch, whichever ranges are meant. Storage that is only read becomes writable where
    /// its buffer is also written; a uniform cannot, and is read from a copy.
    fn reconcile(&mut self, kernel: &Kernel, bindings: Vec<Bound>) -> Result<(Vec<Bound>, Bindings)> {
        let infos = &kernel.info.bindings;
        let written: Vec<wgpu::Buffer> = infos
            .iter()
            .zip(&bindings)
            .filter(|(info, _)| kernel.declared.contains(&info.binding))
            .map(|(_, bound)| bound.buffer.clone())
            .collect();
        let mut writable = Bindings::new();
        let mut reconciled = Vec::with_capacity(bindings.len());
        for (info, bound) in infos.iter().zip(bindings) {
            if kernel.declared.contains(&info.binding) || !written.contains(&bound.buffer) {
                reconciled.push(bound);
            } else if info.kind == hal_driver::BindingKind::Storage {
                writable.push(info.binding);
                reconciled.push(bound);
            } else {
                let copy = self.make(bound.length.next_multiple_of(16), super::USAGES, "uniform copy")?;
                self.record(|encoder| {
                    encoder.copy_buffer_to_buffer(&bound.buffer, bound.offset, &copy, 0, bound.length);
                })?;
                reconciled.push(Bound { buffer: copy, offset: 0, ..bound });
            }
        }
        Ok((reconciled, writable))
    }
}

fn groups(grid: [u32; 3]) -> u64 {
    grid.iter().map(|&count| u64::from(count)).fold(1, u64::saturating_mul)
}

impl Bound {
    fn entry(&self) -> wgpu::BindGroupEntry<'_> {
        let size = wgpu::BufferSize::new(self.length);
        pipeline::entry(self.binding, wgpu::BufferBinding { buffer: &self.buffer, offset: self.offset, size })
    }
}

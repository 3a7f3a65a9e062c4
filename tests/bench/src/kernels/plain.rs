//! The same kernel in a plain program over wgpu: what shows whether our own driver is slow.

use super::{catalog::Kernel, contest::Contestant, workload::Workload};
use anyhow::{Context, Result};
use std::{borrow::Cow, sync::mpsc, time::Instant};

/// A device of wgpu's.
pub struct Plain {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// A kernel with its buffers, ready to run.
pub struct Ready<'a> {
    plain: &'a Plain,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    output: wgpu::Buffer,
    constants: Vec<u8>,
    groups: [u32; 3],
    repeats: u32,
}

impl Plain {
    /// Opens the first Vulkan device in software.
    ///
    /// # Errors
    /// There is none.
    pub fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN,
            flags: wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapters = runtime.block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        let mut in_software =
            adapters.into_iter().filter(|adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu);
        let adapter = in_software.next().context("there is no Vulkan device in software")?;
        let (device, queue) = runtime.block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: wgpu::Features::IMMEDIATES,
            required_limits: adapter.limits(),
            ..Default::default()
        }))?;
        Ok(Self { device, queue })
    }

    /// A workload's kernel.
    ///
    /// # Errors
    /// The source is refused.
    pub fn ready(&self, kernel: &Kernel, workload: &Workload) -> Result<Ready<'_>> {
        let module = naga::front::wgsl::parse_str(kernel.source)?;
        let output = self.buffer(&workload.untouched())?;
        let inputs = workload.inputs.iter().map(|input| self.buffer(input));
        let buffers = inputs.chain([Ok(output.clone())]).collect::<Result<Vec<_>>>()?;
        let source = wgpu::ShaderSource::Naga(Cow::Owned(module));
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let mut entries = Vec::new();
        for (binding, buffer) in (0..).zip(&buffers) {
            entries.push(wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        }
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let constants = workload.constants.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(Ready { plain: self, pipeline, group, output, constants, groups: kernel.groups, repeats: kernel.repeats })
    }

    fn buffer(&self, bytes: &[u8]) -> Result<wgpu::Buffer> {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        buffer.get_mapped_range_mut(..)?.copy_from_slice(bytes);
        buffer.unmap();
        Ok(buffer)
    }

    fn wait(&self, index: wgpu::SubmissionIndex) -> Result<()> {
        self.device.poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: None })?;
        Ok(())
    }
}

impl Contestant for Ready<'_> {
    fn turn(&mut self) -> Result<f64> {
        let begin = Instant::now();
        let mut encoder = self.plain.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        if !self.constants.is_empty() {
            pass.set_immediates(0, &self.constants);
        }
        let [x, y, z] = self.groups;
        (0..self.repeats).for_each(|_| pass.dispatch_workgroups(x, y, z));
        drop(pass);
        self.plain.wait(self.plain.queue.submit([encoder.finish()]))?;
        Ok(begin.elapsed().as_secs_f64() / f64::from(self.repeats))
    }

    fn output(&mut self) -> Result<Vec<f32>> {
        let copy = self.plain.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: self.output.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.plain.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&self.output, 0, &copy, 0, self.output.size());
        let index = self.plain.queue.submit([encoder.finish()]);
        let (sender, receiver) = mpsc::channel();
        copy.map_async(wgpu::MapMode::Read, .., move |outcome| drop(sender.send(outcome)));
        self.plain.wait(index)?;
        receiver.recv()??;
        let view = copy.get_mapped_range(..)?;
        Ok(view.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect())
    }
}

//! What a software adapter does with long loops.

use super::{Native, pipeline, thread};
use crate::{adapter::Adapter, state::State};
use hal_driver::{Code, Control, Error, Result};

/// Iterations that are tried: some more than the most that an invocation is known to be cut off after, 65,535 of Mesa's llvmpipe.
const TRIED: u32 = 70_000;

const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read_write> count: array<u32>;
    @compute @workgroup_size(1) fn main() {
        var i = 0u;
        loop {
            if i >= count[1] { break; }
            i += 1u;
        }
        count[0] = i;
    }";

/// After how many iterations an adapter ends an invocation by itself, without a word and with whatever it has computed by then. *Blocking.*
///
/// # Errors
/// What keeps a device of the adapter from being opened.
pub(crate) fn cut_off(adapter: &Adapter) -> Result<Option<u32>> {
    let state = State::new(adapter.clone(), None);
    let found = thread::start(&state, usize::MAX).and_then(|()| state.ask(Native::probe));
    state.close();
    let found = found?;
    Ok((found < TRIED).then_some(found))
}

impl Native {
    fn probe(&mut self) -> Result<u32> {
        let counts = self.record_probe([1, 1, 1])?;
        let mut bytes = Vec::new();
        self.download(super::At { buffer: &counts, offset: 0 }, 4, &mut bytes, &Control::new(None))?;
        bytes
            .first_chunk()
            .map(|word| u32::from_le_bytes(*word))
            .ok_or_else(|| Error::new(Code::Internal, "nothing was read"))
    }

    /// Keeps the device busy for hours, as nothing of a tenant's can.
    #[cfg(test)]
    pub(crate) fn hang(&mut self) -> Result<()> {
        self.record_probe([65_535, 65_535, 1])?;
        self.finish(&Control::new(None))
    }

    /// Records the kernel as it stands, without a bound of ours, and answers where its invocations count.
    fn record_probe(&mut self, [x, y, z]: [u32; 3]) -> Result<wgpu::Buffer> {
        let module = naga::front::wgsl::parse_str(KERNEL)
            .map_err(|error| Error::new(Code::Internal, format!("the driver's own kernel: {error}")))?;
        let counts = self.allocate("probe", 16)?;
        self.fill(super::At { buffer: &counts, offset: 4 }, 4, TRIED.to_le_bytes())?;
        let (pipeline, group) = self.scoped(|device| {
            let source = wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(module));
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("probe"), source });
            let entries = [pipeline::storage_entry(0, true)];
            let layout =
                device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
            let pipeline = pipeline::compute(device, &module, "main", &[Some(&layout)], 0, None);
            let entries = [pipeline::entry(0, counts.as_entire_buffer_binding())];
            let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
            (pipeline, device.create_bind_group(&descriptor))
        })?;
        self.record(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(x, y, z);
        })?;
        Ok(counts)
    }
}

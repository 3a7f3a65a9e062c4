//! What a plan has to leave: plain bytes, and kernels by the interpreter.

use crate::{
    Plan, Table, View,
    kernels::{KERNELS, PROGRAMS},
};
use hal_core::{BufferRef, Command, Dispatch, Source, Workgroups};
use hal_interpreter::{Bound, Options};

/// The bytes of all buffers.
pub type Memory = Vec<Vec<u8>>;

/// The bytes after each phase.
pub fn run(plan: &Plan) -> Vec<Memory> {
    let mut memory: Memory = plan.buffers.iter().map(|(size, _)| vec![0; *size as usize]).collect();
    let mut after = Vec::new();
    for phase in &plan.phases {
        for (view, offset, bytes) in &phase.writes {
            let View { buffer, start, .. } = plan.views[*view];
            let at = (start + offset) as usize;
            memory[buffer][at..at + bytes.len()].copy_from_slice(bytes);
        }
        for node in &phase.nodes {
            let mut run = Run { plan, table: &node.table, memory: &mut memory };
            phase.recordings[node.recording].commands.iter().for_each(|command| run.command(command));
        }
        after.push(memory.clone());
    }
    after
}

struct Run<'a> {
    plan: &'a Plan,
    table: &'a Table,
    memory: &'a mut Memory,
}

impl Run<'_> {
    /// The buffer, and which of its bytes.
    fn resolve(&self, range: BufferRef) -> (usize, std::ops::Range<usize>) {
        let (View { buffer, start, length, .. }, offset, open) = match range.source {
            Source::Direct(view) => (self.plan.views[view as usize], 0, None),
            Source::Slot(slot) => {
                let slot = self.table[slot as usize];
                (self.plan.views[slot.buffer as usize], slot.offset, slot.length)
            }
        };
        let (start, length) = (start + offset, open.unwrap_or(length - offset));
        let first = start + range.offset;
        let end = range.length.map_or(start + length, |length| first + length);
        assert!(end <= start + length, "a range outside of its view");
        (buffer, first as usize..end as usize)
    }

    fn bytes(&mut self, range: BufferRef) -> &mut [u8] {
        let (buffer, bytes) = self.resolve(range);
        &mut self.memory[buffer][bytes]
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Barrier => {}
            Command::Fill { target, pattern } => {
                self.bytes(*target).chunks_exact_mut(pattern.len()).for_each(|chunk| chunk.copy_from_slice(pattern));
            }
            Command::Update { target, bytes } => self.bytes(*target).copy_from_slice(bytes),
            Command::Copy { source, target } => {
                let copied = self.bytes(*source).to_vec();
                self.bytes(*target).copy_from_slice(&copied);
            }
            Command::Dispatch(dispatch) => self.dispatch(dispatch),
        }
    }

    fn dispatch(&mut self, dispatch: &Dispatch) {
        let groups = match dispatch.workgroups {
            Workgroups::Direct(groups) => groups,
            Workgroups::Indirect(counts) => {
                let bytes = self.bytes(counts);
                [0, 4, 8].map(|at| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
            }
        };
        let kernel = dispatch.executable as usize;
        let mut bound: Vec<Bound> = Vec::new();
        for binding in &dispatch.bindings {
            let bytes = self.bytes(binding.buffer);
            // An open range is rounded down.
            let bytes = bytes[..bytes.len() / 4 * 4].to_vec();
            bound.push(Bound { binding: binding.binding, bytes });
        }
        let launch = hal_interpreter::Dispatch { function: "main", groups, constants: &dispatch.constants };
        hal_interpreter::run(&PROGRAMS[kernel], &launch, &mut bound, &Options::default())
            .unwrap_or_else(|error| panic!("{error}"));
        for (binding, bound) in dispatch.bindings.iter().zip(bound) {
            if KERNELS[kernel].uses.iter().any(|used| used.binding == binding.binding && used.writes) {
                self.bytes(binding.buffer)[..bound.bytes.len()].copy_from_slice(&bound.bytes);
            }
        }
    }
}

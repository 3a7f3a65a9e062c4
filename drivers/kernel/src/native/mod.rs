//! One function of a program as a native device gets it: a module whose dispatch ends by construction and can be split.
//!
//! A GPU cannot be interrupted, and a driver cannot take back a dispatch that never ends. So the end is written into the
//! kernel: every loop draws on a budget ([`Native`] says how), and a driver can dispatch one part of the grid at a time,
//! because the kernel reads where its part lies from a buffer of the driver's own. None of this can be seen by a kernel
//! that stays within its budget.
//!
//! The driver's buffers are in group [`LAUNCH_GROUP`], where a kernel has nothing (see the ABI):
//!
//! ```wgsl
//! struct Launch {                    // LAUNCH_BYTES, written by the driver for each native dispatch
//!     base: vec3<u32>,               // the first workgroup of this part
//!     chunk: i32,                    // rounds that an invocation draws at a time
//!     groups: vec3<u32>,             // workgroups of the whole dispatch
//!     chunks_per_invocation: u32,    // most that one invocation may draw, at most LARGEST_CHUNKS_PER_INVOCATION
//!     chunks: u32,                   // most that all invocations together may draw, beyond their first
//! }
//! struct Status {                    // STATUS_BYTES, cleared by the driver before the first part
//!     spent: atomic<u32>,            // chunks drawn beyond the first of each invocation
//!     error: atomic<u32>,            // ERROR_INVOCATION, ERROR_DISPATCH
//! }
//! @group(1) @binding(0) var<uniform> hal_launch: Launch;
//! @group(1) @binding(1) var<storage, read_write> hal_status: Status;
//! ```

mod access;
mod budget;
mod cost;
mod launch;
mod purse;
mod relocate;
mod returns;
mod sizes;
mod trips;
mod writer;

use naga::compact::{KeepUnused, compact};
use naga::{EntryPoint, Module, ShaderStage};

use crate::error::{ErrorCode, KernelError, quote};
use crate::front;
use crate::program::Program;
use crate::threads::on_compile_thread;

/// The bind group that belongs to the driver.
pub const LAUNCH_GROUP: u32 = 1;
/// The binding of `Launch` in [`LAUNCH_GROUP`]: a uniform buffer of [`LAUNCH_BYTES`].
pub const LAUNCH_BINDING: u32 = 0;
/// The binding of `Status` in [`LAUNCH_GROUP`]: a storage buffer, read and written, of [`STATUS_BYTES`].
pub const STATUS_BINDING: u32 = 1;

/// Offset of `base`, three words: the workgroup with which this part of the dispatch begins.
pub const LAUNCH_BASE_OFFSET: u32 = 0;
/// Offset of `chunk`, a word from 1 to [`LARGEST_CHUNK`]: the rounds that an invocation draws at a time.
pub const LAUNCH_CHUNK_OFFSET: u32 = 12;
/// Offset of `groups`, three words: the workgroups of the whole dispatch, which the kernel sees as `num_workgroups`.
pub const LAUNCH_GROUPS_OFFSET: u32 = 16;
/// Offset of `chunks_per_invocation`, a word of at most [`LARGEST_CHUNKS_PER_INVOCATION`]: how many chunks an invocation may
/// draw. The first it has in any case. Its loops with a barrier inside, which a whole workgroup leaves together, have as
/// many again.
pub const LAUNCH_CHUNKS_PER_INVOCATION_OFFSET: u32 = 28;
/// Offset of `chunks`, a word: how many chunks all invocations may draw, not counting the first of each.
pub const LAUNCH_CHUNKS_OFFSET: u32 = 32;
/// Size of `Launch`.
pub const LAUNCH_BYTES: u32 = 48;

/// Offset of `spent`, a word: chunks drawn, not counting the first of each invocation.
pub const STATUS_SPENT_OFFSET: u32 = 0;
/// Offset of `error`, a word: [`ERROR_INVOCATION`] and [`ERROR_DISPATCH`].
pub const STATUS_ERROR_OFFSET: u32 = 4;
/// Size of `Status`.
pub const STATUS_BYTES: u32 = 8;

/// Bit of `error`: an invocation wanted more than `chunks_per_invocation`, or was cut off by the device.
pub const ERROR_INVOCATION: u32 = 1;
/// Bit of `error`: all invocations together wanted more than `chunks`.
pub const ERROR_DISPATCH: u32 = 2;

/// Workgroup memory that a kernel with a barrier inside of a loop needs in addition: see
/// [`Native::added_workgroup_bytes`].
pub const STOP_BYTES: u32 = 4;

/// Most steps of a function with everything that it calls written out. Native compilers do write it all out, and nothing
/// can stop them: functions that call the next one twice, sixty deep, are a kilobyte of source and would never compile.
/// The largest kernels in use have a tenth of this.
pub const MAX_INLINED_STEPS: u64 = 1 << 16;

/// The largest `chunk`.
pub const LARGEST_CHUNK: u32 = 1 << 30;
/// The largest `chunks_per_invocation`.
pub const LARGEST_CHUNKS_PER_INVOCATION: u32 = u32::MAX - 4;

/// Most rounds of an invocation's loops that are not counted, because the source says how many there are.
pub const MAX_UNCOUNTED_ROUNDS: u64 = 1 << 14;
/// Most steps that an invocation does without a loop that counts: a group of a thousand then takes a second at worst.
pub const MAX_UNCOUNTED_STEPS: u64 = 1 << 18;

/// What [`Program::native`] is to make.
#[derive(Clone, Copy, Debug)]
pub struct NativeOptions<'a> {
    /// Binding numbers that are declared `read_write` even if the function only reads them: those whose buffer the same
    /// dispatch also writes through another binding.
    pub writable: &'a [u32],
    /// Whether to find out, and report as [`ERROR_INVOCATION`], that the device itself has ended a loop before its time.
    pub finds_cut_off: bool,
}

/// A function, ready for a native device. For WebGPU implementations it is the source as naga IR.
///
/// Loops draw on a budget: an invocation has a chunk of rounds, pays for each when it begins, and draws another chunk when the first is used
/// up. Finding that a loop is over is a round too: `n` rounds of a `for` are `n + 1`. An invocation that may not draw any more
/// leaves the loop and every later one when it enters, and so runs to its end; it never returns early, because others may
/// wait for it at a barrier. What it wrote is then wrong, and `error` says so.
///
/// A loop that is seen to run a few times, as `for (var i = 0u; i < 16u; i++)` is, does not count by itself: the loop around
/// it is charged all its rounds, whether or not it comes to them. See [`MAX_UNCOUNTED_ROUNDS`].
///
/// A loop with a workgroup barrier inside (also in what it calls) is left by the whole workgroup together, which costs
/// two more barriers whenever a chunk is used up. That rests on all invocations of a group running such a loop
/// the same number of times, of which a [`Program`] was seen to be sure, and on workgroup memory being cleared before the
/// kernel begins.
#[derive(Clone, Debug)]
pub struct Native {
    /// Valid, with no overrides and this one entry point, which keeps its name.
    pub module: Module,
    /// The storage bindings that the module declares `read_write`, ascending; it declares the others `read`.
    pub read_write: Vec<u32>,
    /// Steps with everything that is called written out: how much a compiler has to read. A step is an expression or a
    /// statement, and one more for every 16 bytes of its value. At most [`MAX_INLINED_STEPS`].
    pub cost: u64,
    /// The same with short loops written out, as compilers do.
    pub written: u64,
    /// Steps that one invocation does if each loop that counts runs once.
    pub work: u64,
    /// Workgroup barriers that a compiler has to read, those of the budget and of short loops, which compilers write out, included.
    pub barriers: u64,
    /// Functions like `sin` and `pow` that a compiler has to write out, once for each component, those of short loops once for each round.
    pub functions: u64,
    /// Bytes of variables of each invocation, and of its arrays of constants for each use by a computed index, with everything that is called
    /// written out.
    pub bytes: u64,
    /// Loops, with everything that is called written out.
    pub loops: u64,
    /// For each loop, how many loops it is in, itself included; summed up over all of them, with everything that is called written out.
    pub nesting: u64,
    /// Whether there is any loop that counts. Without one an invocation does no more than `work`, and `Status` is not used.
    pub has_loops: bool,
    /// Workgroup memory that the module uses beyond [`Function::workgroup_bytes`](crate::Function::workgroup_bytes):
    /// [`STOP_BYTES`] or none.
    pub added_workgroup_bytes: u32,
}

impl Program {
    /// The function with this index in [`Program::functions`] as a module for a native device.
    ///
    /// It blocks, as [`load`](crate::load) does.
    ///
    /// # Errors
    ///
    /// - `InvalidArgument`: there is no such function, or overrides are unresolved.
    /// - `ResourceExhausted`: with its callees written out it has more than [`MAX_INLINED_STEPS`].
    /// - `Internal` and `Unimplemented`: what naga's SPIR-V writer cannot do, or a defect of this pass.
    pub fn native(&self, function: usize, options: &NativeOptions<'_>) -> Result<Native, KernelError> {
        if !self.overrides().is_empty() {
            let message = "the program's overrides are not resolved; specialize it first";
            return Err(KernelError::new(ErrorCode::InvalidArgument, message));
        }
        on_compile_thread(|| self.build(function, options))?
    }

    fn build(&self, function: usize, options: &NativeOptions<'_>) -> Result<Native, KernelError> {
        let (mut module, entry) = self.only(function)?;
        let read_write = access::declare(&mut module, &self.bindings_of(function), options.writable);
        // The second analysis: handles differ from those of the whole program.
        let info = front::validate(&module, "").map_err(|error| defect(&error.message))?;
        let costs = cost::measure(&module, &info, &entry.function);
        let cost::Measure { steps: cost, written, work, barriers, functions, bytes, loops, nesting, .. } = costs.whole;
        if cost > MAX_INLINED_STEPS {
            let message = format!(
                "`{}` has {cost} steps with everything that it calls written out, more than {MAX_INLINED_STEPS} inlined; \
                 split the kernel",
                quote(&entry.name),
            );
            return Err(KernelError::new(ErrorCode::ResourceExhausted, message));
        }
        let (has_loops, group) = (costs.has_loops(), costs.has_group_loops());
        rebuild(&mut module, entry, &costs, options)?;
        let info = front::validate(&module, "").map_err(|error| defect(&error.message))?;
        rehearse(&module, &info)?;
        let added_workgroup_bytes = if group { STOP_BYTES } else { 0 };
        Ok(Native {
            module,
            read_write,
            cost,
            written,
            work,
            barriers,
            functions,
            bytes,
            loops,
            nesting,
            has_loops,
            added_workgroup_bytes,
        })
    }

    /// The module with nothing but what this function uses, and its entry point again, apart.
    fn only(&self, function: usize) -> Result<(Module, EntryPoint), KernelError> {
        let points = &self.inner.module.entry_points;
        let point = points.iter().filter(|point| point.stage == ShaderStage::Compute).nth(function);
        let Some(point) = point else {
            let message = format!("there is no function {function}; the program has {}", self.functions().len());
            return Err(KernelError::new(ErrorCode::InvalidArgument, message));
        };
        let mut module = self.inner.module.clone();
        module.entry_points = vec![point.clone()];
        // Comments refer to functions, which move.
        module.doc_comments = None;
        sizes::fix(&mut module)?;
        compact(&mut module, KeepUnused::No);
        match module.entry_points.as_slice() {
            [entry] => {
                let entry = entry.clone();
                Ok((module, entry))
            }
            _ => Err(defect("the entry point was lost")),
        }
    }

    fn bindings_of(&self, function: usize) -> Vec<crate::Binding> {
        self.functions().get(function).map(|function| function.bindings.clone()).unwrap_or_default()
    }
}

/// Writes the module once as a native device would have it written. naga's writer fails, or panics, on some valid modules; here that is an error
/// of one program, and inside of wgpu it would be the loss of a device.
fn rehearse(module: &Module, info: &naga::valid::ModuleInfo) -> Result<(), KernelError> {
    let options = naga::back::spv::Options::default();
    match naga::back::spv::write_vec(module, info, &options, None) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = format!("the native compiler cannot take this: {}", quote(&error.to_string()));
            Err(KernelError::new(ErrorCode::Unimplemented, message))
        }
    }
}

/// Puts the corrected built-in values and the budget into a module.
fn rebuild(
    module: &mut Module,
    mut entry: EntryPoint,
    costs: &cost::Costs,
    options: &NativeOptions<'_>,
) -> Result<(), KernelError> {
    let mut owned = launch::Owned::new(module);
    let budget = budget::Budget::new(&mut owned, costs, options);
    // What is called comes before what calls it.
    let mut functions = naga::Arena::new();
    let helpers = budget.as_ref().map(|budget| budget.add_helpers(&mut functions));
    let budget = budget.as_ref().zip(helpers.as_ref());
    let mut moved = Vec::with_capacity(owned.module.functions.len());
    let old = std::mem::take(&mut owned.module.functions);
    for ((handle, function), loops) in old.iter().zip(&costs.functions) {
        let mut function = relocate::function(function.clone(), launch::Prelude::default(), &moved)?;
        if let Some((budget, helpers)) = budget {
            budget.charge(&mut function, loops, helpers)?;
        }
        moved.push(functions.append(function, old.get_span(handle)));
    }
    let prelude = launch::prelude(&mut owned, &entry);
    entry.function = relocate::function(entry.function, prelude, &moved)?;
    if let Some((budget, helpers)) = budget {
        budget.charge_entry(&mut entry, &owned.module.types, &costs.entry, helpers)?;
    }
    owned.module.functions = functions;
    owned.module.entry_points = vec![entry];
    Ok(())
}

/// A defect of this pass, not of the kernel.
pub(crate) fn defect(what: &str) -> KernelError {
    let message = format!("the kernel could not be prepared for the device (a defect of this pass): {what}");
    KernelError::new(ErrorCode::Internal, message)
}

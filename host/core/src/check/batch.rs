//! A batch: its tables, its commands, and what it touches.

use super::refs::{Scope, SlotView};
use crate::{
    Batch, Buffer, Command, SlotBinding,
    error::{Error, Result, invalid, out_of_range},
    object::{BufferShared, DeviceShared, Executable, ExecutableShared},
    policy::Limit,
    queue::{Range, Touch, View, merge},
    text::there_are,
};
use hal_driver::{Dispatch, DispatchBinding, Function, Source, Workgroups};
use std::{mem::size_of, sync::Arc};

/// Most slots of a recording: one word of bits says which are used.
pub(crate) const MAX_SLOTS: u32 = 64;

/// Bindings are numbered below this, on every driver.
const MAX_BINDING_NUMBER: u32 = 64;

/// A batch that passed.
pub(crate) struct Checked {
    pub(crate) commands: Arc<[hal_driver::Command]>,
    pub(crate) buffers: Arc<[Arc<BufferShared>]>,
    /// The table as the driver gets it.
    pub(crate) executables: Arc<[Arc<dyn hal_driver::Executable>]>,
    /// The same, kept for their charges.
    pub(crate) executables_held: Arc<[Arc<ExecutableShared>]>,
    /// What the direct references touch.
    pub(crate) touches: Vec<Touch>,
    /// Commands that name a slot: they are checked again each time the slots are filled.
    slotted: Vec<Slotted>,
    /// Bit n: slot n is used.
    used_slots: u64,
    /// What keeping it costs.
    pub(crate) host_bytes: u64,
}

/// A command that names a slot.
struct Slotted {
    index: usize,
    /// What its ranges are multiples of: the length of a fill's pattern, or 1.
    multiple: u64,
}

/// Checks a batch whose commands may name `slots` slots; none for a batch that is submitted, which has no such thing.
pub(crate) fn batch(device: &Arc<DeviceShared>, batch: Batch, slots: Option<u32>) -> Result<Checked> {
    let Batch { buffers, executables, commands } = batch;
    super::count("buffers", buffers.len())?;
    super::count("executables", executables.len())?;
    let host_bytes = host_bytes(&buffers, &executables, &commands);
    for (index, buffer) in buffers.iter().enumerate() {
        usable_buffer(device, buffer).map_err(|error| context(error, &format!("buffer {index} of the batch")))?;
    }
    for (index, executable) in executables.iter().enumerate() {
        usable_executable(device, executable)
            .map_err(|error| context(error, &format!("executable {index} of the batch")))?;
    }
    let buffers: Arc<[Arc<BufferShared>]> = buffers.into_iter().map(|buffer| buffer.0).collect();
    let executables: Arc<[Arc<ExecutableShared>]> = executables.into_iter().map(|executable| executable.0).collect();
    let scope = Scope { device, buffers: &buffers, executables: &executables, slots: None, slot_count: slots };
    let mut found = Found::default();
    let mut checked = Vec::with_capacity(commands.len());
    for (index, command) in commands.into_iter().enumerate() {
        let kind = kind(&command);
        let command = one(&scope, &mut found, index, command)
            .map_err(|error| context(error, &format!("command {index} ({kind})")))?;
        checked.push(command);
    }
    let touches = merge(found.ranges);
    let slotted = (found.slotted.len().saturating_mul(size_of::<Slotted>())) as u64;
    let host_bytes = host_bytes.saturating_add(slotted).saturating_add(touch_bytes(&touches));
    Ok(Checked {
        commands: checked.into(),
        touches,
        slotted: found.slotted,
        used_slots: found.used_slots,
        executables: executables.iter().map(|executable| executable.native.clone()).collect(),
        executables_held: executables.clone(),
        host_bytes,
        buffers: buffers.clone(),
    })
}

/// Fills the slots of a checked batch: what they hold, and what it then touches in them.
pub(crate) fn slots(
    device: &Arc<DeviceShared>,
    checked: &Checked,
    buffers: &[Buffer],
    bindings: &[SlotBinding],
) -> Result<(Vec<View>, Vec<Touch>)> {
    for (index, buffer) in buffers.iter().enumerate() {
        usable_buffer(device, buffer).map_err(|error| context(error, &format!("buffer {index} of the table")))?;
    }
    let mut views = Vec::with_capacity(bindings.len());
    for (index, binding) in bindings.iter().enumerate() {
        let view =
            fill_slot(buffers, binding).map_err(|error| context(error, &format!("binding {index} of the table")))?;
        views.push(view);
    }
    let missing = (0..MAX_SLOTS).find(|slot| checked.used_slots & (1 << slot) != 0 && *slot as usize >= views.len());
    if let Some(slot) = missing {
        return Err(invalid(format!("slot {slot} is used, but the table has only {} bindings", views.len())));
    }
    let filled: Vec<SlotView<'_>> =
        views.iter().map(|view| SlotView { buffer: &view.buffer, offset: view.offset, length: view.length }).collect();
    let scope = Scope {
        device,
        buffers: &checked.buffers,
        executables: &checked.executables_held,
        slots: Some(&filled),
        slot_count: Some(MAX_SLOTS),
    };
    let mut ranges = Vec::new();
    for slotted in &checked.slotted {
        if let Some(command) = checked.commands.get(slotted.index) {
            let mut touch = |source, range| {
                if let Source::Slot(slot) = source {
                    ranges.push((slot as usize, range))
                }
            };
            scope
                .command(command, slotted.multiple, &mut touch)
                .map_err(|error| context(error, &format!("command {} with this table", slotted.index)))?;
        }
    }
    Ok((views, merge(ranges)))
}

fn fill_slot(buffers: &[Buffer], binding: &SlotBinding) -> Result<View> {
    let buffer = buffers
        .get(binding.buffer as usize)
        .ok_or_else(|| out_of_range(format!("it names buffer {}, but there are {}", binding.buffer, buffers.len())))?;
    let length = super::length(buffer.0.size, binding.offset, binding.length)?;
    Ok(View { buffer: buffer.0.clone(), offset: binding.offset, length })
}

fn usable_buffer(device: &Arc<DeviceShared>, buffer: &Buffer) -> Result<()> {
    if !Arc::ptr_eq(&buffer.0.storage.device, device) {
        return Err(invalid("it belongs to another device"));
    }
    buffer.open()?;
    buffer.0.storage.usable()
}

fn usable_executable(device: &Arc<DeviceShared>, executable: &Executable) -> Result<()> {
    if !Arc::ptr_eq(&executable.0.device, device) {
        return Err(invalid("it was loaded for another device"));
    }
    executable.open()
}

/// What is gathered while going through the commands.
#[derive(Default)]
struct Found {
    ranges: Vec<(usize, Range)>,
    slotted: Vec<Slotted>,
    used_slots: u64,
}

fn one(scope: &Scope<'_>, found: &mut Found, index: usize, command: Command) -> Result<hal_driver::Command> {
    let (command, multiple) = shape(scope, command)?;
    let mut named = false;
    let Found { ranges, used_slots, slotted } = found;
    scope.command(&command, multiple, &mut |source, range| match source {
        Source::Direct(buffer) => ranges.push((buffer as usize, range)),
        Source::Slot(slot) => {
            named = true;
            *used_slots |= 1u64.checked_shl(slot).unwrap_or(0);
        }
    })?;
    if named {
        slotted.push(Slotted { index, multiple });
    }
    Ok(command)
}

/// What can be said of a command without its references; with it, what its ranges are multiples of.
fn shape(scope: &Scope<'_>, command: Command) -> Result<(hal_driver::Command, u64)> {
    Ok(match command {
        Command::Barrier => (hal_driver::Command::Barrier, 1),
        Command::Fill { target, pattern } => {
            let repeated = match *pattern.as_slice() {
                [a] => [a, a, a, a],
                [a, b] => [a, b, a, b],
                [a, b, c, d] => [a, b, c, d],
                _ => return Err(invalid(format!("a pattern has 1, 2 or 4 bytes; this one has {}", pattern.len()))),
            };
            (hal_driver::Command::Fill { target, pattern: repeated }, pattern.len() as u64)
        }
        Command::Update { target, bytes } => {
            let advice = "split the update, or write through the buffer";
            super::bound(&scope.device.node, Limit::UpdateBytes, bytes.len() as u64, advice)?;
            (hal_driver::Command::Update { target, bytes }, 1)
        }
        Command::Copy { source, target } => (hal_driver::Command::Copy { source, target }, 1),
        Command::Dispatch(dispatch) => (hal_driver::Command::Dispatch(dispatch_shape(scope, dispatch)?), 1),
    })
}

fn dispatch_shape(scope: &Scope<'_>, mut dispatch: Dispatch) -> Result<Dispatch> {
    let function = scope.function(&dispatch)?;
    if dispatch.constants.len() != function.constant_bytes as usize {
        return Err(invalid(format!(
            "function \"{}\" takes {} bytes of constants; there are {}",
            function.name,
            function.constant_bytes,
            dispatch.constants.len()
        )));
    }
    let most = scope.device.native.limits().max_bindings.min(MAX_BINDING_NUMBER) as usize;
    if dispatch.bindings.len() > most {
        return Err(invalid(format!(
            "{} bindings are given, but this device's \"max-bindings\" is {most}; leave out those that the function does not use",
            dispatch.bindings.len()
        )));
    }
    dispatch.bindings.sort_by_key(|binding| binding.binding);
    binding_set(&dispatch.bindings, function)?;
    if let Workgroups::Direct(counts) = dispatch.workgroups {
        workgroups(scope, counts)?;
    }
    Ok(dispatch)
}

/// Every binding of the function once; others once at most.
fn binding_set(bindings: &[DispatchBinding], function: &Function) -> Result<()> {
    let twice = bindings.windows(2).find_map(|pair| match pair {
        [a, b] if a.binding == b.binding => Some(a.binding),
        _ => None,
    });
    if let Some(binding) = twice {
        return Err(invalid(format!("binding {binding} is given twice")));
    }
    if let Some(binding) = bindings.iter().find(|binding| binding.binding >= MAX_BINDING_NUMBER) {
        return Err(invalid(format!(
            "binding {} is given; they are numbered below {MAX_BINDING_NUMBER}",
            binding.binding
        )));
    }
    let given = |number: u32| bindings.binary_search_by_key(&number, |binding| binding.binding).is_ok();
    if let Some(missing) = function.bindings.iter().find(|binding| !given(binding.binding)) {
        let there: Vec<String> = bindings.iter().map(|binding| binding.binding.to_string()).collect();
        return Err(invalid(format!(
            "function \"{}\" uses binding {}, which the dispatch does not give; {}",
            function.name,
            missing.binding,
            there_are(there.iter().map(String::as_str))
        )));
    }
    Ok(())
}

fn workgroups(scope: &Scope<'_>, counts: [u32; 3]) -> Result<()> {
    let limits = scope.device.native.limits();
    let advice = "dispatch several times with an offset among the constants";
    if let Some(count) = counts.into_iter().find(|count| *count > limits.max_workgroups_per_dimension) {
        let most = u64::from(limits.max_workgroups_per_dimension);
        return Err(Error::bound("max-workgroups-per-dimension", count.into(), most, advice));
    }
    let all = counts.into_iter().fold(1u64, |all, count| all.saturating_mul(count.into()));
    if all > limits.max_workgroups {
        return Err(Error::bound("max-workgroups", all, limits.max_workgroups, advice));
    }
    Ok(())
}

/// What the host keeps for a batch, in bytes, near enough to be fair.
fn host_bytes(buffers: &[Buffer], executables: &[Executable], commands: &[Command]) -> u64 {
    let table = size_of::<hal_driver::BufferView>() + size_of::<Arc<BufferShared>>();
    let mut bytes = buffers.len().saturating_mul(table);
    bytes = bytes.saturating_add(executables.len().saturating_mul(2 * size_of::<Arc<dyn hal_driver::Executable>>()));
    for command in commands {
        let payload = match command {
            Command::Update { bytes, .. } => bytes.len(),
            Command::Dispatch(dispatch) => {
                dispatch.constants.len() + dispatch.bindings.len().saturating_mul(size_of::<DispatchBinding>())
            }
            Command::Barrier | Command::Fill { .. } | Command::Copy { .. } => 0,
        };
        bytes = bytes.saturating_add(size_of::<hal_driver::Command>()).saturating_add(payload);
    }
    bytes as u64
}

/// What one submission's use of an allocation costs, the ranges not counted: two entries in tables, and one in the allocation.
pub(crate) const USE_BYTES: u64 = 128;

/// What keeping ranges costs, and one use of each.
pub(crate) fn touch_bytes(touches: &[Touch]) -> u64 {
    let ranges: usize = touches.iter().map(|touch| touch.ranges.len()).sum();
    (ranges.saturating_mul(size_of::<Range>()) as u64).saturating_add(USE_BYTES.saturating_mul(touches.len() as u64))
}

fn kind(command: &Command) -> &'static str {
    match command {
        Command::Barrier => "barrier",
        Command::Fill { .. } => "fill",
        Command::Update { .. } => "update",
        Command::Copy { .. } => "copy",
        Command::Dispatch(_) => "dispatch",
    }
}

/// Says where in the batch an error lies.
fn context(error: Error, place: &str) -> Error {
    Error { message: format!("{place}: {}", error.message), ..error }
}

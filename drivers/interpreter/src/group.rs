//! Workgroups, one after the other, and in each the invocations from barrier to barrier.

use crate::{
    Bound, Dispatch, Options, Report,
    budget::Budget,
    control::Pause,
    error::{Error, ErrorKind, Result, defect, unsupported},
    evaluate::constant,
    layout::Target,
    machine::Invocation,
    memory::Variable,
    monitor::Monitor,
    subgroup,
    value::Value,
};
use hal_kernel::Program;
use naga::{AddressSpace, BuiltIn, EntryPoint, FunctionArgument, GlobalVariable, Handle, Module, Span, TypeInner};
use std::collections::HashMap;

/// What the invocations of a workgroup share.
pub(crate) struct Shared<'m> {
    pub(crate) program: &'m Program,
    pub(crate) module: &'m Module,
    /// Bindings and constants, and the workgroup memory of the group that runs.
    pub(crate) globals: HashMap<Handle<GlobalVariable>, Vec<u8>>,
    pub(crate) budget: Budget,
    /// The statement that runs.
    pub(crate) span: Span,
    pub(crate) monitor: Option<Monitor>,
}

/// Which invocation it is.
struct Place {
    group: [u32; 3],
    groups: [u32; 3],
    size: [u32; 3],
    local: [u32; 3],
    index: u32,
}

/// Runs a dispatch. Afterwards the bindings hold what it wrote.
pub(crate) fn run(
    program: &Program,
    dispatch: &Dispatch<'_>,
    bindings: &mut [Bound],
    options: &Options,
) -> Result<Report> {
    let module = program.module();
    let position = module.entry_points.iter().position(|point| point.name == dispatch.function);
    let wrong = |message: String| Error::new(ErrorKind::Dispatch, message);
    let (Some(position), Some(function)) = (position, program.function(dispatch.function)) else {
        return Err(wrong(format!("there is no function `{}`", dispatch.function)));
    };
    let point = module.entry_points.get(position).ok_or_else(|| defect("an entry point is missing"))?;
    if dispatch.constants.len() != function.constant_bytes as usize {
        let (needs, given) = (function.constant_bytes, dispatch.constants.len());
        return Err(wrong(format!("the function takes {needs} bytes of constants; there are {given}")));
    }
    let used = program.info().get_entry_point(position);
    let mut globals = HashMap::new();
    let mut places = Vec::new();
    for (handle, variable) in module.global_variables.iter().filter(|(handle, _)| !used[*handle].is_empty()) {
        if variable.space == AddressSpace::Immediate {
            globals.insert(handle, dispatch.constants.to_vec());
        }
        let Some(number) = variable.binding.as_ref().map(|binding| binding.binding) else { continue };
        let found = bindings.iter().position(|bound| bound.binding == number);
        let index = found.ok_or_else(|| wrong(format!("binding {number} is not given")))?;
        let bytes = bindings.get_mut(index).map(|bound| std::mem::take(&mut bound.bytes)).unwrap_or_default();
        places.push((handle, index));
        globals.insert(handle, bytes);
    }
    let short = function.bindings.iter().find(|binding| {
        let bound = places.iter().find(|(_, index)| bindings.get(*index).is_some_and(|b| b.binding == binding.binding));
        bound.and_then(|(handle, _)| globals.get(handle)).is_none_or(|bytes| bytes.len() < binding.min_length as usize)
    });
    let mut shared = Shared {
        program,
        module,
        globals,
        budget: Budget::new(options),
        span: Span::UNDEFINED,
        monitor: options.checks.then(Monitor::default),
    };
    let result = match short {
        Some(binding) => Err(wrong(format!("binding {} needs {} bytes", binding.binding, binding.min_length))),
        None => groups(&mut shared, point, dispatch.groups),
    };
    for (handle, index) in places {
        if let (Some(bound), Some(bytes)) = (bindings.get_mut(index), shared.globals.remove(&handle)) {
            bound.bytes = bytes;
        }
    }
    let steps = shared.budget.taken();
    let findings = shared.monitor.map(|monitor| monitor.findings).unwrap_or_default();
    match result {
        Ok(()) => Ok(Report { steps, findings }),
        Err(error) => Err(Error { findings, ..error }),
    }
}

fn groups<'m>(shared: &mut Shared<'m>, point: &'m EntryPoint, groups: [u32; 3]) -> Result<()> {
    for z in 0..groups[2] {
        for y in 0..groups[1] {
            for x in 0..groups[0] {
                group(shared, point, [x, y, z], groups)?;
            }
        }
    }
    Ok(())
}

fn group<'m>(shared: &mut Shared<'m>, point: &'m EntryPoint, group: [u32; 3], groups: [u32; 3]) -> Result<()> {
    let module = shared.module;
    let memory = shared.budget.memory();
    for (handle, variable) in module.global_variables.iter() {
        if variable.space == AddressSpace::WorkGroup {
            let size = Target::Type(variable.ty).size(module)?;
            shared.budget.take(size as u64)?;
            shared.globals.insert(handle, vec![0; size]);
        }
    }
    if let Some(monitor) = &mut shared.monitor {
        monitor.begin(group);
    }
    let size = point.workgroup_size;
    let mut invocations = Vec::new();
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                let index = x + size[0] * (y + size[1] * z);
                let place = Place { group, groups, size, local: [x, y, z], index };
                let arguments =
                    point.function.arguments.iter().map(|argument| self::argument(module, argument, &place));
                let arguments = arguments.collect::<Result<_>>()?;
                let private = private(shared)?;
                invocations.push(Invocation::new(index, &point.function, arguments, private, shared)?);
            }
        }
    }
    // From barrier to barrier: all come to the same one, or all to the end.
    loop {
        let mut all: Option<Pause> = None;
        for members in invocations.chunks_mut(subgroup::SIZE as usize) {
            let pauses = subgroup::run(members, shared)?;
            for (invocation, pause) in members.iter().zip(pauses) {
                let first = *all.get_or_insert(pause);
                if pause != first {
                    return Err(apart(shared, group, invocation.index, [first, pause]));
                }
            }
        }
        match all {
            Some(Pause::Barrier(_, barrier)) => shared.ordered(barrier),
            Some(Pause::End | Pause::Subgroup) | None => break,
        }
    }
    // Nothing of a workgroup outlives it.
    shared.budget.restore(memory);
    Ok(())
}

/// What is wrong if the first invocation of a workgroup and another one came to different ends.
fn apart(shared: &Shared<'_>, group: [u32; 3], invocation: u32, pauses: [Pause; 2]) -> Error {
    let place = |pause: Pause| match pause {
        Pause::Barrier(at, _) => shared.program.place(at.span),
        Pause::End | Pause::Subgroup => None,
    };
    let doing = |pause: Pause| match (pause, place(pause)) {
        (Pause::End | Pause::Subgroup, _) => "has ended".to_owned(),
        (Pause::Barrier(..), Some(place)) => format!("waits at {place}"),
        (Pause::Barrier(..), None) => "waits at another one".to_owned(),
    };
    let [x, y, z] = group;
    let [first, other] = pauses.map(doing);
    let message = format!(
        "a barrier that not all invocations reach: in workgroup ({x}, {y}, {z}) invocation 0 {first}, invocation {invocation} {other}"
    );
    Error::new(ErrorKind::Barrier, message).or_at(pauses.into_iter().find_map(place))
}

/// An invocation's own module-scope variables, as they begin.
fn private(shared: &mut Shared<'_>) -> Result<HashMap<Handle<GlobalVariable>, Variable>> {
    let module = shared.module;
    let mut variables = HashMap::new();
    for (handle, variable) in module.global_variables.iter().filter(|(_, it)| it.space == AddressSpace::Private) {
        let init = variable.init.map(|init| constant(module, init)).transpose()?;
        variables.insert(handle, Variable::new(Target::Type(variable.ty), init.as_ref(), shared)?);
    }
    Ok(variables)
}

/// An argument of the entry point: a built-in value, or a structure of such.
fn argument(module: &Module, argument: &FunctionArgument, place: &Place) -> Result<Value> {
    match (&argument.binding, &module.types[argument.ty].inner) {
        (Some(binding), _) => built_in(binding, place),
        (None, TypeInner::Struct { members, .. }) => {
            let member = |member: &naga::StructMember| {
                let binding = member.binding.as_ref().ok_or_else(|| defect("an input that is no built-in value"))?;
                built_in(binding, place)
            };
            members.iter().map(member).collect::<Result<_>>().map(Value::Composite)
        }
        (None, _) => Err(defect("an input that is no built-in value")),
    }
}

fn built_in(binding: &naga::Binding, place: &Place) -> Result<Value> {
    let naga::Binding::BuiltIn(built_in) = binding else { return Err(defect("an input with a location")) };
    Ok(match built_in {
        BuiltIn::GlobalInvocationId => {
            let [x, y, z] = place.group;
            let ([sx, sy, sz], [lx, ly, lz]) = (place.size, place.local);
            let at = |group: u32, size: u32, local: u32| group.wrapping_mul(size).wrapping_add(local);
            Value::words([at(x, sx, lx), at(y, sy, ly), at(z, sz, lz)])
        }
        BuiltIn::LocalInvocationId => Value::words(place.local),
        BuiltIn::LocalInvocationIndex => Value::u32(place.index),
        BuiltIn::WorkGroupId => Value::words(place.group),
        BuiltIn::WorkGroupSize => Value::words(place.size),
        BuiltIn::NumWorkGroups => Value::words(place.groups),
        BuiltIn::NumSubgroups => Value::u32(place.size.iter().product::<u32>().div_ceil(subgroup::SIZE)),
        BuiltIn::SubgroupId => Value::u32(place.index / subgroup::SIZE),
        BuiltIn::SubgroupSize => Value::u32(subgroup::SIZE),
        BuiltIn::SubgroupInvocationId => Value::u32(place.index % subgroup::SIZE),
        other => return unsupported(&format!("the built-in value {other:?}")),
    })
}

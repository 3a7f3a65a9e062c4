//! What a module declares, as far as one entry point uses it.

use std::collections::HashMap;

use naga::valid::{FunctionInfo, GlobalUse};
use naga::{AddressSpace, GlobalVariable, Handle, Module};

use crate::abi::MAX_CONSTANT_BYTES;
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::Binding;
use crate::layout::{Layouts, unsupported};
use crate::options::Options;

/// The globals of one entry point.
#[derive(Default)]
pub(crate) struct Globals {
    /// Place in `list` of each storage and uniform variable.
    pub(crate) bindings: HashMap<Handle<GlobalVariable>, u32>,
    /// Sorted by binding number.
    pub(crate) list: Vec<Binding>,
    /// Offset of each workgroup variable.
    pub(crate) workgroup: HashMap<Handle<GlobalVariable>, u32>,
    pub(crate) workgroup_bytes: u32,
    pub(crate) constant_bytes: u32,
}

/// Collects the globals that the entry point of `info` uses.
pub(crate) fn collect(
    module: &Module,
    info: &FunctionInfo,
    layouts: &Layouts,
    options: &Options,
) -> Result<Globals, Diagnostic> {
    let mut globals = Globals::default();
    let mut found = Vec::new();
    for (handle, variable) in module.global_variables.iter() {
        let used = info[handle];
        if used.is_empty() {
            continue;
        }
        let span = module.global_variables.get_span(handle);
        match variable.space {
            AddressSpace::Storage { .. } | AddressSpace::Uniform => {
                found.push((handle, binding(module, handle, used, layouts)?));
            }
            AddressSpace::WorkGroup => globals.add_workgroup(handle, variable, layouts)?,
            AddressSpace::Immediate => globals.add_constants(variable, layouts, span)?,
            AddressSpace::Private => {}
            _ => return Err(unsupported("a global that is no buffer (a texture, a sampler)", span)),
        }
    }
    if globals.workgroup_bytes > options.max_workgroup_bytes {
        let (bytes, limit) = (globals.workgroup_bytes, options.max_workgroup_bytes);
        let message = format!("{bytes} bytes of workgroup memory are used, more than {limit}");
        return Err(Diagnostic::new(Kind::Limit, message, None));
    }
    found.sort_by_key(|(_, binding)| binding.number);
    for (place, (handle, binding)) in (0u32..).zip(found) {
        globals.bindings.insert(handle, place);
        globals.list.push(binding);
    }
    Ok(globals)
}

fn binding(
    module: &Module,
    handle: Handle<GlobalVariable>,
    used: GlobalUse,
    layouts: &Layouts,
) -> Result<Binding, Diagnostic> {
    let variable = &module.global_variables[handle];
    let span = module.global_variables.get_span(handle);
    let Some(binding) = variable.binding.as_ref().filter(|binding| binding.group == 0) else {
        let message = "a storage or uniform variable is not in group 0";
        return Err(Diagnostic::new(Kind::Invalid, message, Some(span)));
    };
    let shape = layouts.shape(variable.ty).map_err(|error| error.or_at(span))?;
    let (size, _) = layouts.size(shape);
    Ok(Binding {
        number: binding.binding,
        writes: used.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC),
        min_length: size,
        runtime_array: layouts.runtime_array(shape)?,
    })
}

impl Globals {
    fn add_workgroup(
        &mut self,
        handle: Handle<GlobalVariable>,
        variable: &GlobalVariable,
        layouts: &Layouts,
    ) -> Result<(), Diagnostic> {
        let (size, align) = layouts.size(layouts.shape(variable.ty)?);
        let offset = self.workgroup_bytes.next_multiple_of(align.max(4));
        self.workgroup.insert(handle, offset);
        self.workgroup_bytes = offset.saturating_add(size);
        Ok(())
    }

    fn add_constants(
        &mut self,
        variable: &GlobalVariable,
        layouts: &Layouts,
        span: naga::Span,
    ) -> Result<(), Diagnostic> {
        let (size, _) = layouts.size(layouts.shape(variable.ty)?);
        if size > MAX_CONSTANT_BYTES || !size.is_multiple_of(4) {
            let message = format!("constants of {size} bytes; they must be a multiple of 4 and at most 128");
            return Err(Diagnostic::new(Kind::Invalid, message, Some(span)));
        }
        self.constant_bytes = size;
        Ok(())
    }
}

//! The kernel ABI: what is refused, and what a function takes.

use std::collections::{BTreeMap, HashSet};

use naga::valid::{FunctionInfo, GlobalUse, ModuleInfo};
use naga::{AddressSpace, Function as NagaFunction, GlobalVariable, Handle, Module, ScalarKind, Statement, TypeInner};

use crate::error::{ErrorCode, KernelError, quote};
use crate::place;
use crate::program::{Binding, BindingClass, Function, Override, RequiredFeature, RuntimeArray};

/// Binding numbers are below this.
pub const MAX_BINDINGS: u32 = 64;
/// Most bytes of constants.
pub const MAX_CONSTANT_BYTES: u32 = 128;
/// Most bytes of a `var<uniform>`.
pub const MAX_UNIFORM_BYTES: u32 = 64 << 10;

/// Refuses globals that the ABI has no place for.
pub(crate) fn check_globals(module: &Module, source: &str) -> Result<(), KernelError> {
    if !module.entry_points.iter().any(|point| point.stage == naga::ShaderStage::Compute) {
        let message = "there is no `@compute` entry point";
        return Err(KernelError::new(ErrorCode::InvalidArgument, message));
    }
    for (handle, variable) in module.global_variables.iter() {
        if let Err(what) = check_global(module, variable) {
            let span = module.global_variables.get_span(handle);
            let name = quote(variable.name.as_deref().unwrap_or("(no name)"));
            let message = format!("the variable `{name}` {what}");
            return Err(KernelError::new(ErrorCode::Incompatible, message).at(place::of_span(source, span)));
        }
    }
    Ok(())
}

fn check_global(module: &Module, variable: &GlobalVariable) -> Result<(), String> {
    let inner = &module.types[variable.ty].inner;
    match *inner {
        TypeInner::BindingArray { .. } => return Err("is a binding array; bind the buffers one by one".to_owned()),
        TypeInner::Image { .. } => return Err("is a texture; use a storage buffer".to_owned()),
        TypeInner::Sampler { .. } => return Err("is a sampler; there are none".to_owned()),
        TypeInner::AccelerationStructure { .. } | TypeInner::RayQuery { .. } => {
            return Err("is for ray tracing; there is none".to_owned());
        }
        _ => {}
    }
    let size = inner.try_size(module.to_ctx()).unwrap_or(u32::MAX);
    match variable.space {
        AddressSpace::Storage { .. } | AddressSpace::Uniform => {
            let Some(binding) = &variable.binding else { return Err("has no `@group` and `@binding`".to_owned()) };
            if binding.group != 0 {
                return Err(format!("is in group {}; only `@group(0)` is there", binding.group));
            }
            if binding.binding >= MAX_BINDINGS {
                return Err(format!("is binding {}; the numbers are below {MAX_BINDINGS}", binding.binding));
            }
            if variable.space == AddressSpace::Uniform && size > MAX_UNIFORM_BYTES {
                return Err(format!("is a uniform of {size} bytes, more than {MAX_UNIFORM_BYTES}; use `var<storage>`"));
            }
            Ok(())
        }
        AddressSpace::Immediate if !size.is_multiple_of(4) || size > MAX_CONSTANT_BYTES => Err(format!(
            "is {size} bytes of constants; they are a multiple of 4 and at most {MAX_CONSTANT_BYTES}, larger ones go \
             into a buffer"
        )),
        AddressSpace::Immediate | AddressSpace::WorkGroup | AddressSpace::Private | AddressSpace::Function => Ok(()),
        AddressSpace::Handle => Err("is no buffer".to_owned()),
        AddressSpace::TaskPayload | AddressSpace::RayPayload | AddressSpace::IncomingRayPayload => {
            Err("is not for compute kernels".to_owned())
        }
    }
}

/// The compute functions of a module.
pub(crate) fn functions(module: &Module, info: &ModuleInfo, source: &str) -> Vec<Function> {
    let mut functions = Vec::new();
    for (index, point) in module.entry_points.iter().enumerate() {
        if point.stage != naga::ShaderStage::Compute {
            continue;
        }
        let uses = info.get_entry_point(index);
        let mut bindings: Vec<_> = module
            .global_variables
            .iter()
            .filter_map(|(handle, variable)| binding(module, variable, uses[handle]))
            .collect();
        bindings.sort_by_key(|binding| binding.binding);
        functions.push(Function {
            name: point.name.clone(),
            workgroup_size: point.workgroup_size,
            bindings,
            constant_bytes: sum_of(module, uses, AddressSpace::Immediate),
            workgroup_bytes: sum_of(module, uses, AddressSpace::WorkGroup),
            required_features: features(module, info, &point.function, uses, source),
        });
    }
    functions
}

fn binding(module: &Module, variable: &GlobalVariable, used: GlobalUse) -> Option<Binding> {
    let class = match variable.space {
        AddressSpace::Storage { .. } => BindingClass::Storage,
        AddressSpace::Uniform => BindingClass::Uniform,
        _ => return None,
    };
    if used.is_empty() {
        return None;
    }
    let inner = &module.types[variable.ty].inner;
    Some(Binding {
        binding: variable.binding.as_ref()?.binding,
        name: variable.name.clone().unwrap_or_default(),
        class,
        reads: used.intersects(GlobalUse::READ | GlobalUse::ATOMIC),
        writes: used.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC),
        min_length: inner.try_size(module.to_ctx())?,
        runtime_array: runtime_array(module, inner),
    })
}

fn runtime_array(module: &Module, inner: &TypeInner) -> Option<RuntimeArray> {
    match inner {
        TypeInner::Array { size: naga::ArraySize::Dynamic, stride, .. } => {
            Some(RuntimeArray { offset: 0, stride: *stride })
        }
        TypeInner::Struct { members, .. } => {
            let last = members.last()?;
            match module.types[last.ty].inner {
                TypeInner::Array { size: naga::ArraySize::Dynamic, stride, .. } => {
                    Some(RuntimeArray { offset: last.offset, stride })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Bytes of the variables of one address space that a function uses.
fn sum_of(module: &Module, uses: &FunctionInfo, space: AddressSpace) -> u32 {
    let mut sum = 0u32;
    for (handle, variable) in module.global_variables.iter() {
        if variable.space == space && !uses[handle].is_empty() {
            // Workgroup variables start at multiples of 16 at most.
            let start = if sum == 0 { 0 } else { sum.next_multiple_of(16) };
            sum = start.saturating_add(module.types[variable.ty].inner.try_size(module.to_ctx()).unwrap_or(u32::MAX));
        }
    }
    sum
}

/// What a function and all that it calls need of a device.
fn features(
    module: &Module,
    info: &ModuleInfo,
    function: &NagaFunction,
    uses: &FunctionInfo,
    source: &str,
) -> Vec<RequiredFeature> {
    let mut found = Features { found: BTreeMap::new(), types: needs_of_types(module), source };
    for (handle, variable) in module.global_variables.iter() {
        if !uses[handle].is_empty() {
            found.ty(&module.types[variable.ty].inner, module.global_variables.get_span(handle));
        }
    }
    let mut pending = Vec::new();
    found.function(module, function, uses, &mut pending);
    let mut seen = HashSet::new();
    while let Some(callee) = pending.pop() {
        if seen.insert(callee) {
            found.function(module, &module.functions[callee], &info[callee], &mut pending);
        }
    }
    found.found.into_iter().map(|(feature, place)| RequiredFeature { name: feature.name(), place }).collect()
}

/// What a function can need beyond plain WGSL, in alphabetical order of the names. [`FEATURES`] lists them all: a name that is not
/// there cannot be required.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Feature {
    Float32Atomic,
    Int64Atomic,
    ShaderF16,
    ShaderInt64,
    Subgroup,
}

impl Feature {
    const fn name(self) -> &'static str {
        match self {
            Self::Float32Atomic => "float32-atomic",
            Self::Int64Atomic => "int64-atomic",
            Self::ShaderF16 => "shader-f16",
            Self::ShaderInt64 => "shader-int64",
            Self::Subgroup => "subgroup",
        }
    }
}

/// Every feature that a function can need: see [`RequiredFeature::name`].
pub const FEATURES: [&str; 5] = [
    Feature::Float32Atomic.name(),
    Feature::Int64Atomic.name(),
    Feature::ShaderF16.name(),
    Feature::ShaderInt64.name(),
    Feature::Subgroup.name(),
];

struct Features<'a> {
    found: BTreeMap<Feature, Option<crate::error::Place>>,
    types: Vec<u8>,
    source: &'a str,
}

impl Features<'_> {
    fn add(&mut self, feature: Feature, span: naga::Span) {
        let place = place::of_span(self.source, span);
        let known = self.found.entry(feature).or_insert(place);
        *known = match (*known, place) {
            (Some(known), Some(place)) => Some(known.min(place)),
            (known, place) => known.or(place),
        };
    }

    fn function(
        &mut self,
        module: &Module,
        function: &NagaFunction,
        info: &FunctionInfo,
        pending: &mut Vec<Handle<NagaFunction>>,
    ) {
        for (handle, _) in function.local_variables.iter() {
            let ty = function.local_variables[handle].ty;
            self.ty(&module.types[ty].inner, function.local_variables.get_span(handle));
        }
        for (handle, _) in function.expressions.iter() {
            let span = function.expressions.get_span(handle);
            self.ty(info[handle].ty.inner_with(&module.types), span);
        }
        for argument in &function.arguments {
            if let Some(naga::Binding::BuiltIn(
                naga::BuiltIn::NumSubgroups
                | naga::BuiltIn::SubgroupId
                | naga::BuiltIn::SubgroupSize
                | naga::BuiltIn::SubgroupInvocationId,
            )) = argument.binding
            {
                self.add(Feature::Subgroup, naga::Span::UNDEFINED);
            }
        }
        self.block(&function.body, pending);
    }

    fn block(&mut self, block: &naga::Block, pending: &mut Vec<Handle<NagaFunction>>) {
        for (statement, &span) in block.span_iter() {
            match statement {
                Statement::SubgroupBallot { .. }
                | Statement::SubgroupGather { .. }
                | Statement::SubgroupCollectiveOperation { .. } => self.add(Feature::Subgroup, span),
                Statement::ControlBarrier(flags) if flags.contains(naga::Barrier::SUB_GROUP) => {
                    self.add(Feature::Subgroup, span);
                }
                Statement::Call { function, .. } => pending.push(*function),
                Statement::Block(block) => self.block(block, pending),
                Statement::If { accept, reject, .. } => {
                    self.block(accept, pending);
                    self.block(reject, pending);
                }
                Statement::Switch { cases, .. } => cases.iter().for_each(|case| self.block(&case.body, pending)),
                Statement::Loop { body, continuing, .. } => {
                    self.block(body, pending);
                    self.block(continuing, pending);
                }
                _ => {}
            }
        }
    }

    fn ty(&mut self, inner: &TypeInner, span: naga::Span) {
        for (bit, feature) in NEEDS {
            if needs(inner, &self.types) & bit != 0 {
                self.add(feature, span);
            }
        }
    }
}

const F16: u8 = 1;
const INT64: u8 = 2;
const FLOAT_ATOMIC: u8 = 4;
const INT64_ATOMIC: u8 = 8;
const NEEDS: [(u8, Feature); 4] = [
    (F16, Feature::ShaderF16),
    (INT64, Feature::ShaderInt64),
    (FLOAT_ATOMIC, Feature::Float32Atomic),
    (INT64_ATOMIC, Feature::Int64Atomic),
];

/// What each type needs. A type comes after its parts, so that each is looked at once: types that contain others twice
/// would otherwise take time exponential in their depth.
fn needs_of_types(module: &Module) -> Vec<u8> {
    let mut known = Vec::with_capacity(module.types.len());
    for (_, ty) in module.types.iter() {
        let bits = needs(&ty.inner, &known);
        known.push(bits);
    }
    known
}

fn needs(inner: &TypeInner, known: &[u8]) -> u8 {
    let of = |ty: Handle<naga::Type>| known.get(ty.index()).copied().unwrap_or(0);
    match *inner {
        TypeInner::Scalar(scalar)
        | TypeInner::Vector { scalar, .. }
        | TypeInner::Matrix { scalar, .. }
        | TypeInner::ValuePointer { scalar, .. } => match (scalar.kind, scalar.width) {
            (ScalarKind::Float, 2) => F16,
            (ScalarKind::Sint | ScalarKind::Uint, 8) => INT64,
            _ => 0,
        },
        TypeInner::Atomic(scalar) if scalar.kind == ScalarKind::Float => FLOAT_ATOMIC,
        TypeInner::Atomic(scalar) if scalar.width == 8 => INT64_ATOMIC,
        TypeInner::Array { base, .. } | TypeInner::Pointer { base, .. } => of(base),
        TypeInner::Struct { ref members, .. } => members.iter().fold(0, |bits, member| bits | of(member.ty)),
        _ => 0,
    }
}

/// The overrides that a module declares.
pub(crate) fn overrides(module: &Module) -> Vec<Override> {
    module
        .overrides
        .iter()
        .filter(|(_, declared)| declared.name.is_some() || declared.id.is_some())
        .map(|(_, declared)| {
            let name = declared.name.clone().unwrap_or_default();
            Override {
                key: declared.id.map_or_else(|| name.clone(), |id| id.to_string()),
                name,
                ty: type_name(&module.types[declared.ty].inner),
                has_default: declared.init.is_some(),
            }
        })
        .collect()
}

fn type_name(inner: &TypeInner) -> &'static str {
    let TypeInner::Scalar(scalar) = *inner else { return "(no scalar)" };
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => "bool",
        (ScalarKind::Sint, 4) => "i32",
        (ScalarKind::Uint, 4) => "u32",
        (ScalarKind::Float, 4) => "f32",
        (ScalarKind::Float, 2) => "f16",
        _ => "(a type without values)",
    }
}

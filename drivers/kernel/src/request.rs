//! From a driver's load request to a program, and the front end's types in the driver interface's terms.

use crate::{
    BindingClass, ErrorCode, Format, KernelError, OverrideValue, Program, SourceLimits, error::quote, load, program,
};
use hal_driver::{Code, Error, Limits, LoadRequest, Result};

/// The program that a request means: parsed, with its overrides resolved, and with no function that needs a feature which is
/// not among `features`, or more than `limits`. Every driver asks this first, so that a kernel that a device has no room for is refused in the
/// same words by all, whatever their own compilers would say.
///
/// It blocks, as [`load`](crate::load) does.
///
/// # Errors
///
/// As [`load`](crate::load) and [`Program::specialize`]; `Incompatible` for another format, or with the feature that is missing or the
/// limit that is exceeded.
pub fn load_for(request: &LoadRequest<'_>, features: &[String], limits: &Limits) -> Result<Program> {
    let format = Format::from_name(request.format).ok_or_else(|| {
        let asked = quote(request.format);
        Error::new(Code::Incompatible, format!("the format `{asked}` is not known; there are \"wgsl\" and \"spirv\""))
    })?;
    let program = load(format, request.bytes, &SourceLimits::default())?;
    let values = request.overrides.iter().map(|(name, value)| (name.clone(), OverrideValue::from(*value)));
    let program = program.specialize(&values.collect::<Vec<_>>())?;
    let mut required = program.functions().iter().flat_map(|function| &function.required_features);
    if let Some(missing) = required.find(|required| !features.iter().any(|feature| feature == required.name)) {
        let place = missing.place.map(|place| format!("{place}: ")).unwrap_or_default();
        let name = missing.name;
        return Err(Error::new(
            Code::Incompatible,
            format!("{place}the feature {name:?} is needed, and this device lacks it"),
        ));
    }
    program.functions().iter().try_for_each(|function| fits(&program, function, limits))?;
    Ok(program)
}

fn fits(program: &Program, function: &program::Function, limits: &Limits) -> Result<()> {
    let Some((limit, needed, allowed)) = limits.exceeded_by(&function.into()) else { return Ok(()) };
    let place = program.place_of_function(&function.name).map(|place| format!("{place}: ")).unwrap_or_default();
    let name = quote(&function.name);
    let text = format!(
        "{place}function \"{name}\" needs {needed}, but this device's \"{limit}\" is {allowed}; change the kernel"
    );
    Err(Error::new(Code::Incompatible, text))
}

impl From<&program::Function> for hal_driver::Function {
    fn from(function: &program::Function) -> Self {
        Self {
            name: function.name.clone(),
            workgroup_size: function.workgroup_size,
            bindings: function.bindings.iter().map(hal_driver::Binding::from).collect(),
            constant_bytes: function.constant_bytes,
            workgroup_bytes: function.workgroup_bytes,
            features: function.required_features.iter().map(|feature| feature.name.to_owned()).collect(),
        }
    }
}

impl From<&program::Binding> for hal_driver::Binding {
    fn from(binding: &program::Binding) -> Self {
        Self {
            binding: binding.binding,
            kind: match binding.class {
                BindingClass::Storage => hal_driver::BindingKind::Storage,
                BindingClass::Uniform => hal_driver::BindingKind::Uniform,
            },
            reads: binding.reads,
            writes: binding.writes,
            min_length: u64::from(binding.min_length),
        }
    }
}

impl From<hal_driver::OverrideValue> for OverrideValue {
    fn from(value: hal_driver::OverrideValue) -> Self {
        match value {
            hal_driver::OverrideValue::Bool(value) => Self::Bool(value),
            hal_driver::OverrideValue::I32(value) => Self::I32(value),
            hal_driver::OverrideValue::U32(value) => Self::U32(value),
            hal_driver::OverrideValue::F32(value) => Self::F32(value),
        }
    }
}

impl From<KernelError> for Error {
    fn from(error: KernelError) -> Self {
        let code = match error.code {
            ErrorCode::InvalidArgument => Code::InvalidArgument,
            ErrorCode::Incompatible => Code::Incompatible,
            ErrorCode::ResourceExhausted => Code::ResourceExhausted,
            ErrorCode::Unimplemented => Code::Unimplemented,
            ErrorCode::Internal => Code::Internal,
        };
        // Its text begins with the place, if there is one.
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_feature_that_a_kernel_can_need_has_a_name_that_guests_can_ask_for() {
        for name in crate::FEATURES {
            assert!(hal_driver::FEATURES.contains(&name), "{name}");
        }
        assert!(crate::FEATURES.is_sorted() && hal_driver::FEATURES.is_sorted());
    }
}

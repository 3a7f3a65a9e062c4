//! Overrides.

use std::collections::HashSet;
use std::sync::Arc;

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};

use crate::error::{ErrorCode, KernelError, quote};
use crate::messages::detail;
use crate::program::{Inner, OverrideValue, Program};
use crate::threads::on_compile_thread;
use crate::{front, reflect, uniformity};

impl OverrideValue {
    fn ty(self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::I32(_) => "i32",
            Self::U32(_) => "u32",
            Self::F32(_) => "f32",
        }
    }

    /// The value as naga takes it. Exact: a 64-bit float holds every value of these types.
    fn number(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::I32(value) => f64::from(value),
            Self::U32(value) => f64::from(value),
            Self::F32(value) => f64::from(value),
        }
    }
}

impl Program {
    /// Resolves all overrides. Each value is for the override of that name, or of that `@id` in decimal. What has no
    /// value takes its default. Call it for programs without overrides, too: the answer can be compiled.
    ///
    /// It blocks, as [`load`](crate::load) does.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` names an override that is unknown, missing, given twice, of another type or not finite, or says where a barrier is that not
    /// all invocations may reach.
    pub fn specialize(&self, values: &[(String, OverrideValue)]) -> Result<Program, KernelError> {
        let constants = self.constants(values)?;
        if self.inner.module.overrides.is_empty() {
            return Ok(self.clone());
        }
        on_compile_thread(|| self.resolve(&constants))?
    }

    fn constants(&self, values: &[(String, OverrideValue)]) -> Result<PipelineConstants, KernelError> {
        let mut constants = PipelineConstants::default();
        let mut given = HashSet::new();
        for (name, value) in values {
            let declared = self.inner.overrides.iter().find(|declared| declared.name == *name || declared.key == *name);
            let Some(declared) = declared else { return Err(self.unknown(name)) };
            let problem = if declared.ty != value.ty() {
                Some(format!("is a `{}`, but the value is a `{}`", declared.ty, value.ty()))
            } else if !value.number().is_finite() {
                Some("has a value that is not finite".to_owned())
            } else if !given.insert(declared.key.clone()) {
                Some("has two values".to_owned())
            } else {
                None
            };
            if let Some(problem) = problem {
                return Err(wrong(format!("the override `{}` {problem}", quote(name))));
            }
            constants.insert(declared.key.clone(), value.number());
        }
        let missing = self.inner.overrides.iter().find(|it| !it.has_default && !given.contains(&it.key));
        match missing {
            Some(missing) => {
                let name = quote(if missing.name.is_empty() { &missing.key } else { &missing.name });
                Err(wrong(format!("the override `{name}` has no default and needs a `{}`", missing.ty)))
            }
            None => Ok(constants),
        }
    }

    fn unknown(&self, name: &str) -> KernelError {
        let known: Vec<_> = self.inner.overrides.iter().take(8).map(|declared| quote(&declared.name)).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        wrong(format!("the program has no override `{}`; {known}", quote(name)))
    }

    fn resolve(&self, constants: &PipelineConstants) -> Result<Program, KernelError> {
        let Inner { module, info, source, .. } = &*self.inner;
        let (module, info) =
            process_overrides(module, info, None, constants).map_err(|error| unresolved(error, source))?;
        let (module, info) = (module.into_owned(), info.into_owned());
        reflect::check_globals(&module, source)?;
        uniformity::check(&module, &info, source)?;
        let functions = reflect::functions(&module, &info, source);
        let inner = Inner { module, info, functions, overrides: Vec::new(), source: source.clone() };
        Ok(Program { inner: Arc::new(inner) })
    }
}

fn wrong(message: String) -> KernelError {
    KernelError::new(ErrorCode::InvalidArgument, message)
}

fn unresolved(error: PipelineConstantError, source: &str) -> KernelError {
    match error {
        PipelineConstantError::ValidationError(error) => front::invalid(&error, None, source),
        PipelineConstantError::NegativeWorkgroupSize => {
            wrong("with these overrides a workgroup size is not positive".to_owned())
        }
        error => wrong(format!("the overrides cannot be resolved: {}", detail(&error.to_string(), None))),
    }
}

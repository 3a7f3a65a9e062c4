//! Writes the lengths of arrays as numbers.
//!
//! When overrides are resolved, an array whose length is one still refers to it, and the module keeps the override for
//! that. A device would have to resolve it once more.

use naga::proc::IndexableLength;
use naga::{ArraySize, Handle, Module, Type, TypeInner};
use std::num::NonZeroU32;

use super::defect;
use crate::error::KernelError;

/// Makes every array length that is a resolved override a constant.
pub(super) fn fix(module: &mut Module) -> Result<(), KernelError> {
    for (handle, mut ty) in pending(module) {
        let TypeInner::Array { size, .. } = &mut ty.inner else { continue };
        let length = match size.resolve(module.to_ctx()) {
            Ok(IndexableLength::Known(length)) => NonZeroU32::new(length),
            _ => None,
        };
        *size = ArraySize::Constant(length.ok_or_else(|| defect("the length of an array is unresolved"))?);
        if module.types.get(&ty).is_some() {
            // The arena holds each type once, and this one would be there twice. The name sets them apart.
            ty.name = Some(format!("hal_array_{}", handle.index()));
        }
        module.types.replace(handle, ty);
    }
    Ok(())
}

fn pending(module: &Module) -> Vec<(Handle<Type>, Type)> {
    let is_pending = |ty: &Type| matches!(ty.inner, TypeInner::Array { size: ArraySize::Pending(_), .. });
    let found = module.types.iter().filter(|(_, ty)| is_pending(ty));
    found.map(|(handle, ty)| (handle, ty.clone())).collect()
}

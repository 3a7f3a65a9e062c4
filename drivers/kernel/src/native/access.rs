//! Declares storage variables as they are used, not as the source declares them.
//!
//! A device orders two dispatches only if one of them may write what the other reads, and refuses a dispatch that binds
//! one buffer both ways: `read` on what is only read is worth having, and sources from SPIR-V compilers rarely say it.
//! Types of pointers into storage, which say the access as well, are nowhere left in a module: naga lets no function take
//! one.

use naga::{AddressSpace, Handle, Module, StorageAccess, Type, TypeInner};

use crate::program::Binding;

const READ: StorageAccess = StorageAccess::LOAD;
const READ_WRITE: StorageAccess = StorageAccess::LOAD.union(StorageAccess::STORE);

/// Declares each storage variable `read` or `read_write`; returns the bindings that are `read_write`, ascending.
pub(super) fn declare(module: &mut Module, used: &[Binding], writable: &[u32]) -> Vec<u32> {
    let atomics = with_atomics(module);
    let mut read_write = Vec::new();
    for (_, variable) in module.global_variables.iter_mut() {
        let (AddressSpace::Storage { access }, Some(binding)) = (&mut variable.space, &variable.binding) else {
            continue;
        };
        let number = binding.binding;
        let written = used.iter().any(|used| used.binding == number && used.writes);
        // Atomics must be `read_write` even where they are only loaded.
        let atomic = atomics.get(variable.ty.index()).copied().unwrap_or(true);
        if written || atomic || writable.contains(&number) {
            *access = READ_WRITE;
            read_write.push(number);
        } else {
            *access = READ;
        }
    }
    read_write.sort_unstable();
    read_write
}

/// For each type whether there is an atomic in it. A type comes after its parts.
fn with_atomics(module: &Module) -> Vec<bool> {
    let mut known: Vec<bool> = Vec::with_capacity(module.types.len());
    for (_, ty) in module.types.iter() {
        let of = |part: Handle<Type>| known.get(part.index()).copied().unwrap_or(false);
        let found = match &ty.inner {
            TypeInner::Atomic(_) => true,
            TypeInner::Array { base, .. } => of(*base),
            TypeInner::Struct { members, .. } => members.iter().any(|member| of(member.ty)),
            _ => false,
        };
        known.push(found);
    }
    known
}

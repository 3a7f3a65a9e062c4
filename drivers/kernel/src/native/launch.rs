//! The driver's own variables in a kernel, and the built-in values that they correct.

use naga::{
    AddressSpace, Arena, Binding, Block, BuiltIn, EntryPoint, Expression, GlobalVariable, Handle, Literal,
    MemoryDecorations, Module, ResourceBinding, Scalar, Span, StorageAccess, StructMember, Type, TypeInner, VectorSize,
};

use super::writer::Writer;
use super::{
    LAUNCH_BASE_OFFSET, LAUNCH_BINDING, LAUNCH_BYTES, LAUNCH_CHUNK_OFFSET, LAUNCH_CHUNKS_OFFSET,
    LAUNCH_CHUNKS_PER_INVOCATION_OFFSET, LAUNCH_GROUP, LAUNCH_GROUPS_OFFSET, STATUS_BINDING, STATUS_BYTES,
    STATUS_ERROR_OFFSET, STATUS_SPENT_OFFSET,
};

/// Members of `Launch`, by index.
pub(super) const BASE: u32 = 0;
pub(super) const CHUNK: u32 = 1;
pub(super) const GROUPS: u32 = 2;
pub(super) const CHUNKS_PER_INVOCATION: u32 = 3;
pub(super) const CHUNKS: u32 = 4;

/// Members of `Status`, by index.
pub(super) const SPENT: u32 = 0;
pub(super) const STATUS_ERROR: u32 = 1;

/// A module, and what of the driver's is in it already.
pub(super) struct Owned<'a> {
    pub(super) module: &'a mut Module,
    launch: Option<Handle<GlobalVariable>>,
    status: Option<Handle<GlobalVariable>>,
}

impl<'a> Owned<'a> {
    pub(super) fn new(module: &'a mut Module) -> Self {
        Self { module, launch: None, status: None }
    }

    fn ty(&mut self, name: Option<&str>, inner: TypeInner) -> Handle<Type> {
        self.module.types.insert(Type { name: name.map(str::to_owned), inner }, Span::UNDEFINED)
    }

    pub(super) fn u32(&mut self) -> Handle<Type> {
        self.ty(None, TypeInner::Scalar(Scalar::U32))
    }

    pub(super) fn i32(&mut self) -> Handle<Type> {
        self.ty(None, TypeInner::Scalar(Scalar::I32))
    }

    pub(super) fn bool(&mut self) -> Handle<Type> {
        self.ty(None, TypeInner::Scalar(Scalar::BOOL))
    }

    fn atomic(&mut self) -> Handle<Type> {
        self.ty(None, TypeInner::Atomic(Scalar::U32))
    }

    fn vec3(&mut self) -> Handle<Type> {
        self.ty(None, TypeInner::Vector { size: VectorSize::Tri, scalar: Scalar::U32 })
    }

    fn structure(&mut self, name: &str, span: u32, members: &[(&str, Handle<Type>, u32)]) -> Handle<Type> {
        let members = members
            .iter()
            .map(|&(name, ty, offset)| StructMember { name: Some(name.to_owned()), ty, binding: None, offset })
            .collect();
        self.ty(Some(name), TypeInner::Struct { members, span })
    }

    fn variable(
        &mut self,
        name: &str,
        space: AddressSpace,
        ty: Handle<Type>,
        binding: Option<u32>,
    ) -> Handle<GlobalVariable> {
        let variable = GlobalVariable {
            name: Some(name.to_owned()),
            space,
            binding: binding.map(|binding| ResourceBinding { group: LAUNCH_GROUP, binding }),
            ty,
            init: None,
            memory_decorations: MemoryDecorations::empty(),
        };
        self.module.global_variables.append(variable, Span::UNDEFINED)
    }

    /// The uniform buffer.
    pub(super) fn launch(&mut self) -> Handle<GlobalVariable> {
        if let Some(launch) = self.launch {
            return launch;
        }
        let (word, integer, triple) = (self.u32(), self.i32(), self.vec3());
        let ty = self.structure(
            "HalLaunch",
            LAUNCH_BYTES,
            &[
                ("base", triple, LAUNCH_BASE_OFFSET),
                ("chunk", integer, LAUNCH_CHUNK_OFFSET),
                ("groups", triple, LAUNCH_GROUPS_OFFSET),
                ("chunks_per_invocation", word, LAUNCH_CHUNKS_PER_INVOCATION_OFFSET),
                ("chunks", word, LAUNCH_CHUNKS_OFFSET),
            ],
        );
        let launch = self.variable("hal_launch", AddressSpace::Uniform, ty, Some(LAUNCH_BINDING));
        self.launch = Some(launch);
        launch
    }

    /// The storage buffer.
    pub(super) fn status(&mut self) -> Handle<GlobalVariable> {
        if let Some(status) = self.status {
            return status;
        }
        let atomic = self.atomic();
        let members = [("spent", atomic, STATUS_SPENT_OFFSET), ("error", atomic, STATUS_ERROR_OFFSET)];
        let ty = self.structure("HalStatus", STATUS_BYTES, &members);
        let access = StorageAccess::LOAD | StorageAccess::STORE;
        let status = self.variable("hal_status", AddressSpace::Storage { access }, ty, Some(STATUS_BINDING));
        self.status = Some(status);
        status
    }

    /// A word of each invocation's, 0 at first.
    pub(super) fn counter(&mut self, name: &str, ty: Handle<Type>) -> Handle<GlobalVariable> {
        self.variable(name, AddressSpace::Private, ty, None)
    }

    /// An atomic of the workgroup's, 0 at first.
    pub(super) fn stop(&mut self) -> Handle<GlobalVariable> {
        let atomic = self.atomic();
        self.variable("hal_stop", AddressSpace::WorkGroup, atomic, None)
    }
}

/// What comes before the body of a function.
#[derive(Default)]
pub(super) struct Prelude {
    /// The first expressions of the function.
    pub(super) expressions: Arena<Expression>,
    /// The first statements.
    pub(super) body: Block,
    /// For each argument the value that takes its place, if one does.
    pub(super) arguments: Vec<Option<Handle<Expression>>>,
}

fn is_corrected(binding: Option<&Binding>) -> Option<BuiltIn> {
    match binding {
        Some(&Binding::BuiltIn(
            builtin @ (BuiltIn::WorkGroupId | BuiltIn::GlobalInvocationId | BuiltIn::NumWorkGroups),
        )) => Some(builtin),
        _ => None,
    }
}

/// Computes the built-in values of the whole dispatch from those of a part.
///
/// It goes without a local variable and without a function around the kernel: of both, no compiler knows that
/// `workgroup_id` is the same for all invocations of a group.
pub(super) fn prelude(owned: &mut Owned<'_>, entry: &EntryPoint) -> Prelude {
    let mut prelude = Prelude::default();
    for (index, argument) in (0..).zip(&entry.function.arguments) {
        let members = match &owned.module.types[argument.ty].inner {
            TypeInner::Struct { members, .. } if argument.binding.is_none() => members.clone(),
            _ => Vec::new(),
        };
        let whole = is_corrected(argument.binding.as_ref());
        if whole.is_none() && !members.iter().any(|member| is_corrected(member.binding.as_ref()).is_some()) {
            prelude.arguments.push(None);
            continue;
        }
        let mut correct = Correct { launch: owned.launch(), vec3: owned.vec3(), size: entry.workgroup_size };
        let mut writer = Writer::new(&mut prelude.expressions);
        let given = writer.fixed(Expression::FunctionArgument(index));
        let value = match whole {
            Some(builtin) => correct.value(&mut writer, builtin, given),
            None => correct.structure(&mut writer, argument.ty, &members, given),
        };
        let mut body = writer.finish();
        prelude.body.append(&mut body);
        prelude.arguments.push(Some(value));
    }
    prelude
}

struct Correct {
    launch: Handle<GlobalVariable>,
    vec3: Handle<Type>,
    size: [u32; 3],
}

impl Correct {
    fn value(&mut self, writer: &mut Writer<'_>, builtin: BuiltIn, given: Handle<Expression>) -> Handle<Expression> {
        let launch = writer.global(self.launch);
        let member = if builtin == BuiltIn::NumWorkGroups { GROUPS } else { BASE };
        let pointer = writer.member(launch, member);
        let loaded = writer.load(pointer);
        let shift = match builtin {
            BuiltIn::NumWorkGroups => return loaded,
            BuiltIn::GlobalInvocationId => {
                let size = self.size.map(|size| writer.fixed(Expression::Literal(Literal::U32(size))));
                let size = writer.value(Expression::Compose { ty: self.vec3, components: size.to_vec() });
                writer.binary(naga::BinaryOperator::Multiply, loaded, size)
            }
            _ => loaded,
        };
        writer.binary(naga::BinaryOperator::Add, given, shift)
    }

    fn structure(
        &mut self,
        writer: &mut Writer<'_>,
        ty: Handle<Type>,
        members: &[StructMember],
        given: Handle<Expression>,
    ) -> Handle<Expression> {
        let mut components = Vec::with_capacity(members.len());
        for (index, member) in (0..).zip(members) {
            let value = writer.member(given, index);
            components.push(match is_corrected(member.binding.as_ref()) {
                Some(builtin) => self.value(writer, builtin, value),
                None => value,
            });
        }
        writer.value(Expression::Compose { ty, components })
    }
}

//! The compiler's own representation: SPMD code on scalars, structured like wasm.
//!
//! One [`Func`] is what *one invocation* does. Values are registers of one scalar each; a WGSL vector is several
//! registers. Control flow is wasm's: blocks that are left by a jump to their end, loops that are repeated by a jump to
//! their start. Barriers are statements; [`crate::passes::regions`] turns a function with barriers into code for a
//! whole workgroup.
//!
//! [`LANES`] invocations run together, as a *gang*: those whose linear index differs in its lowest bits only. What
//! differs between them is told apart by [`crate::passes::uniformity`], and [`crate::passes::masks`] turns control flow
//! that differs into instructions that only some lanes do ([`Stmt::Masked`]).

use naga::Span;

pub(crate) use crate::op::{AtomicOp, Helper, Op, SubgroupOp};

/// Invocations that run together: lanes of a `v128` of 32-bit scalars.
pub(crate) const LANES: u32 = crate::abi::SUBGROUP_SIZE;

/// A register of a [`Func`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Reg(pub(crate) u32);

/// A jump target within a [`Func`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Label(pub(crate) u32);

/// A memory object; see [`Object`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct ObjectId(pub(crate) u32);

/// The scalar types. Signedness is in the operations.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Ty {
    /// 0 or 1 as a wasm `i32`; all bits or none in the lane of a vector.
    Bool,
    I32,
    F32,
}

/// What is known of a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegInfo {
    pub(crate) ty: Ty,
    /// A variable, with several definitions. All others have one definition, which dominates their uses.
    pub(crate) mutable: bool,
}

/// A value that an instruction uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Operand {
    Reg(Reg),
    Bool(bool),
    I32(u32),
    /// The bits of an `f32`.
    F32(u32),
    Builtin(Builtin),
}

impl Operand {
    pub(crate) fn float(value: f32) -> Self {
        Self::F32(value.to_bits())
    }
}

/// Values that exist without being computed. All are `I32` but [`Builtin::Active`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Builtin {
    /// `local_invocation_id`, by axis.
    Local(u8),
    /// `local_invocation_index`.
    LocalIndex,
    /// `global_invocation_id`, by axis.
    Global(u8),
    /// `workgroup_id`, by axis.
    Group(u8),
    /// `num_workgroups`, by axis.
    Groups(u8),
    /// Index of the last element of the runtime array of the binding at this place in [`Unit::bindings`].
    Last(u32),
    /// A word of the constants.
    Constant(u32),
    /// Whether the workgroup has this invocation: the last gang may have lanes too many.
    Active,
}

/// What a memory access is relative to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Base {
    /// The binding at this place in [`Unit::bindings`].
    Binding(u32),
    /// Workgroup memory.
    Workgroup,
    Object(ObjectId),
}

/// An address: `base + offset + min(index, last) * stride ...`, offset and strides in bytes. The clamps keep it inside its
/// base, whatever the indices are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Address {
    pub(crate) base: Base,
    pub(crate) terms: Vec<Term>,
    pub(crate) offset: u32,
}

/// An index that is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) index: Operand,
    /// The greatest index there is; none if the index is known not to exceed it.
    pub(crate) last: Option<Operand>,
    pub(crate) stride: u32,
}

impl Address {
    /// The start of a base.
    pub(crate) fn start(base: Base) -> Self {
        Self { base, terms: Vec::new(), offset: 0 }
    }

    /// Moved by `bytes`.
    pub(crate) fn plus(&self, bytes: u32) -> Self {
        Self { offset: self.offset.wrapping_add(bytes), ..self.clone() }
    }

    /// Moved by an index, at most `last`.
    pub(crate) fn indexed(&self, index: Operand, last: Operand, stride: u32) -> Self {
        let mut moved = self.clone();
        moved.terms.push(Term { index, last: Some(last), stride });
        moved
    }

    /// Calls `f` for each operand.
    pub(crate) fn operands(&self, f: &mut impl FnMut(Operand)) {
        for term in &self.terms {
            f(term.index);
            term.last.into_iter().for_each(&mut *f);
        }
    }
}

/// How a scalar lies in memory.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Cell {
    I32,
    F32,
    /// The bits of an `f16`, two bytes; in a register, the low half of an `I32`.
    Half,
    /// A `bool`, one byte.
    Byte,
}

impl Cell {
    pub(crate) fn ty(self) -> Ty {
        match self {
            Self::I32 | Self::Half => Ty::I32,
            Self::F32 => Ty::F32,
            Self::Byte => Ty::Bool,
        }
    }

    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::I32 | Self::F32 => 4,
            Self::Half => 2,
            Self::Byte => 1,
        }
    }

    /// Whether it is a part of a word. Where objects are interleaved, they are so word by word.
    pub(crate) fn is_part(self) -> bool {
        self.bytes() < 4
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) enum Inst {
    Op {
        dst: Reg,
        op: Op,
        args: Vec<Operand>,
    },
    Load {
        dst: Reg,
        cell: Cell,
        address: Address,
    },
    /// A load between two barriers, by all invocations from one address.
    UniformLoad {
        dst: Reg,
        cell: Cell,
        address: Address,
    },
    /// Four loads from cells that lie one after the other: `dsts[n]` from `n` cells behind `address`. Where `by_index`, the
    /// index of that term is greater by `n`, and brought into range like it.
    LoadRow {
        dsts: [Reg; 4],
        cell: Cell,
        address: Address,
        by_index: Option<usize>,
    },
    Store {
        cell: Cell,
        address: Address,
        value: Operand,
    },
    /// Zeroes `length` bytes.
    Fill {
        address: Address,
        length: u32,
    },
    /// Copies `length` bytes between places that do not overlap. What lies there is cells of at least `grain` bytes.
    Move {
        to: Address,
        from: Address,
        length: u32,
        grain: u32,
    },
    Atomic {
        dst: Option<Reg>,
        op: AtomicOp,
        address: Address,
        value: Operand,
        compare: Operand,
    },
    Subgroup {
        dst: Reg,
        op: SubgroupOp,
        args: Vec<Operand>,
    },
    Call {
        function: u32,
        args: Vec<Operand>,
        results: Vec<Reg>,
    },
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Inst(Inst),
    /// An instruction of the lanes in which `mask` is set. At least one is.
    Masked {
        mask: Operand,
        inst: Inst,
    },
    If {
        /// Names it; nothing jumps there.
        label: Label,
        condition: Operand,
        accept: Vec<Stmt>,
        reject: Vec<Stmt>,
        span: Span,
    },
    /// Left at its end, or by a jump to `label`.
    Block {
        label: Label,
        body: Vec<Stmt>,
    },
    /// Left at its end; a jump to `label` starts it again. A rare one is hardly ever come to.
    Loop {
        label: Label,
        body: Vec<Stmt>,
        rare: bool,
    },
    Jump {
        label: Label,
        span: Span,
    },
    /// Leaves a function that is not the entry point.
    Return {
        values: Vec<Operand>,
    },
    Barrier {
        span: Span,
    },
}

/// A function: the entry point, or one that it calls.
#[derive(Debug)]
pub(crate) struct Func {
    pub(crate) params: Vec<Reg>,
    pub(crate) results: Vec<Ty>,
    pub(crate) regs: Vec<RegInfo>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) span: Span,
}

/// A piece of scratch memory: a variable whose address is computed, a spilled value, or a table.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) size: u32,
    pub(crate) align: u32,
    /// A table's contents; it is written once, before the first workgroup.
    pub(crate) table: Option<Vec<u8>>,
    /// Lives as long as the invocation and is used by functions that are not inlined.
    pub(crate) shared: bool,
}

/// A binding as the compiler sees it.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) number: u32,
    pub(crate) writes: bool,
    pub(crate) min_length: u32,
    /// Offset and stride of the runtime array, if there is one.
    pub(crate) runtime_array: Option<(u32, u32)>,
}

/// Everything that becomes one module.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) entry: Func,
    pub(crate) functions: Vec<Func>,
    pub(crate) objects: Vec<Object>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) workgroup_bytes: u32,
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) constant_bytes: u32,
}

impl Unit {
    /// Invocations in a workgroup. The product was checked when the unit was made.
    pub(crate) fn invocations(&self) -> u32 {
        self.workgroup_size.iter().fold(1, |product, &axis| product.saturating_mul(axis))
    }

    /// Gangs in a workgroup.
    pub(crate) fn gangs(&self) -> u32 {
        self.invocations().div_ceil(LANES)
    }

    /// A workgroup is one invocation: nothing needs lanes.
    pub(crate) fn is_single(&self) -> bool {
        self.workgroup_size == [1, 1, 1]
    }
}

impl Inst {
    /// Calls `f` for each operand that is read.
    pub(crate) fn operands(&self, mut f: impl FnMut(Operand)) {
        match self {
            Self::Op { args, .. } | Self::Subgroup { args, .. } | Self::Call { args, .. } => {
                args.iter().copied().for_each(f);
            }
            Self::Load { address, .. }
            | Self::LoadRow { address, .. }
            | Self::UniformLoad { address, .. }
            | Self::Fill { address, .. } => address.operands(&mut f),
            Self::Store { address, value, .. } => {
                address.operands(&mut f);
                f(*value);
            }
            Self::Move { to, from, .. } => {
                to.operands(&mut f);
                from.operands(&mut f);
            }
            Self::Atomic { address, value, compare, .. } => {
                address.operands(&mut f);
                f(*value);
                f(*compare);
            }
        }
    }

    /// Calls `f` for each register that is read.
    pub(crate) fn uses(&self, mut f: impl FnMut(Reg)) {
        self.operands(|operand| {
            if let Operand::Reg(reg) = operand {
                f(reg);
            }
        });
    }

    /// Calls `f` for each register that is written.
    pub(crate) fn defs(&self, mut f: impl FnMut(Reg)) {
        match self {
            Self::Op { dst, .. }
            | Self::Load { dst, .. }
            | Self::UniformLoad { dst, .. }
            | Self::Subgroup { dst, .. } => f(*dst),
            Self::LoadRow { dsts, .. } => dsts.iter().copied().for_each(f),
            Self::Atomic { dst, .. } => dst.iter().copied().for_each(f),
            Self::Call { results, .. } => results.iter().copied().for_each(f),
            Self::Store { .. } | Self::Fill { .. } | Self::Move { .. } => {}
        }
    }

    /// Calls `f` for each memory object that is touched.
    pub(crate) fn objects(&self, mut f: impl FnMut(ObjectId)) {
        self.addresses(&mut |address| {
            if let Base::Object(object) = address.base {
                f(object);
            }
        });
    }

    /// Calls `f` for each address.
    pub(crate) fn addresses<'a>(&'a self, f: &mut impl FnMut(&'a Address)) {
        match self {
            Self::Load { address, .. }
            | Self::LoadRow { address, .. }
            | Self::UniformLoad { address, .. }
            | Self::Store { address, .. }
            | Self::Fill { address, .. }
            | Self::Atomic { address, .. } => f(address),
            Self::Move { to, from, .. } => {
                f(to);
                f(from);
            }
            Self::Op { .. } | Self::Subgroup { .. } | Self::Call { .. } => {}
        }
    }

    /// Whether it can be left out when nothing reads its result.
    pub(crate) fn is_pure(&self) -> bool {
        match self {
            Self::Op { .. } | Self::Subgroup { .. } => true,
            Self::Load { .. } | Self::LoadRow { .. } | Self::UniformLoad { .. } => true,
            Self::Store { .. } | Self::Fill { .. } | Self::Move { .. } | Self::Atomic { .. } | Self::Call { .. } => {
                false
            }
        }
    }
}

/// Calls `f` for each statement, outer ones first.
pub(crate) fn walk<'a>(body: &'a [Stmt], f: &mut impl FnMut(&'a Stmt)) {
    for stmt in body {
        f(stmt);
        match stmt {
            Stmt::If { accept, reject, .. } => {
                walk(accept, f);
                walk(reject, f);
            }
            Stmt::Block { body, .. } | Stmt::Loop { body, .. } => walk(body, f),
            Stmt::Inst(_) | Stmt::Masked { .. } | Stmt::Jump { .. } | Stmt::Return { .. } | Stmt::Barrier { .. } => {}
        }
    }
}

/// Calls `f` for each instruction.
pub(crate) fn walk_insts<'a>(body: &'a [Stmt], f: &mut impl FnMut(&'a Inst)) {
    walk(body, &mut |stmt| {
        if let Stmt::Inst(inst) | Stmt::Masked { inst, .. } = stmt {
            f(inst);
        }
    });
}

/// Whether a barrier is somewhere in `body`.
pub(crate) fn has_barrier(body: &[Stmt]) -> bool {
    let mut found = false;
    walk(body, &mut |stmt| found |= matches!(stmt, Stmt::Barrier { .. }));
    found
}

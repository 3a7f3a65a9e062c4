//! The compiler's own representation: scalar SPMD code, structured like wasm.
//!
//! One [`Func`] is what *one invocation* does. Values are registers of one 32-bit scalar each; a vector is several
//! registers. Control flow is wasm's: blocks that are left by a jump to their end, loops that are repeated by a jump to
//! their start. Barriers are statements; [`crate::passes::regions`] turns a function with barriers into code for a
//! whole workgroup.

use naga::Span;

/// A scalar register of a [`Func`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Reg(pub(crate) u32);

/// A jump target within a [`Func`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Label(pub(crate) u32);

/// A memory object; see [`Object`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct ObjectId(pub(crate) u32);

/// The scalar types. `bool` is an `I32` that is 0 or 1; signedness is in the operations.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Ty {
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

/// Values that exist without being computed. All are `I32`.
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

/// An address: `base + index + offset`, all in bytes. Whoever makes one has checked that it lies inside its base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Base,
    pub(crate) index: Option<Operand>,
    pub(crate) offset: u32,
}

/// How a scalar lies in memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cell {
    I32,
    F32,
    /// A `bool`, one byte.
    Byte,
}

/// Atomic operations on 32-bit integers in storage memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AtomicOp {
    Load,
    Store,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    MinS,
    MinU,
    MaxS,
    MaxU,
}

/// Pure operations on scalars.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Op {
    /// `args[0]`, into a register.
    Copy,
    /// `args[2] != 0 ? args[0] : args[1]`
    Select,
    Add,
    Sub,
    Mul,
    /// Traps on 0: the front guards it, as it does the other three.
    DivS,
    DivU,
    RemS,
    RemU,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    Eq,
    Ne,
    LtS,
    LtU,
    LeS,
    LeU,
    GtS,
    GtU,
    GeS,
    GeU,
    Eqz,
    Clz,
    Ctz,
    Popcnt,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FNeg,
    FAbs,
    FSqrt,
    FCeil,
    FFloor,
    FTrunc,
    FNearest,
    FEq,
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
    /// Saturating; NaN gives 0.
    TruncS,
    TruncU,
    ConvertS,
    ConvertU,
    /// Bits of an `I32` as `F32`, and back.
    ToFloat,
    ToInt,
    /// A function that is emitted into the module when it is used.
    Helper(Helper),
}

/// Functions of the runtime that a module carries if it uses them.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Helper {
    Exp,
    Exp2,
    Log,
    Log2,
    Pow,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Ldexp,
    FrexpFraction,
    FrexpExponent,
    /// `f32` to the bits of the nearest `f16`, and back.
    ToHalf,
    FromHalf,
    ReverseBits,
    /// Word of the constants at a dynamic index, which is in range.
    ConstantWord,
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
    /// Copies `length` bytes between places that do not overlap.
    Move {
        to: Address,
        from: Address,
        length: u32,
    },
    Atomic {
        dst: Option<Reg>,
        op: AtomicOp,
        address: Address,
        value: Operand,
        compare: Operand,
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
    If {
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
    /// Left at its end; a jump to `label` starts it again.
    Loop {
        label: Label,
        body: Vec<Stmt>,
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
}

impl Inst {
    /// Calls `f` for each operand that is read.
    pub(crate) fn operands(&self, mut f: impl FnMut(Operand)) {
        match self {
            Self::Op { args, .. } | Self::Call { args, .. } => args.iter().copied().for_each(f),
            Self::Load { address, .. } | Self::UniformLoad { address, .. } | Self::Fill { address, .. } => {
                address.index.into_iter().for_each(f);
            }
            Self::Store { address, value, .. } => {
                address.index.into_iter().for_each(&mut f);
                f(*value);
            }
            Self::Move { to, from, .. } => to.index.into_iter().chain(from.index).for_each(f),
            Self::Atomic { address, value, compare, .. } => {
                address.index.into_iter().for_each(&mut f);
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
            Self::Op { dst, .. } | Self::Load { dst, .. } | Self::UniformLoad { dst, .. } => f(*dst),
            Self::Atomic { dst, .. } => dst.iter().copied().for_each(f),
            Self::Call { results, .. } => results.iter().copied().for_each(f),
            Self::Store { .. } | Self::Fill { .. } | Self::Move { .. } => {}
        }
    }

    /// Calls `f` for each memory object that is touched.
    pub(crate) fn objects(&self, mut f: impl FnMut(ObjectId)) {
        let mut see = |address: &Address| {
            if let Base::Object(object) = address.base {
                f(object);
            }
        };
        match self {
            Self::Load { address, .. }
            | Self::UniformLoad { address, .. }
            | Self::Store { address, .. }
            | Self::Fill { address, .. }
            | Self::Atomic { address, .. } => see(address),
            Self::Move { to, from, .. } => {
                see(to);
                see(from);
            }
            Self::Op { .. } | Self::Call { .. } => {}
        }
    }

    /// Whether it can be left out when nothing reads its result.
    pub(crate) fn is_pure(&self) -> bool {
        matches!(self, Self::Op { .. } | Self::Load { .. } | Self::UniformLoad { .. })
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
            Stmt::Inst(_) | Stmt::Jump { .. } | Stmt::Return { .. } | Stmt::Barrier { .. } => {}
        }
    }
}

/// Calls `f` for each instruction.
pub(crate) fn walk_insts<'a>(body: &'a [Stmt], f: &mut impl FnMut(&'a Inst)) {
    walk(body, &mut |stmt| {
        if let Stmt::Inst(inst) = stmt {
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

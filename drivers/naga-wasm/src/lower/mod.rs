//! naga IR to the compiler's scalar IR.
//!
//! | file | lowers |
//! |---|---|
//! | [`globals`] | what a module declares: bindings, workgroup memory, constants |
//! | [`function`] | function bodies: the entry point, kept functions, functions copied into callers |
//! | [`statement`] | statements |
//! | [`expression`] | expressions |
//! | [`constant`] | constant expressions |
//! | [`place`] | pointers, loads and stores |
//! | [`arithmetic`] | operators and conversions |
//! | [`half`] | `f16` |
//! | [`matrix`] | operators on matrices |
//! | [`math`] | built-in functions |
//! | [`subgroup`] | subgroup operations |
//! | [`wide`] | `i64` and `u64` |
//! | [`packing`] | built-in functions on packed words and bits |
//! | [`builder`] | appends instructions |

pub(crate) mod arithmetic;
pub(crate) mod builder;
pub(crate) mod constant;
pub(crate) mod expression;
pub(crate) mod function;
pub(crate) mod globals;
pub(crate) mod half;
pub(crate) mod math;
pub(crate) mod matrix;
pub(crate) mod packing;
pub(crate) mod place;
pub(crate) mod statement;
pub(crate) mod subgroup;
pub(crate) mod wide;

use std::collections::HashMap;
use std::rc::Rc;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Span};

use crate::ir::{Label, Object, ObjectId, Operand, Reg};
use crate::layout::{Layouts, Shape};
use crate::passes::inline::Plan;
use crate::passes::promote::Memory;
use builder::Builder;
use place::Place;

/// What is known of the module; it does not change while it is lowered.
pub(crate) struct Context<'a> {
    pub(crate) module: &'a Module,
    pub(crate) info: &'a ModuleInfo,
    pub(crate) layouts: &'a Layouts<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) memory: &'a Memory,
    pub(crate) globals: globals::Globals,
    pub(crate) workgroup_size: [u32; 3],
}

/// What all functions of a unit share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) objects: Vec<Object>,
    privates: HashMap<Handle<GlobalVariable>, ObjectId>,
    tables: HashMap<Vec<u8>, ObjectId>,
    /// The tables of constant expressions, so that each is evaluated once however often it is used.
    constants: HashMap<Handle<Expression>, ObjectId>,
}

impl Shared {
    pub(crate) fn object(&mut self, object: Object) -> ObjectId {
        let id = ObjectId(u32::try_from(self.objects.len()).unwrap_or(u32::MAX));
        self.objects.push(object);
        id
    }
}

/// A value that is not a pointer.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Its scalars.
    Flat(Rc<[Operand]>),
    /// Zeros, of whatever shape.
    Zero,
    /// A large value, in an object that nothing else writes.
    Stored(ObjectId),
}

/// What an expression stands for.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Value(Value),
    Place(Place),
}

/// Where `return` goes.
enum Exit {
    /// Out of a wasm function.
    Function,
    /// To the end of a block, the value in variables or an object.
    Block { label: Label, result: Option<Place> },
    /// Nowhere: it is the last statement. The value is the result.
    Last(Option<Value>),
}

/// The function whose body is being lowered.
struct Frame<'a> {
    function: &'a Function,
    handle: Option<Handle<Function>>,
    info: &'a FunctionInfo,
    meanings: HashMap<Handle<Expression>, Meaning>,
    locals: HashMap<Handle<LocalVariable>, Place>,
    arguments: Vec<Meaning>,
    exit: Exit,
    breaks: Vec<Label>,
    continues: Vec<Label>,
}

/// Lowers one function and what is copied into it.
pub(crate) struct Lowerer<'a, 'u> {
    cx: &'a Context<'a>,
    unit: &'u mut Shared,
    b: Builder,
    frame: Frame<'a>,
    privates: HashMap<Handle<GlobalVariable>, Rc<[Reg]>>,
    /// The source of what is being lowered, for diagnostics.
    span: Span,
    /// Functions copied into functions, at present.
    depth: u32,
    /// Blocks in blocks, at present.
    nesting: u32,
}

impl Lowerer<'_, '_> {
    fn shape_of(&self, expression: Handle<Expression>) -> Result<Shape, crate::Diagnostic> {
        let ty = &self.frame.info[expression].ty;
        self.cx.layouts.shape_of(ty.inner_with(&self.cx.module.types), ty.handle(), self.span)
    }
}

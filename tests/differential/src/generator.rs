//! Random kernels, as trees that proptest makes up and shrinks. Whatever the tree, the kernel is valid and its outcome is determined:
//! indices are brought into range, loops are counted, barriers stand in uniform flow, what invocations share is either written each
//! their own and read behind a barrier, or atomic with an operation whose order does not matter.

use proptest::prelude::*;
use std::fmt;

/// Variables of an invocation, `u32`.
pub const VARIABLES: u8 = 4;
/// Vector variables, `vec4<u32>`.
pub const VECTORS: u8 = 2;
/// Elements of an invocation's own array.
pub const CELLS: u8 = 4;
/// Atomic words, one for each operation.
pub const ATOMICS: u8 = 6;
/// Most rounds of one loop.
const MAX_ROUNDS: u8 = 5;
/// Most iterations of one invocation: far below the 65,535 after which lavapipe ends it.
const MAX_ITERATIONS: u64 = 20_000;

/// A `u32`.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Number(u32),
    /// A variable.
    Variable(u8),
    /// The place in the workgroup, the workgroup, the place in the grid, the number of workgroups.
    BuiltIn(u8),
    /// An element of the invocation's own array.
    Own(Box<Expr>),
    /// An element of the workgroup's array.
    Shared(Box<Expr>),
    /// An element of the input.
    Input(Box<Expr>),
    /// A component of a vector variable, by a computed index.
    Component(u8, Box<Expr>),
    /// A function of one value.
    Unary(u8, Box<Expr>),
    /// A function of two.
    Binary(u8, Box<Expr>, Box<Expr>),
    /// A function of three.
    Ternary(u8, Box<[Expr; 3]>),
    /// A call of the kernel's own function.
    Call(Box<Expr>, Box<Expr>),
}

/// What an invocation does by itself.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A new value of a variable.
    Assign(u8, Expr),
    /// `+=` and its like.
    Compound(u8, u8, Expr),
    /// An element of the own array: index, value.
    SetOwn(Expr, Expr),
    /// A component of a vector: index, value.
    SetComponent(u8, Expr, Expr),
    /// A whole vector: an operator and two values.
    SetVector(u8, u8, Expr, Expr),
    /// Two ways.
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// So many rounds; left, or gone on with, where the conditions hold.
    For(u8, Expr, Expr, Vec<Statement>),
    /// So many rounds at most, with a `continuing` that assigns to a variable, and leaves.
    Loop(u8, Vec<Statement>, u8, Expr),
    /// Three cases and the default.
    Switch(Expr, Vec<Vec<Statement>>),
    /// An atomic word of the output.
    Atomic(u8, Expr),
    /// A function that takes a pointer to a variable.
    Bump(u8, Expr),
}

/// What a workgroup does together.
#[derive(Clone, Debug)]
pub enum Together {
    /// Each by itself.
    Alone(Vec<Statement>),
    /// Each sets its own word of the workgroup's array.
    SetShared(Expr),
    /// A variable gets what the first invocation computed.
    Broadcast(u8, Expr),
    /// A variable gets the sum, maximum, ... of what all computed.
    Combine(u8, u8, Expr),
    /// So many rounds.
    For(u8, Vec<Together>),
    /// Two ways, by the number of the workgroup.
    If(u8, Vec<Together>, Vec<Together>),
}

/// A kernel, and how it is launched. To print it is to print its source.
#[derive(Clone)]
pub struct Kernel {
    /// Invocations of a workgroup along x and y.
    pub size: (u8, u8),
    /// Workgroups along x and y.
    pub groups: (u8, u8),
    /// Its own function's body.
    pub helper: Vec<Statement>,
    /// Its body.
    pub body: Vec<Together>,
    /// What each invocation does last, and may end early.
    pub tail: Vec<Statement>,
    /// Where it ends early.
    pub end: Option<Expr>,
    /// Its input.
    pub input: Vec<u32>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} by {} workgroups, input {:?}", self.groups.0, self.groups.1, self.input)?;
        f.write_str(&self.text())
    }
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => 0u32..40,
        1 => any::<u32>(),
        1 => Just(u32::MAX),
        1 => Just(1 << 31),
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        2 => number().prop_map(Expr::Number),
        3 => (0..VARIABLES).prop_map(Expr::Variable),
        1 => (0u8..6).prop_map(Expr::BuiltIn),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let one = inner.clone().prop_map(Box::new).boxed();
        prop_oneof![
            1 => one.clone().prop_map(Expr::Own),
            1 => one.clone().prop_map(Expr::Shared),
            1 => one.clone().prop_map(Expr::Input),
            1 => (0..VECTORS, one.clone()).prop_map(|(vector, index)| Expr::Component(vector, index)),
            3 => (any::<u8>(), one.clone()).prop_map(|(op, a)| Expr::Unary(op, a)),
            7 => (any::<u8>(), one.clone(), one.clone()).prop_map(|(op, a, b)| Expr::Binary(op, a, b)),
            2 => (any::<u8>(), [inner.clone(), inner.clone(), inner])
                .prop_map(|(op, parts)| Expr::Ternary(op, Box::new(parts))),
            1 => (one.clone(), one).prop_map(|(a, b)| Expr::Call(a, b)),
        ]
    })
}

fn statements(depth: u32) -> BoxedStrategy<Vec<Statement>> {
    prop::collection::vec(statement(depth), 0..4).boxed()
}

fn statement(depth: u32) -> BoxedStrategy<Statement> {
    let flat = prop_oneof![
        4 => (0..VARIABLES, expr()).prop_map(|(to, value)| Statement::Assign(to, value)),
        2 => (0..VARIABLES, any::<u8>(), expr()).prop_map(|(to, op, value)| Statement::Compound(to, op, value)),
        2 => (expr(), expr()).prop_map(|(index, value)| Statement::SetOwn(index, value)),
        1 => (0..VECTORS, expr(), expr()).prop_map(|(to, index, value)| Statement::SetComponent(to, index, value)),
        2 => (0..VECTORS, any::<u8>(), expr(), expr())
            .prop_map(|(to, op, a, b)| Statement::SetVector(to, op, a, b)),
        1 => (0..ATOMICS, expr()).prop_map(|(word, value)| Statement::Atomic(word, value)),
        1 => (0..VARIABLES, expr()).prop_map(|(to, value)| Statement::Bump(to, value)),
    ];
    if depth == 0 {
        return flat.boxed();
    }
    let inner = || statements(depth - 1);
    prop_oneof![
        6 => flat,
        2 => (expr(), inner(), inner()).prop_map(|(condition, yes, no)| Statement::If(condition, yes, no)),
        2 => (0..=MAX_ROUNDS, expr(), expr(), inner())
            .prop_map(|(rounds, leave, skip, body)| Statement::For(rounds, leave, skip, body)),
        1 => (1..=MAX_ROUNDS, inner(), 0..VARIABLES, expr())
            .prop_map(|(rounds, body, to, value)| Statement::Loop(rounds, body, to, value)),
        1 => (expr(), prop::collection::vec(inner(), 4)).prop_map(|(of, cases)| Statement::Switch(of, cases)),
    ]
    .boxed()
}

fn together(depth: u32) -> BoxedStrategy<Together> {
    let flat = prop_oneof![
        4 => statements(2).prop_map(Together::Alone),
        2 => expr().prop_map(Together::SetShared),
        1 => (0..VARIABLES, expr()).prop_map(|(to, value)| Together::Broadcast(to, value)),
        1 => (0..VARIABLES, any::<u8>(), expr()).prop_map(|(to, op, value)| Together::Combine(to, op, value)),
    ];
    if depth == 0 {
        return flat.boxed();
    }
    let inner = || prop::collection::vec(together(depth - 1), 0..4);
    prop_oneof![
        5 => flat,
        1 => (0u8..4, inner()).prop_map(|(rounds, body)| Together::For(rounds, body)),
        1 => (0u8..4, inner(), inner()).prop_map(|(below, yes, no)| Together::If(below, yes, no)),
    ]
    .boxed()
}

/// Any kernel.
pub fn kernel() -> impl Strategy<Value = Kernel> {
    let input = prop::collection::vec(number(), 1..9);
    let body = prop::collection::vec(together(2), 1..6);
    ((1u8..6, 1u8..3), (1u8..4, 1u8..3), statements(2), body, statements(2), prop::option::of(expr()), input)
        .prop_map(|(size, groups, helper, body, tail, end, input)| Kernel {
            size,
            groups,
            helper,
            body,
            tail,
            end,
            input,
        })
        .prop_filter("too many iterations", |kernel| kernel.iterations() <= MAX_ITERATIONS)
}

impl Kernel {
    /// No fewer iterations of loops than one invocation makes.
    fn iterations(&self) -> u64 {
        let helper = rounds(&self.helper, 0);
        rounds(&self.tail, helper)
            + self.body.iter().map(|part| part.rounds(helper)).sum::<u64>()
            + self.end.as_ref().map_or(0, |end| end.calls() * helper)
    }
}

fn rounds(list: &[Statement], helper: u64) -> u64 {
    list.iter().map(|statement| statement.rounds(helper)).sum()
}

impl Together {
    fn rounds(&self, helper: u64) -> u64 {
        let all = |list: &[Self]| list.iter().map(|part| part.rounds(helper)).sum::<u64>();
        match self {
            Self::Alone(list) => rounds(list, helper),
            Self::SetShared(value) | Self::Broadcast(_, value) | Self::Combine(_, _, value) => value.calls() * helper,
            // One more in some workgroups.
            Self::For(count, body) => (u64::from(*count) + 1) * (1 + all(body)),
            Self::If(_, yes, no) => all(yes).max(all(no)),
        }
    }
}

impl Statement {
    fn rounds(&self, helper: u64) -> u64 {
        let inside = |list: &[Self]| rounds(list, helper);
        let calls = |of: &Expr| of.calls() * helper;
        match self {
            Self::Assign(_, a) | Self::Compound(_, _, a) | Self::Atomic(_, a) | Self::Bump(_, a) => calls(a),
            Self::SetOwn(a, b) | Self::SetComponent(_, a, b) | Self::SetVector(_, _, a, b) => calls(a) + calls(b),
            Self::If(of, yes, no) => calls(of) + inside(yes).max(inside(no)),
            Self::For(count, leave, skip, body) => u64::from(*count) * (1 + inside(body) + calls(leave) + calls(skip)),
            Self::Loop(count, body, _, value) => u64::from(*count) * (1 + inside(body) + calls(value)),
            Self::Switch(of, cases) => calls(of) + cases.iter().map(|case| inside(case)).max().unwrap_or(0),
        }
    }
}

impl Expr {
    /// How often the kernel's own function is called.
    fn calls(&self) -> u64 {
        match self {
            Self::Number(_) | Self::Variable(_) | Self::BuiltIn(_) => 0,
            Self::Own(a) | Self::Shared(a) | Self::Input(a) | Self::Component(_, a) | Self::Unary(_, a) => a.calls(),
            Self::Binary(_, a, b) => a.calls() + b.calls(),
            Self::Ternary(_, parts) => parts.iter().map(Self::calls).sum(),
            Self::Call(a, b) => 1 + a.calls() + b.calls(),
        }
    }
}

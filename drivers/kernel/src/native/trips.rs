//! How often a loop runs, where its source says so: `for (var i = 0u; i < 16u; i++)`.
//!
//! What a loop is known to do needs no counting, and a native compiler that finds the loop as the source has it can write its rounds out.

use naga::{BinaryOperator, Block, Expression, Function, Handle, Literal, LocalVariable, Module, Statement};

/// A scalar that counts rounds.
#[derive(Clone, Copy)]
enum Value {
    U32(u32),
    I32(i32),
}

/// Where a loop stands.
pub(super) struct Place<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) stores: &'a Stores,
    /// The statements before it in its block.
    pub(super) before: &'a [Statement],
    /// Whether it is inside of another loop of its function.
    pub(super) in_loop: bool,
}

impl Place<'_> {
    /// The rounds of a loop that has one way out, a comparison at its start of a variable that it changes by constants; if they are no
    /// more than `most`.
    pub(super) fn rounds(&self, body: &Block, continuing: &Block, most: u32) -> Option<u32> {
        let Exit { condition, stays, before, after } = exit(body)?;
        if leaves(after) {
            return None;
        }
        let Expression::Binary { op, left, right } = *self.expression(condition) else { return None };
        let (counter, op, bound) = match (self.counter(left, before), self.counter(right, before)) {
            (Some(counter), None) => (counter, op, self.constant(right)?),
            (None, Some(counter)) => (counter, mirrored(op)?, self.constant(left)?),
            _ => return None,
        };
        let step = self.step(counter, continuing)?;
        let mut value = self.first(counter)?;
        let mut rounds = 0;
        while compare(op, value, bound)? == stays {
            rounds += 1;
            if rounds > most {
                return None;
            }
            value = apply(step.0, value, step.1)?;
        }
        Some(rounds)
    }

    fn expression(&self, handle: Handle<Expression>) -> &Expression {
        &self.function.expressions[handle]
    }

    fn constant(&self, handle: Handle<Expression>) -> Option<Value> {
        let literal = match *self.expression(handle) {
            Expression::Constant(constant) => &self.module.global_expressions[self.module.constants[constant].init],
            ref other => other,
        };
        match *literal {
            Expression::Literal(Literal::U32(value)) => Some(Value::U32(value)),
            Expression::Literal(Literal::I32(value)) => Some(Value::I32(value)),
            _ => None,
        }
    }

    /// The variable that an expression is the value of, which is looked up by these statements: not before, when it was another one.
    fn counter(&self, handle: Handle<Expression>, statements: &[Statement]) -> Option<Handle<LocalVariable>> {
        let Expression::Load { pointer } = *self.expression(handle) else { return None };
        let looks = |statement: &Statement| match statement {
            Statement::Emit(range) => range.clone().any(|emitted| emitted == handle),
            _ => false,
        };
        if statements.iter().any(looks) { self.variable(pointer) } else { None }
    }

    fn variable(&self, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        variable(self.function, pointer)
    }

    /// By what a round changes the counter, if that is all that it does to it.
    fn step(&self, counter: Handle<LocalVariable>, continuing: &Block) -> Option<(BinaryOperator, Value)> {
        let mut steps = continuing.iter().filter_map(|statement| self.stored(counter, statement));
        let (Some(value), None) = (steps.next(), steps.next()) else { return None };
        let Expression::Binary { op, left, right } = *self.expression(value) else { return None };
        let is_counter = |handle| self.counter(handle, continuing) == Some(counter);
        match op {
            BinaryOperator::Add | BinaryOperator::Multiply if is_counter(right) => Some((op, self.constant(left)?)),
            _ if is_counter(left) => Some((op, self.constant(right)?)),
            _ => None,
        }
    }

    /// What the counter is when the loop begins, if nothing but that and the step of the loop is ever stored in it.
    fn first(&self, counter: Handle<LocalVariable>) -> Option<Value> {
        let sets = |statement: &&Statement| matches!(statement, Statement::Emit(_) | Statement::Store { .. });
        let mut before = self.before.iter().rev().take_while(sets);
        let before = before.find_map(|statement| self.stored(counter, statement));
        match (before, self.stores.to(counter)) {
            (Some(value), 2) => self.constant(value),
            (None, 1) if !self.in_loop => {
                let variable = &self.function.local_variables[counter];
                match variable.init {
                    Some(init) => self.constant(init),
                    None => self.zero(variable.ty),
                }
            }
            _ => None,
        }
    }

    fn zero(&self, ty: Handle<naga::Type>) -> Option<Value> {
        match self.module.types[ty].inner {
            naga::TypeInner::Scalar(naga::Scalar::U32) => Some(Value::U32(0)),
            naga::TypeInner::Scalar(naga::Scalar::I32) => Some(Value::I32(0)),
            _ => None,
        }
    }

    fn stored(&self, counter: Handle<LocalVariable>, statement: &Statement) -> Option<Handle<Expression>> {
        match *statement {
            Statement::Store { pointer, value } if self.variable(pointer) == Some(counter) => Some(value),
            _ => None,
        }
    }
}

/// The first thing that a loop's body decides, if that is whether to go on.
pub(super) struct Exit<'a> {
    pub(super) condition: Handle<Expression>,
    /// What the condition is when the loop goes on.
    pub(super) stays: bool,
    /// What is evaluated before.
    pub(super) before: &'a [Statement],
    pub(super) after: &'a [Statement],
}

pub(super) fn exit(body: &Block) -> Option<Exit<'_>> {
    let at = body.iter().position(|statement| !matches!(statement, Statement::Emit(_)))?;
    let (before, rest) = body.split_at_checked(at)?;
    let (first, after) = rest.split_first()?;
    let Statement::If { condition, accept, reject } = first else { return None };
    let is_break = |block: &Block| matches!(**block, [Statement::Break]);
    let stays = match (accept.is_empty(), reject.is_empty()) {
        (true, false) if is_break(reject) => true,
        (false, true) if is_break(accept) => false,
        _ => return None,
    };
    Some(Exit { condition: *condition, stays, before, after })
}

/// Whether something inside of a loop's body leaves the loop.
fn leaves(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Break | Statement::Return { .. } | Statement::Kill => true,
        Statement::Block(block) => leaves(block),
        Statement::If { accept, reject, .. } => leaves(accept) || leaves(reject),
        // A `break` inside of these is theirs.
        Statement::Switch { cases, .. } => cases.iter().any(|case| returns(&case.body)),
        Statement::Loop { body, continuing, .. } => returns(body) || returns(continuing),
        _ => false,
    })
}

/// Whether something inside returns.
pub(super) fn returns(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Return { .. } | Statement::Kill => true,
        other => super::cost::children(other).into_iter().any(returns),
    })
}

/// How often each variable of a function is stored into: all at once, so that the time does not grow with the loops.
pub(super) struct Stores(Vec<u32>);

impl Stores {
    pub(super) fn of(function: &Function) -> Self {
        let mut stores = Self(vec![0; function.local_variables.len()]);
        stores.block(function, &function.body);
        stores
    }

    fn to(&self, variable: Handle<LocalVariable>) -> u32 {
        self.0.get(variable.index()).copied().unwrap_or(u32::MAX)
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for statement in block {
            match statement {
                Statement::Store { pointer, .. } => self.add(function, *pointer, 1),
                // Whoever has a pointer may store as often as it likes.
                Statement::Call { arguments, .. } => {
                    arguments.iter().for_each(|argument| self.add(function, *argument, u32::MAX));
                }
                _ => {}
            }
            super::cost::children(statement).into_iter().for_each(|block| self.block(function, block));
        }
    }

    fn add(&mut self, function: &Function, pointer: Handle<Expression>, times: u32) {
        let variable = variable(function, pointer);
        if let Some(stores) = variable.and_then(|variable| self.0.get_mut(variable.index())) {
            *stores = stores.saturating_add(times);
        }
    }
}

/// The variable that an expression is a pointer to.
fn variable(function: &Function, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
    match function.expressions[pointer] {
        Expression::LocalVariable(variable) => Some(variable),
        _ => None,
    }
}

fn mirrored(op: BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    Some(match op {
        Less => Greater,
        LessEqual => GreaterEqual,
        Greater => Less,
        GreaterEqual => LessEqual,
        Equal | NotEqual => op,
        _ => return None,
    })
}

fn compare(op: BinaryOperator, left: Value, right: Value) -> Option<bool> {
    use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let order = match (left, right) {
        (Value::U32(left), Value::U32(right)) => left.cmp(&right),
        (Value::I32(left), Value::I32(right)) => left.cmp(&right),
        _ => return None,
    };
    Some(match op {
        Less => order.is_lt(),
        LessEqual => order.is_le(),
        Greater => order.is_gt(),
        GreaterEqual => order.is_ge(),
        Equal => order.is_eq(),
        NotEqual => order.is_ne(),
        _ => return None,
    })
}

fn apply(op: BinaryOperator, left: Value, right: Value) -> Option<Value> {
    use BinaryOperator::{Add, Divide, Multiply, ShiftLeft, ShiftRight, Subtract};
    match (left, right) {
        (Value::U32(left), Value::U32(right)) => Some(Value::U32(match op {
            Add => left.wrapping_add(right),
            Subtract => left.wrapping_sub(right),
            Multiply => left.wrapping_mul(right),
            Divide => left.checked_div(right)?,
            ShiftLeft => left.checked_shl(right)?,
            ShiftRight => left.checked_shr(right)?,
            _ => return None,
        })),
        (Value::I32(left), Value::I32(right)) => Some(Value::I32(match op {
            Add => left.wrapping_add(right),
            Subtract => left.wrapping_sub(right),
            Multiply => left.wrapping_mul(right),
            Divide => left.checked_div(right)?,
            _ => return None,
        })),
        (Value::I32(left), Value::U32(right)) => Some(Value::I32(match op {
            ShiftLeft => left.checked_shl(right)?,
            ShiftRight => left.checked_shr(right)?,
            _ => return None,
        })),
        (Value::U32(_), Value::I32(_)) => None,
    }
}

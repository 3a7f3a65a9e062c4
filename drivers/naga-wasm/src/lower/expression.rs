//! Expressions.

use std::rc::Rc;

use naga::{Expression, Handle, Range, RelationalFunction, SwizzleComponent};

use super::half::{function_rounds, operator_rounds};
use super::place::{Place, Root};
use super::{Lowerer, Meaning, Value};
use crate::diagnostic::Diagnostic;
use crate::ir::{Address, Base, Builtin, Op, Operand};
use crate::layout::{Shape, words};
use crate::passes::promote::const_index;

impl Lowerer<'_, '_> {
    /// Evaluates the expressions of an `Emit`, in order.
    pub(crate) fn emit(&mut self, range: Range<Expression>) -> Result<(), Diagnostic> {
        for handle in range {
            if self.frame.info[handle].ref_count == 0 {
                continue;
            }
            let meaning = self.evaluate(handle)?;
            self.frame.meanings.insert(handle, meaning);
        }
        Ok(())
    }

    /// What an expression stands for: evaluated before, or evaluated now if it needs no `Emit`.
    pub(crate) fn meaning(&mut self, handle: Handle<Expression>) -> Result<Meaning, Diagnostic> {
        match self.frame.meanings.get(&handle) {
            Some(meaning) => Ok(meaning.clone()),
            None => self.evaluate(handle),
        }
    }

    pub(crate) fn value(&mut self, handle: Handle<Expression>) -> Result<Value, Diagnostic> {
        match self.meaning(handle)? {
            Meaning::Value(value) => Ok(value),
            Meaning::Place(_) => Err(self.defect("a pointer where a value is expected")),
        }
    }

    pub(crate) fn place(&mut self, handle: Handle<Expression>) -> Result<Place, Diagnostic> {
        match self.meaning(handle)? {
            Meaning::Place(place) => Ok(place),
            Meaning::Value(_) => Err(self.defect("a value where a pointer is expected")),
        }
    }

    /// The scalars of a value.
    pub(crate) fn scalars(&mut self, handle: Handle<Expression>) -> Result<Rc<[Operand]>, Diagnostic> {
        let value = self.value(handle)?;
        let shape = self.shape_of(handle)?;
        self.scalars_of(&value, shape)
    }

    pub(crate) fn scalars_of(&mut self, value: &Value, shape: Shape) -> Result<Rc<[Operand]>, Diagnostic> {
        match value {
            Value::Flat(values) => Ok(values.clone()),
            Value::Zero => Ok(self.zeros(shape)?.into()),
            Value::Stored(_) => self.unsupported("a large value that is used as a whole"),
        }
    }

    /// The one scalar of a scalar value.
    pub(crate) fn scalar(&mut self, handle: Handle<Expression>) -> Result<Operand, Diagnostic> {
        match *self.scalars(handle)? {
            [scalar] => Ok(scalar),
            _ => Err(self.defect("a composite where a scalar is expected")),
        }
    }

    fn evaluate(&mut self, handle: Handle<Expression>) -> Result<Meaning, Diagnostic> {
        let function = self.frame.function;
        let before = self.span;
        self.at(function.expressions.get_span(handle));
        let meaning = self.evaluate_here(handle, &function.expressions[handle]).map_err(|error| error.or_at(self.span));
        self.span = before;
        meaning
    }

    fn evaluate_here(&mut self, handle: Handle<Expression>, expression: &Expression) -> Result<Meaning, Diagnostic> {
        let flat = |values: Vec<Operand>| Ok(Meaning::Value(Value::Flat(values.into())));
        match *expression {
            Expression::Literal(literal) => flat(self.literal(literal)?),
            Expression::Constant(constant) => {
                Ok(Meaning::Value(self.constant(self.cx.module.constants[constant].init)?))
            }
            Expression::Override(_) => Err(self.unresolved_override()),
            Expression::ZeroValue(ty) => {
                let shape = self.cx.layouts.shape(ty)?;
                if self.cx.layouts.is_flat(shape) { flat(self.zeros(shape)?) } else { Ok(Meaning::Value(Value::Zero)) }
            }
            Expression::Compose { ty, ref components } => self.compose(ty, components),
            Expression::Access { base, index } => {
                let index = match const_index(self.cx.module, &self.frame.function.expressions, index) {
                    Some(index) => Operand::I32(index),
                    None => self.index(index)?,
                };
                self.access(base, index)
            }
            Expression::AccessIndex { base, index } => self.access(base, Operand::I32(index)),
            Expression::Splat { size, value } => {
                let value = self.scalars(value)?;
                flat(std::iter::repeat_n(&value[..], size as usize).flatten().copied().collect())
            }
            Expression::Swizzle { size, vector, pattern } => self.swizzle(vector, pattern, size as usize),
            Expression::FunctionArgument(index) => match self.frame.arguments.get(index as usize) {
                Some(argument) => Ok(argument.clone()),
                None => Err(self.defect("an argument that is not passed")),
            },
            Expression::GlobalVariable(variable) => Ok(Meaning::Place(self.global(variable)?)),
            Expression::LocalVariable(variable) => match self.frame.locals.get(&variable) {
                Some(place) => Ok(Meaning::Place(place.clone())),
                None => Err(self.defect("a local variable that is not declared")),
            },
            Expression::Load { pointer } => {
                let place = self.place(pointer)?;
                Ok(Meaning::Value(self.load(&place)?))
            }
            _ => self.evaluate_operation(handle, expression),
        }
    }

    /// Expressions that compute something from values.
    fn evaluate_operation(
        &mut self,
        handle: Handle<Expression>,
        expression: &Expression,
    ) -> Result<Meaning, Diagnostic> {
        let flat = |values: Vec<Operand>| Ok(Meaning::Value(Value::Flat(values.into())));
        match *expression {
            Expression::Unary { op, expr } => {
                let shape = self.shape_of(expr)?;
                let values = self.scalars(expr)?;
                flat(self.unary(op, shape, &values)?)
            }
            Expression::Binary { op, left, right } => {
                let shapes = (self.shape_of(left)?, self.shape_of(right)?);
                let (left, right) = (self.scalars(left)?, self.scalars(right)?);
                let values = self.binary(op, shapes, &left, &right)?;
                flat(if operator_rounds(op) { self.rounded_to(shapes.0, values) } else { values })
            }
            Expression::Select { condition, accept, reject } => {
                let condition = self.scalars(condition)?;
                let (accept, reject) = (self.scalars(accept)?, self.scalars(reject)?);
                let pairs = accept.iter().zip(reject.iter()).enumerate();
                // Of several conditions each is that of a component, which may be two words.
                let each = if condition.len() > 1 { accept.len().div_ceil(condition.len()) } else { 1 };
                let first = condition.first().copied().unwrap_or(Operand::Bool(false));
                flat(
                    pairs
                        .map(|(at, (&a, &r))| self.b.select(condition.get(at / each).copied().unwrap_or(first), a, r))
                        .collect(),
                )
            }
            Expression::Relational { fun, argument } => {
                let values = self.scalars(argument)?;
                flat(self.relational(fun, &values)?)
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let mut arguments = Vec::new();
                for argument in [Some(arg), arg1, arg2, arg3].into_iter().flatten() {
                    arguments.push(self.scalars(argument)?);
                }
                let (shape, result) = (self.shape_of(arg)?, self.shape_of(handle)?);
                let values = self.math(fun, shape, result, &arguments)?;
                flat(if function_rounds(fun) { self.rounded_to(result, values) } else { values })
            }
            Expression::As { expr, convert, .. } => {
                let (from, to) = (self.shape_of(expr)?, self.shape_of(handle)?);
                let values = self.scalars(expr)?;
                let values = self.cast(from, self.scalar_of(to)?, convert, &values)?;
                flat(self.rounded_to(to, values))
            }
            Expression::ArrayLength(pointer) => {
                let place = self.place(pointer)?;
                let last = Operand::Builtin(Builtin::Last(self.binding_of(&place)?));
                flat(vec![self.b.op(Op::Add, &[last, Operand::I32(1)])])
            }
            _ => self.refuse(expression),
        }
    }

    /// Expressions that there is no code for.
    fn refuse(&self, expression: &Expression) -> Result<Meaning, Diagnostic> {
        match expression {
            Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. } => {
                Err(self.defect("a result that is used before it is there"))
            }
            Expression::Derivative { .. } => self.unsupported("derivatives"),
            Expression::ImageSample { .. } | Expression::ImageLoad { .. } | Expression::ImageQuery { .. } => {
                self.unsupported("textures")
            }
            Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryProceedResult
            | Expression::RayQueryGetIntersection { .. } => self.unsupported("ray tracing"),
            Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
                self.unsupported("cooperative matrices")
            }
            _ => Err(self.defect("an expression that was evaluated elsewhere")),
        }
    }

    fn global(&mut self, variable: Handle<naga::GlobalVariable>) -> Result<Place, Diagnostic> {
        let declared = &self.cx.module.global_variables[variable];
        let globals = &self.cx.globals;
        let base = match declared.space {
            naga::AddressSpace::Private => return self.private(variable),
            naga::AddressSpace::Immediate => {
                let shape = self.cx.layouts.shape(declared.ty)?;
                return Ok(Place { shape, root: Root::Constants { index: None, offset: 0 } });
            }
            naga::AddressSpace::WorkGroup => globals.workgroup.get(&variable).map(|&offset| (Base::Workgroup, offset)),
            naga::AddressSpace::Storage { .. } | naga::AddressSpace::Uniform => {
                globals.bindings.get(&variable).map(|&binding| (Base::Binding(binding), 0))
            }
            _ => return self.unsupported("a global that is no buffer (a texture, a sampler)"),
        };
        let (base, offset) = base.ok_or_else(|| self.defect("a global that the analysis says is not used"))?;
        let shape = self.cx.layouts.shape(declared.ty)?;
        Ok(Place { shape, root: Root::Memory(Address::start(base).plus(offset)) })
    }

    /// `base[index]`, of a pointer or of a value.
    fn access(&mut self, base: Handle<Expression>, index: Operand) -> Result<Meaning, Diagnostic> {
        match self.meaning(base)? {
            Meaning::Place(place) => Ok(Meaning::Place(self.part_of(&place, index)?)),
            Meaning::Value(value) => {
                let shape = self.shape_of(base)?;
                Ok(Meaning::Value(self.value_part(&value, shape, index)?))
            }
        }
    }

    fn value_part(&mut self, value: &Value, shape: Shape, index: Operand) -> Result<Value, Diagnostic> {
        match value {
            Value::Zero => {
                let part = self.cx.layouts.part(shape, 0)?.shape;
                if self.cx.layouts.is_flat(part) { Ok(Value::Flat(self.zeros(part)?.into())) } else { Ok(Value::Zero) }
            }
            Value::Stored(object) => {
                let place = Self::object_place(*object, shape);
                let part = self.part_of(&place, index)?;
                self.load(&part)
            }
            Value::Flat(values) => match index {
                Operand::I32(index) => {
                    let index = index.min(self.last_index(shape));
                    let part = self.cx.layouts.part(shape, index)?;
                    let (start, count) = (part.before as usize, self.cx.layouts.scalars(part.shape) as usize);
                    match values.get(start..start + count) {
                        Some(values) => Ok(Value::Flat(values.into())),
                        None => Err(self.defect("a part lies outside of its value")),
                    }
                }
                _ => self.computed_value_part(values, shape, index),
            },
        }
    }

    fn last_index(&self, shape: Shape) -> u32 {
        match shape {
            Shape::Vector { size, .. } => size - 1,
            Shape::Matrix { columns, .. } => columns - 1,
            Shape::Array { count: Some(count), .. } => count - 1,
            _ => u32::MAX,
        }
    }

    /// A part of a value by a computed index. Arrays go through memory: as a table if they are constant.
    fn computed_value_part(
        &mut self,
        values: &Rc<[Operand]>,
        shape: Shape,
        index: Operand,
    ) -> Result<Value, Diagnostic> {
        if let Shape::Array { .. } = shape {
            let object = match self.table_of(values, shape)? {
                Some(table) => table,
                None => {
                    let object = self.new_object(shape);
                    self.store(&Self::object_place(object, shape), &Value::Flat(values.clone()))?;
                    object
                }
            };
            let part = self.part_of(&Self::object_place(object, shape), index)?;
            return self.load(&part);
        }
        let index = self.b.op(Op::MinU, &[index, Operand::I32(self.last_index(shape))]);
        let part = self.cx.layouts.part(shape, 0)?.shape;
        let each = self.cx.layouts.scalars(part).max(1) as usize;
        let mut chosen: Vec<Operand> = values.iter().copied().take(each).collect();
        for (number, group) in (0u32..).zip(values.chunks(each)).skip(1) {
            let here = self.b.op(Op::Eq, &[index, Operand::I32(number)]);
            for (slot, &value) in chosen.iter_mut().zip(group) {
                *slot = self.b.select(here, value, *slot);
            }
        }
        Ok(Value::Flat(chosen.into()))
    }

    fn compose(&mut self, ty: Handle<naga::Type>, components: &[Handle<Expression>]) -> Result<Meaning, Diagnostic> {
        let shape = self.cx.layouts.shape(ty)?;
        if self.cx.layouts.is_flat(shape) {
            let mut values = Vec::new();
            for &component in components {
                values.extend(self.scalars(component)?.iter().copied());
            }
            return Ok(Meaning::Value(Value::Flat(values.into())));
        }
        let object = self.new_object(shape);
        let place = Self::object_place(object, shape);
        for (index, &component) in (0u32..).zip(components) {
            let value = self.value(component)?;
            let part = self.part_of(&place, Operand::I32(index))?;
            self.store(&part, &value)?;
        }
        Ok(Meaning::Value(Value::Stored(object)))
    }

    fn swizzle(
        &mut self,
        vector: Handle<Expression>,
        pattern: [SwizzleComponent; 4],
        size: usize,
    ) -> Result<Meaning, Diagnostic> {
        let each = words(self.scalar_of(self.shape_of(vector)?)?) as usize;
        let values = self.scalars(vector)?;
        let picked: Option<Vec<_>> =
            pattern.iter().take(size).map(|&component| values.chunks(each).nth(component as usize)).collect();
        match picked {
            Some(values) => Ok(Meaning::Value(Value::Flat(values.concat().into()))),
            None => Err(self.defect("a swizzle of components that are not there")),
        }
    }

    fn relational(&mut self, fun: RelationalFunction, values: &[Operand]) -> Result<Vec<Operand>, Diagnostic> {
        let combined = match fun {
            RelationalFunction::All => Some(Op::And),
            RelationalFunction::Any => Some(Op::Or),
            RelationalFunction::IsNan | RelationalFunction::IsInf => None,
        };
        if let Some(op) = combined {
            let mut result = values.first().copied().ok_or_else(|| self.defect("a relation of nothing"))?;
            for &value in values.iter().skip(1) {
                result = self.b.op(op, &[result, value]);
            }
            return Ok(vec![result]);
        }
        Ok(values
            .iter()
            .map(|&value| match fun {
                RelationalFunction::IsNan => self.b.op(Op::FNe, &[value, value]),
                _ => {
                    let size = self.b.op(Op::FAbs, &[value]);
                    self.b.op(Op::FEq, &[size, Operand::float(f32::INFINITY)])
                }
            })
            .collect())
    }

    /// The register type of a shape's scalars, where they are all of one type.
    pub(crate) fn scalar_of(&self, shape: Shape) -> Result<naga::Scalar, Diagnostic> {
        match shape {
            Shape::Scalar(scalar)
            | Shape::Atomic(scalar)
            | Shape::Vector { scalar, .. }
            | Shape::Matrix { scalar, .. } => Ok(scalar),
            Shape::Array { .. } | Shape::Struct(_) => Err(self.defect("an operator on a composite")),
        }
    }
}

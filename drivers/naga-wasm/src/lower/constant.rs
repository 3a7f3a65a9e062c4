//! Constant expressions, and the tables that large ones become.

use naga::{Expression, Handle, Literal};

use super::half::half_bits;
use super::{Lowerer, Value, wide};
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Object, ObjectId, Operand};
use crate::layout::{MAX_TYPE_DEPTH, Shape, cell_of, is_half, words};

/// Constants that refer to constants may do so this deep.
const MAX_CONSTANT_DEPTH: u32 = 4 * MAX_TYPE_DEPTH;

/// Scalars in one constant. Beyond it the module's size limit is out of reach anyway.
const MAX_CONSTANT_SCALARS: u32 = 256 << 10;

/// Bytes of one constant, for the same reason; its scalars may lie far apart.
const MAX_TABLE_BYTES: u32 = 1 << 20;

impl Lowerer<'_, '_> {
    pub(crate) fn literal(&self, literal: Literal) -> Result<Vec<Operand>, Diagnostic> {
        Ok(match literal {
            Literal::F32(value) => vec![Operand::float(value)],
            Literal::F16(value) => vec![Operand::float(value.to_f32())],
            Literal::U32(value) => vec![Operand::I32(value)],
            Literal::I32(value) => vec![Operand::I32(value.cast_unsigned())],
            Literal::U64(value) => wide::literal(value),
            Literal::I64(value) => wide::literal(value.cast_unsigned()),
            Literal::Bool(value) => vec![Operand::Bool(value)],
            _ => return self.unsupported("a literal of `f64`, `i16` or `u16`"),
        })
    }

    pub(crate) fn unresolved_override(&self) -> Diagnostic {
        let message = "an override without a value; resolve the overrides first";
        Diagnostic::new(Kind::Invalid, message, Some(self.span))
    }

    /// The value of a constant expression of the module.
    pub(crate) fn constant(&mut self, handle: Handle<Expression>) -> Result<Value, Diagnostic> {
        let ty = &self.cx.info[handle];
        let shape = self.cx.layouts.shape_of(ty.inner_with(&self.cx.module.types), ty.handle(), self.span)?;
        if matches!(self.cx.module.global_expressions[handle], Expression::ZeroValue(_))
            && !self.cx.layouts.is_flat(shape)
        {
            return Ok(Value::Zero);
        }
        if self.cx.layouts.scalars(shape) > MAX_CONSTANT_SCALARS {
            let message = format!("a constant of more than {MAX_CONSTANT_SCALARS} scalars");
            return Err(Diagnostic::new(Kind::Limit, message, Some(self.span)));
        }
        if let Some(&table) = self.unit.constants.get(&handle) {
            return Ok(Value::Stored(table));
        }
        let mut values = Vec::new();
        self.constant_scalars(handle, 0, &mut values)?;
        if self.cx.layouts.is_flat(shape) {
            return Ok(Value::Flat(values.into()));
        }
        match self.table_of(&values, shape)? {
            Some(table) => {
                self.unit.constants.insert(handle, table);
                Ok(Value::Stored(table))
            }
            None => Err(self.defect("a constant that is not constant")),
        }
    }

    fn constant_scalars(
        &mut self,
        handle: Handle<Expression>,
        depth: u32,
        values: &mut Vec<Operand>,
    ) -> Result<(), Diagnostic> {
        if depth > MAX_CONSTANT_DEPTH {
            let message = format!("constants refer to constants more than {MAX_CONSTANT_DEPTH} deep");
            return Err(Diagnostic::new(Kind::Limit, message, Some(self.span)));
        }
        let module = self.cx.module;
        match module.global_expressions[handle] {
            Expression::Literal(literal) => values.extend(self.literal(literal)?),
            Expression::Constant(constant) => {
                self.constant_scalars(module.constants[constant].init, depth + 1, values)?;
            }
            Expression::ZeroValue(ty) => self.zero_scalars(self.cx.layouts.shape(ty)?, values)?,
            Expression::Compose { ref components, .. } => {
                for &component in components {
                    self.constant_scalars(component, depth + 1, values)?;
                }
            }
            Expression::Splat { size, value } => {
                let mut one = Vec::new();
                self.constant_scalars(value, depth + 1, &mut one)?;
                for _ in 0..size as u32 {
                    values.extend_from_slice(&one);
                }
            }
            Expression::Swizzle { size, vector, pattern } => {
                let mut all = Vec::new();
                self.constant_scalars(vector, depth + 1, &mut all)?;
                let ty = &self.cx.info[vector];
                let shape = self.cx.layouts.shape_of(ty.inner_with(&module.types), ty.handle(), self.span)?;
                let each = words(self.scalar_of(shape)?) as usize;
                let picked = pattern.iter().take(size as usize).filter_map(|&at| all.chunks(each).nth(at as usize));
                values.extend(picked.flatten());
            }
            Expression::Override(_) => return Err(self.unresolved_override()),
            _ => return self.unsupported("a constant expression that the front end did not evaluate"),
        }
        Ok(())
    }

    fn zero_scalars(&self, shape: Shape, values: &mut Vec<Operand>) -> Result<(), Diagnostic> {
        match shape {
            Shape::Array { base, count, .. } if !self.cx.layouts.is_flat(shape) => {
                let element = self.cx.layouts.shape(base)?;
                for _ in 0..count.unwrap_or(0) {
                    self.zero_scalars(element, values)?;
                }
            }
            _ => values.extend(self.zeros(shape)?),
        }
        Ok(())
    }

    /// An object that holds `values` from the start, if they are all constant.
    pub(crate) fn table_of(&mut self, values: &[Operand], shape: Shape) -> Result<Option<ObjectId>, Diagnostic> {
        let contents: Option<Vec<u32>> = values
            .iter()
            .map(|value| match *value {
                Operand::I32(bits) | Operand::F32(bits) => Some(bits),
                Operand::Bool(value) => Some(u32::from(value)),
                Operand::Reg(_) | Operand::Builtin(_) => None,
            })
            .collect();
        let Some(contents) = contents else { return Ok(None) };
        let (size, align) = self.cx.layouts.size(shape);
        if size > MAX_TABLE_BYTES {
            let message = format!("a constant of {size} bytes, more than {MAX_TABLE_BYTES}");
            return Err(Diagnostic::new(Kind::Limit, message, Some(self.span)));
        }
        let mut bytes = vec![0; size as usize];
        self.place_words(shape, 0, &mut contents.into_iter(), &mut bytes)?;
        if let Some(&object) = self.unit.tables.get(&bytes) {
            return Ok(Some(object));
        }
        let table = Object { size, align: align.max(4), table: Some(bytes.clone()), shared: false };
        let object = self.unit.object(table);
        self.unit.tables.insert(bytes, object);
        Ok(Some(object))
    }

    fn place_words(
        &self,
        shape: Shape,
        at: u32,
        words: &mut impl Iterator<Item = u32>,
        bytes: &mut [u8],
    ) -> Result<(), Diagnostic> {
        if let Shape::Array { base, count, stride } = shape
            && !self.cx.layouts.is_flat(shape)
        {
            let element = self.cx.layouts.shape(base)?;
            for index in 0..count.unwrap_or(0) {
                self.place_words(element, at + index * stride, words, bytes)?;
            }
            return Ok(());
        }
        if let Shape::Struct(_) = shape
            && !self.cx.layouts.is_flat(shape)
        {
            let mut index = 0;
            while let Ok(part) = self.cx.layouts.part(shape, index) {
                self.place_words(part.shape, at + part.offset, words, bytes)?;
                index += 1;
            }
            return Ok(());
        }
        for leaf in self.cx.layouts.leaves(shape)?.iter() {
            let word = words.next().ok_or_else(|| self.defect("a constant with too few parts"))?;
            let width = cell_of(leaf.scalar).bytes() as usize;
            let word = if is_half(leaf.scalar) { half_bits(word) } else { word };
            let start = (at + leaf.offset) as usize;
            let target = bytes.get_mut(start..start + width);
            let source = word.to_le_bytes();
            match (target, source.get(..width)) {
                (Some(target), Some(source)) => target.copy_from_slice(source),
                _ => return Err(self.defect("a constant larger than its type")),
            }
        }
        Ok(())
    }
}

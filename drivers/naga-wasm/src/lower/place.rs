//! What a pointer names, and reading and writing it. Every computed index is brought into range here, before it is used.

use std::rc::Rc;

use naga::Span;

use super::{Lowerer, Value};
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{Address, AtomicOp, Base, Builtin, Cell, Inst, Object, ObjectId, Op, Operand, Reg, Ty};
use crate::layout::{Shape, cell_of, ty_of, unsupported};

/// What a pointer names.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) shape: Shape,
    pub(crate) root: Root,
}

/// Where a place is.
#[derive(Clone, Debug)]
pub(crate) enum Root {
    /// Registers, in the order of the shape's scalars.
    Regs(Rc<[Reg]>),
    /// One of several groups of registers: a component chosen by a computed index, which is in range.
    Choice {
        index: Operand,
        options: Rc<[Rc<[Reg]>]>,
    },
    Memory(Address),
    /// The constants: `index + offset` bytes into them.
    Constants {
        index: Option<Operand>,
        offset: u32,
    },
}

impl Lowerer<'_, '_> {
    /// A new piece of scratch memory for a value of `shape`.
    pub(crate) fn new_object(&mut self, shape: Shape) -> ObjectId {
        let (size, align) = self.cx.layouts.size(shape);
        self.unit.object(Object { size, align: align.max(4), table: None, shared: false })
    }

    pub(crate) fn object_place(object: ObjectId, shape: Shape) -> Place {
        Place { shape, root: Root::Memory(Address::start(Base::Object(object))) }
    }

    /// Part of a place, by an index that is a constant or computed. Out of range it names the last part.
    pub(crate) fn part_of(&mut self, place: &Place, index: Operand) -> Result<Place, Diagnostic> {
        let last = self.last_part(place)?;
        let constant = match (index, last) {
            // `run` has made sure that there is an element 0.
            (Operand::I32(0), _) | (_, Some(Operand::I32(0))) => 0,
            (Operand::I32(index), None) => index,
            (Operand::I32(index), Some(Operand::I32(last))) => index.min(last),
            (_, Some(last)) => return self.computed_part(place, index, last),
            (_, None) => return Err(self.defect("a computed member")),
        };
        let part = self.cx.layouts.part(place.shape, constant)?;
        let root = match &place.root {
            Root::Regs(regs) => Root::Regs(self.slice(regs, part.before, part.shape)?),
            Root::Choice { index, options } => {
                let options: Result<Vec<_>, _> =
                    options.iter().map(|regs| self.slice(regs, part.before, part.shape)).collect();
                Root::Choice { index: *index, options: options?.into() }
            }
            Root::Memory(address) => Root::Memory(address.plus(part.offset)),
            Root::Constants { index, offset } => Root::Constants { index: *index, offset: offset + part.offset },
        };
        Ok(Place { shape: part.shape, root })
    }

    fn slice(&self, regs: &[Reg], before: u32, shape: Shape) -> Result<Rc<[Reg]>, Diagnostic> {
        let start = before as usize;
        let end = start + self.cx.layouts.scalars(shape) as usize;
        regs.get(start..end).map(Rc::from).ok_or_else(|| self.defect("a part lies outside of its variable"))
    }

    /// The number of the last part of a place; none for a structure.
    fn last_part(&self, place: &Place) -> Result<Option<Operand>, Diagnostic> {
        let count = match place.shape {
            Shape::Vector { size, .. } => size,
            Shape::Matrix { columns, .. } => columns,
            Shape::Array { count: Some(count), .. } => count,
            Shape::Array { count: None, .. } => {
                return Ok(Some(Operand::Builtin(Builtin::Last(self.binding_of(place)?))));
            }
            Shape::Struct(_) => return Ok(None),
            Shape::Scalar(_) | Shape::Atomic(_) => return Err(self.defect("a scalar has no parts")),
        };
        Ok(Some(Operand::I32(count.saturating_sub(1))))
    }

    /// The binding that a runtime array lies in.
    pub(crate) fn binding_of(&self, place: &Place) -> Result<u32, Diagnostic> {
        match place.root {
            Root::Memory(Address { base: Base::Binding(binding), .. }) => Ok(binding),
            _ => Err(self.defect("a runtime array outside of a binding")),
        }
    }

    fn computed_part(&mut self, place: &Place, index: Operand, last: Operand) -> Result<Place, Diagnostic> {
        let part = self.cx.layouts.part(place.shape, 0)?;
        let stride = match place.shape {
            Shape::Array { stride, .. } => stride,
            Shape::Vector { .. } | Shape::Matrix { .. } => self.cx.layouts.part(place.shape, 1)?.offset,
            _ => return Err(self.defect("a computed member")),
        };
        if let Root::Memory(address) = &place.root {
            return Ok(Place { shape: part.shape, root: Root::Memory(address.indexed(index, last, stride)) });
        }
        let index = self.b.op(Op::MinU, &[index, last]);
        let root = match &place.root {
            Root::Constants { index: before, offset } => {
                let scaled = self.b.op(Op::Mul, &[index, Operand::I32(stride)]);
                let index = match before {
                    Some(before) => self.b.op(Op::Add, &[*before, scaled]),
                    None => scaled,
                };
                Root::Constants { index: Some(index), offset: *offset }
            }
            Root::Choice { index: outer, options } => {
                let inner: Vec<_> = options.iter().flat_map(|regs| self.split(regs, part.shape).to_vec()).collect();
                let each = u32::try_from(inner.len() / options.len().max(1)).unwrap_or(0);
                let scaled = self.b.op(Op::Mul, &[*outer, Operand::I32(each)]);
                let index = self.b.op(Op::Add, &[scaled, index]);
                Root::Choice { index, options: inner.into() }
            }
            Root::Regs(regs) => Root::Choice { index, options: self.split(regs, part.shape) },
            Root::Memory(_) => return Err(self.defect("a place in memory that is not")),
        };
        Ok(Place { shape: part.shape, root })
    }

    fn split(&self, regs: &[Reg], part: Shape) -> Rc<[Rc<[Reg]>]> {
        let each = self.cx.layouts.scalars(part).max(1) as usize;
        regs.chunks(each).map(Rc::from).collect()
    }

    /// The value at a place.
    pub(crate) fn load(&mut self, place: &Place) -> Result<Value, Diagnostic> {
        if !self.cx.layouts.is_flat(place.shape) {
            return self.load_large(place);
        }
        if let (Shape::Atomic(scalar), Root::Memory(address)) = (place.shape, &place.root) {
            let zero = Operand::I32(0);
            let value = self.atomic(AtomicOp::Load, address.clone(), zero, zero);
            let value = if ty_of(scalar) == Ty::F32 { self.b.op(Op::ToFloat, &[value]) } else { value };
            return Ok(Value::Flat(vec![value].into()));
        }
        let leaves = self.cx.layouts.leaves(place.shape)?;
        let mut values = Vec::with_capacity(leaves.len());
        match &place.root {
            Root::Regs(regs) => values.extend(regs.iter().map(|&reg| self.b.read(reg))),
            Root::Choice { index, options } => {
                for at in 0..leaves.len() {
                    values.push(self.choose(*index, options, at)?);
                }
            }
            Root::Memory(address) => {
                for leaf in leaves.iter() {
                    values.push(self.load_leaf(*leaf, address));
                }
            }
            Root::Constants { index, offset } => {
                for leaf in leaves.iter() {
                    let word = self.constant_word(*index, offset + leaf.offset);
                    values.push(match cell_of(leaf.scalar) {
                        Cell::F32 => self.b.op(Op::ToFloat, &[word]),
                        Cell::Half => return Err(self.defect("an `f16` among the constants")),
                        Cell::I32 | Cell::Byte => word,
                    });
                }
            }
        }
        Ok(Value::Flat(values.into()))
    }

    fn constant_word(&mut self, index: Option<Operand>, offset: u32) -> Operand {
        let word = offset / 4;
        match index {
            None => Operand::Builtin(Builtin::Constant(word)),
            Some(index) => {
                let index = self.b.op(Op::ShrU, &[index, Operand::I32(2)]);
                let index = self.b.op(Op::Add, &[index, Operand::I32(word)]);
                self.b.op(Op::ConstantWord, &[index])
            }
        }
    }

    fn choose(&mut self, index: Operand, options: &[Rc<[Reg]>], at: usize) -> Result<Operand, Diagnostic> {
        let mut chosen = None;
        for (number, regs) in options.iter().enumerate() {
            let Some(&reg) = regs.get(at) else { return Err(self.defect("a choice of unequal parts")) };
            let value = self.b.read(reg);
            chosen = Some(match chosen {
                None => value,
                Some(before) => {
                    let number = u32::try_from(number).unwrap_or(u32::MAX);
                    let here = self.b.op(Op::Eq, &[index, Operand::I32(number)]);
                    self.b.select(here, value, before)
                }
            });
        }
        chosen.ok_or_else(|| self.defect("a choice of nothing"))
    }

    fn load_large(&mut self, place: &Place) -> Result<Value, Diagnostic> {
        let Root::Memory(from) = &place.root else {
            return Err(unsupported("a large value outside of memory", self.span));
        };
        if matches!(place.shape, Shape::Array { count: None, .. }) {
            return Err(self.defect("a runtime array is read as a whole"));
        }
        let object = self.new_object(place.shape);
        let to = Address::start(Base::Object(object));
        let (length, _) = self.cx.layouts.size(place.shape);
        let grain = self.cx.layouts.grain(place.shape);
        self.b.inst(Inst::Move { to, from: from.clone(), length, grain });
        Ok(Value::Stored(object))
    }

    /// Writes a value to a place.
    pub(crate) fn store(&mut self, place: &Place, value: &Value) -> Result<(), Diagnostic> {
        match value {
            Value::Flat(values) => self.store_flat(place, values),
            Value::Zero => self.store_zero(place),
            Value::Stored(object) => {
                let Root::Memory(to) = &place.root else {
                    return Err(unsupported("a large value outside of memory", self.span));
                };
                let from = Address::start(Base::Object(*object));
                let (length, _) = self.cx.layouts.size(place.shape);
                let grain = self.cx.layouts.grain(place.shape);
                self.b.inst(Inst::Move { to: to.clone(), from, length, grain });
                Ok(())
            }
        }
    }

    fn store_zero(&mut self, place: &Place) -> Result<(), Diagnostic> {
        match &place.root {
            Root::Memory(address) if self.cx.layouts.scalars(place.shape) > 8 => {
                let (length, _) = self.cx.layouts.size(place.shape);
                self.b.inst(Inst::Fill { address: address.clone(), length });
                Ok(())
            }
            _ => {
                let zeros = self.zeros(place.shape)?;
                self.store_flat(place, &zeros)
            }
        }
    }

    /// Zeros of the types of a shape's scalars.
    pub(crate) fn zeros(&self, shape: Shape) -> Result<Vec<Operand>, Diagnostic> {
        let leaves = self.cx.layouts.leaves(shape)?;
        Ok(leaves
            .iter()
            .map(|leaf| match ty_of(leaf.scalar) {
                Ty::F32 => Operand::F32(0),
                Ty::I32 => Operand::I32(0),
                Ty::Bool => Operand::Bool(false),
            })
            .collect())
    }

    fn store_flat(&mut self, place: &Place, values: &[Operand]) -> Result<(), Diagnostic> {
        if let (Shape::Atomic(_), Root::Memory(address), [value]) = (place.shape, &place.root, values) {
            let (address, value) = (address.clone(), self.atomic_operand(*value));
            self.b.inst(Inst::Atomic { dst: None, op: AtomicOp::Store, address, value, compare: Operand::I32(0) });
            return Ok(());
        }
        match &place.root {
            Root::Regs(regs) => {
                for (&reg, &value) in regs.iter().zip(values) {
                    self.b.copy(reg, value);
                }
            }
            Root::Choice { index, options } => {
                for (number, regs) in options.iter().enumerate() {
                    let number = u32::try_from(number).unwrap_or(u32::MAX);
                    let here = self.b.op(Op::Eq, &[*index, Operand::I32(number)]);
                    for (&reg, &value) in regs.iter().zip(values) {
                        let before = self.b.read(reg);
                        let value = self.b.select(here, value, before);
                        self.b.copy(reg, value);
                    }
                }
            }
            Root::Memory(address) => {
                let leaves = self.cx.layouts.leaves(place.shape)?;
                for (leaf, &value) in leaves.iter().zip(values) {
                    self.store_leaf(*leaf, address, value);
                }
            }
            Root::Constants { .. } => return Err(self.defect("a write to the constants")),
        }
        Ok(())
    }

    /// Something that a validated module cannot hold; better refused than compiled to something else.
    pub(crate) fn defect(&self, what: &str) -> Diagnostic {
        let message = format!("{what}: the module does not pass validation, or this is a defect of the compiler");
        Diagnostic::new(Kind::Invalid, message, Some(self.span))
    }

    pub(crate) fn unsupported<T>(&self, what: &str) -> Result<T, Diagnostic> {
        Err(unsupported(what, self.span))
    }

    pub(crate) fn at(&mut self, span: Span) {
        if span.is_defined() {
            self.span = span;
        }
    }
}

//! Where memory accesses go: what an [`Address`] is in each lane of a gang.

use super::body::{Body, Target, defect};
use super::module::Emitter;
use super::value::{splat, steps};
use crate::diagnostic::Diagnostic;
use crate::ir::{Address, Base, Cell, LANES, Operand, Term};
use crate::passes::slots::Home;
use crate::passes::variance::{self, MAX_STRIDE};

/// How far the lanes of a gang reach.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    /// All to one place.
    One,
    /// Each to its copy of one place in an object: the cells of the lanes lie side by side.
    Copies,
    /// Each so many bytes further than the one before, if the guard holds. Then the first lane's address is not clamped.
    Steps(u32, Option<Guard>),
    /// Anywhere.
    Any,
}

/// What shows that the index of every lane keeps to its limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    pub(super) index: Operand,
    pub(super) last: Operand,
    /// How much further the last lane's index is.
    pub(super) span: u32,
}

impl Body {
    /// Whether an access is to an object with a copy for each lane.
    pub(super) fn has_copies(&self, emitter: &Emitter, address: &Address) -> bool {
        matches!(address.base, Base::Object(object) if !emitter.layout.is_single(object))
    }

    /// How far the lanes reach with an access.
    pub(super) fn reach(&self, emitter: &Emitter, address: &Address, cell: Cell) -> Reach {
        if self.target == Target::Other {
            return Reach::One;
        }
        let copies = self.has_copies(emitter, address);
        if copies && cell.is_part() && !address.terms.is_empty() {
            return Reach::Any;
        }
        let mut apart = address.terms.iter().filter(|term| !self.is_same(term));
        match (apart.next(), apart.next()) {
            (None, _) if copies => Reach::Copies,
            (None, _) => Reach::One,
            (Some(term), None) => self.steps(term, copies, address.offset),
            (Some(_), Some(_)) => Reach::Any,
        }
    }

    /// Whether a term is the same in all lanes.
    fn is_same(&self, term: &Term) -> bool {
        variance::is_same(&self.variances, self.workgroup_size, term)
    }

    /// The reach of an access with one term that differs between lanes.
    fn steps(&self, term: &Term, copies: bool, offset: u32) -> Reach {
        let Some(stride) = self.variance(term.index).stride else { return Reach::Any };
        let step = stride
            .checked_mul(term.stride)
            .and_then(|step| if copies { step.checked_mul(LANES)?.checked_add(4) } else { Some(step) });
        let Some(step) = step.filter(|&step| step <= MAX_STRIDE && stride <= MAX_STRIDE) else { return Reach::Any };
        if offset.checked_mul(LANES).and_then(|offset| offset.checked_add(4 * MAX_STRIDE)).is_none() {
            return Reach::Any;
        }
        let Some(last) = term.last else { return Reach::Steps(step, None) };
        let span = stride * (LANES - 1);
        match last {
            Operand::I32(last) if last < span => Reach::Any,
            _ if !self.variance(last).is_gang() => Reach::Any,
            _ => Reach::Steps(step, Some(Guard { index: term.index, last, span })),
        }
    }

    /// Pushes whether a guard holds.
    pub(super) fn guard(&mut self, emitter: &Emitter, guard: Guard) -> Result<(), Diagnostic> {
        let Guard { index, last, span } = guard;
        self.below(emitter, index, last, span.wrapping_sub(1), false)
    }

    /// Pushes whether the first lane's `number` and `span` more are less than `limit`, without overflow. What is not the
    /// number is computed for itself, so that it can move out of loops.
    pub(super) fn below(
        &mut self,
        emitter: &Emitter,
        number: Operand,
        limit: Operand,
        span: u32,
        signed: bool,
    ) -> Result<(), Diagnostic> {
        self.scalar(emitter, number)?;
        let least = if signed { i32::MIN } else { 0 };
        match limit {
            _ if span == 0 => self.scalar(emitter, limit)?,
            Operand::I32(limit) => {
                let reachable = if signed {
                    limit.cast_signed().checked_sub_unsigned(span).unwrap_or(least)
                } else {
                    limit.saturating_sub(span).cast_signed()
                };
                self.code().i32_const(reachable);
            }
            _ => {
                self.scalar(emitter, limit)?;
                self.code().i32_const(span.cast_signed()).i32_sub().i32_const(least);
                self.scalar(emitter, limit)?;
                self.code().i32_const(least.wrapping_add_unsigned(span));
                let mut code = self.code();
                if signed { code.i32_gt_s() } else { code.i32_gt_u() }.select();
            }
        }
        let mut code = self.code();
        if signed {
            code.i32_lt_s()
        } else {
            code.i32_lt_u()
        };
        Ok(())
    }

    /// Pushes the address of the first lane, clamped if the lanes do not part; returns the offset to add.
    pub(super) fn place(&mut self, emitter: &Emitter, address: &Address, cell: Cell) -> Result<u32, Diagnostic> {
        let start = self.base(emitter, address.base)?;
        if !self.has_copies(emitter, address) {
            for term in &address.terms {
                let clamp = self.is_same(term);
                self.term(emitter, term, term.stride, clamp)?;
                self.code().i32_add();
            }
            return Ok(start.wrapping_add(address.offset));
        }
        if self.target == Target::Other {
            self.code().global_get(emitter.globals.lane).i32_add();
        }
        if cell.is_part() && !address.terms.is_empty() {
            self.offset_of_one(emitter, address)?;
            let offset = self.temporary(wasm_encoder::ValType::I32);
            self.code().local_tee(offset).i32_const(-4).i32_and().i32_const(2).i32_shl().i32_add();
            self.code().local_get(offset).i32_const(3).i32_and().i32_add();
            return Ok(start);
        }
        for term in &address.terms {
            let clamp = self.is_same(term);
            self.term(emitter, term, term.stride.wrapping_mul(LANES), clamp)?;
            self.code().i32_add();
        }
        Ok(start.wrapping_add(in_copies(address.offset)))
    }

    /// Pushes the address of a base; returns the offset to add.
    pub(super) fn base(&mut self, emitter: &Emitter, base: Base) -> Result<u32, Diagnostic> {
        let globals = emitter.globals;
        match base {
            Base::Binding(binding) => {
                self.fixed(self.builtins.base_of(binding), globals.base(binding));
                Ok(0)
            }
            Base::Workgroup => {
                self.fixed(self.builtins.scratch(), globals.scratch);
                Ok(0)
            }
            Base::Object(object) => match emitter.layout.home(object) {
                Some(Home::Scratch(at)) => {
                    self.fixed(self.builtins.scratch(), globals.scratch);
                    Ok(at)
                }
                Some(Home::Context(at)) => {
                    self.local_or_global(self.builtins.context(), globals.context);
                    Ok(at)
                }
                None => Err(defect("an object without a place")),
            },
        }
    }

    /// Pushes a term for the first lane.
    fn term(&mut self, emitter: &Emitter, term: &Term, stride: u32, clamp: bool) -> Result<(), Diagnostic> {
        self.scalar(emitter, term.index)?;
        if let (Some(last), true) = (term.last, clamp) {
            self.scalar(emitter, last)?;
            self.scalar(emitter, term.index)?;
            self.scalar(emitter, last)?;
            self.code().i32_lt_u().select();
        }
        self.scale(stride);
        Ok(())
    }

    /// Multiplies a scalar by a constant.
    fn scale(&mut self, stride: u32) {
        if stride.is_power_of_two() {
            if stride > 1 {
                self.code().i32_const(stride.trailing_zeros().cast_signed()).i32_shl();
            }
        } else {
            self.code().i32_const(stride.cast_signed()).i32_mul();
        }
    }

    /// Pushes how far the first lane's place is from the start of its copy, clamped.
    fn offset_of_one(&mut self, emitter: &Emitter, address: &Address) -> Result<(), Diagnostic> {
        self.code().i32_const(address.offset.cast_signed());
        for term in &address.terms {
            self.term(emitter, term, term.stride, true)?;
            self.code().i32_add();
        }
        Ok(())
    }

    /// Pushes how far the place of each lane is from the start of what it lies in: of its copy, if there are copies. The
    /// index that differs between lanes is taken to be greater by `ahead`.
    pub(super) fn offsets(&mut self, emitter: &Emitter, address: &Address, ahead: u32) -> Result<(), Diagnostic> {
        self.code().i32_const(address.offset.cast_signed());
        for term in address.terms.iter().filter(|term| self.is_same(term)).copied().collect::<Vec<_>>() {
            self.term(emitter, &term, term.stride, true)?;
            self.code().i32_add();
        }
        self.code().i32x4_splat();
        for term in address.terms.iter().filter(|term| !self.is_same(term)).copied().collect::<Vec<_>>() {
            self.vector(emitter, term.index)?;
            if ahead != 0 {
                self.code().v128_const(splat(ahead)).i32x4_add();
            }
            if let Some(last) = term.last {
                self.vector(emitter, last)?;
                self.code().i32x4_min_u();
            }
            if term.stride.is_power_of_two() {
                self.code().i32_const(term.stride.trailing_zeros().cast_signed()).i32x4_shl();
            } else {
                self.code().v128_const(splat(term.stride)).i32x4_mul();
            }
            self.code().i32x4_add();
        }
        Ok(())
    }

    /// Pushes the whole addresses of all lanes, clamped.
    pub(super) fn places(
        &mut self,
        emitter: &Emitter,
        address: &Address,
        cell: Cell,
        ahead: u32,
    ) -> Result<(), Diagnostic> {
        self.offsets(emitter, address, ahead)?;
        if self.has_copies(emitter, address) {
            if cell.is_part() {
                let offsets = self.temporary(wasm_encoder::ValType::V128);
                self.code().local_tee(offsets).v128_const(splat(!3)).v128_and().i32_const(2).i32x4_shl();
                self.code().local_get(offsets).v128_const(splat(3)).v128_and().i32x4_add();
            } else {
                self.code().i32_const(2).i32x4_shl();
            }
            self.code().v128_const(steps(4)).i32x4_add();
        }
        let start = self.base(emitter, address.base)?;
        self.code().i32_const(start.cast_signed()).i32_add().i32x4_splat().i32x4_add();
        Ok(())
    }
}

/// Where a constant offset into a copy lies, with the copies interleaved word by word.
pub(super) fn in_copies(offset: u32) -> u32 {
    (offset & !3).wrapping_mul(LANES) + (offset & 3)
}

//! How a kernel counts its work, and leaves where its budget is used up.

use wasm_encoder::BlockType;

use super::body::{Body, defect};
use super::cost::cost;
use super::module::Emitter;
use crate::diagnostic::Diagnostic;
use crate::ir::{Label, Stmt};

impl Body {
    pub(crate) fn save_budget(&mut self, emitter: &Emitter) {
        if let Some(budget) = self.budget {
            self.code().local_get(budget).global_set(emitter.globals.budget);
        }
    }

    /// A loop of the kernel's.
    pub(super) fn repeat(&mut self, emitter: &mut Emitter, label: Label, body: &[Stmt]) -> Result<(), Diagnostic> {
        let around = self.innermost;
        let units = cost(body, &emitter.costs) + 1;
        self.rounds(emitter, units, vec![label], |this, emitter| {
            this.innermost = this.opened().saturating_sub(1);
            this.list(emitter, body)
        })?;
        self.innermost = around;
        Ok(())
    }

    /// A loop, each round of which is charged for at its start; `body` goes round by a jump to the loop. Where the budget is used up,
    /// control leaves the loop and comes back, with all that goes from round to round in locals: a call in the loop would have
    /// that, and what loops inside use, kept in memory.
    pub(super) fn rounds(
        &mut self,
        emitter: &mut Emitter,
        units: u64,
        labels: Vec<Label>,
        body: impl FnOnce(&mut Self, &mut Emitter) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let Some(budget) = self.budget else {
            if emitter.options.counted {
                return Err(defect("a loop without a budget"));
            }
            self.code().loop_(BlockType::Empty);
            self.open_labels(labels);
            body(self, emitter)?;
            self.close();
            return Ok(());
        };
        self.code().block(BlockType::Empty).loop_(BlockType::Empty).block(BlockType::Empty).loop_(BlockType::Empty);
        (0..3).for_each(|_| self.open_plain());
        self.open_labels(labels);
        self.take(budget, units);
        self.code().br_if(1);
        body(self, emitter)?;
        self.close();
        self.code().br(2);
        self.close();
        self.spend(emitter, budget);
        // They are taken once more: what was owed stays owed, so that a dear round is paid in the end.
        self.code().local_get(budget).i64_const(signed(units)).i64_add().local_set(budget).br(0);
        self.close();
        self.close();
        Ok(())
    }

    /// Takes `units` off the budget, and waits until they are paid; leaves the function if there is no more to be had.
    pub(crate) fn charge(&mut self, emitter: &Emitter, units: u64) {
        let Some(budget) = self.budget else { return };
        self.take(budget, units);
        self.code().if_(BlockType::Empty).loop_(BlockType::Empty);
        self.spend(emitter, budget);
        self.code().local_get(budget).i64_const(0).i64_lt_s().br_if(0).end().end();
    }

    /// Takes `units` off the budget and pushes whether it is used up.
    fn take(&mut self, budget: u32, units: u64) {
        self.code().local_get(budget).i64_const(signed(units)).i64_sub().local_tee(budget).i64_const(0).i64_lt_s();
    }

    /// Asks for more budget; leaves the function if there is none.
    fn spend(&mut self, emitter: &Emitter, budget: u32) {
        self.code().local_get(budget).call(emitter.spend).local_set(budget);
        self.leave_if_stopped(emitter);
    }

    pub(super) fn leave_if_stopped(&mut self, emitter: &Emitter) {
        self.code().global_get(emitter.globals.stopped).if_(BlockType::Empty);
        self.leave_with_zeros(emitter);
        self.code().end();
    }
}

/// Work units as a budget counts them.
fn signed(units: u64) -> i64 {
    i64::try_from(units).unwrap_or(i64::MAX >> 8)
}

//! Cuts a kernel down to what still fails: statements, branches and operands go, one after the other, as long as it does.

use std::time::{Duration, Instant};

use crate::kernel::Kernel;
use crate::tree::{Expr, Stmt, Text};

/// Longest time for it.
const PATIENCE: Duration = Duration::from_secs(90);

/// The kernel with all the cuts after which `fails` still holds.
pub fn reduce(mut kernel: Kernel, mut fails: impl FnMut(&Kernel) -> bool) -> Kernel {
    let begin = Instant::now();
    loop {
        let mut changed = false;
        let mut at = 0;
        while begin.elapsed() < PATIENCE {
            let mut cut = kernel.clone();
            if !(Cutter { left: at, done: false }).kernel(&mut cut) {
                break;
            }
            if fails(&cut) {
                kernel = cut;
                changed = true;
            } else {
                at += 1;
            }
        }
        if !changed || begin.elapsed() >= PATIENCE {
            return kernel;
        }
    }
}

/// Goes through a kernel and makes one cut: the one that comes after `left` others.
struct Cutter {
    left: usize,
    done: bool,
}

impl Cutter {
    /// Whether this is the cut to make.
    fn here(&mut self) -> bool {
        if self.done {
            return false;
        }
        self.done = self.left == 0;
        self.left = self.left.saturating_sub(1);
        self.done
    }

    fn kernel(mut self, kernel: &mut Kernel) -> bool {
        for groups in [[1, 1, 1], [2, 1, 1]] {
            if kernel.launch.groups.iter().product::<u32>() > groups.iter().product() && self.here() {
                kernel.launch.groups = groups;
            }
        }
        for count in [1, 2, 4, 5] {
            if kernel.launch.invocations() > count && self.here() {
                kernel.launch.size = [count, 1, 1];
            }
        }
        self.list(&mut kernel.body);
        for at in (0..kernel.functions.len()).rev() {
            if self.here() {
                kernel.functions.remove(at);
                break;
            }
            self.list(&mut kernel.functions[at].body);
            self.expr(&mut kernel.functions[at].result);
        }
        self.done
    }

    fn list(&mut self, list: &mut Vec<Stmt>) {
        // From many at once to one at a time, the last ones first: what is declared goes after what uses it.
        let mut size = list.len();
        while size > 0 {
            for at in (0..list.len()).step_by(size).rev() {
                if self.here() {
                    list.drain(at..(at + size).min(list.len()));
                    return;
                }
            }
            size /= 2;
        }
        for at in 0..list.len() {
            for inner in inner(&list[at]) {
                if self.here() {
                    list.splice(at..=at, inner);
                    return;
                }
            }
        }
        list.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        if self.done {
            return;
        }
        match stmt {
            Stmt::Line(text) => self.text(text),
            Stmt::If(condition, accept, reject) => {
                self.expr(condition);
                self.list(accept);
                self.list(reject);
            }
            Stmt::Switch(selector, cases) => {
                self.expr(selector);
                let gone = (0..cases.len()).rev().find(|_| self.here());
                gone.map(|at| cases.remove(at));
                cases.iter_mut().for_each(|(_, body)| self.list(body));
            }
            Stmt::Around { open, body, continuing, close } => {
                self.text(open);
                self.list(body);
                continuing.iter_mut().for_each(|list| self.list(list));
                self.text(close);
            }
        }
    }

    fn text(&mut self, text: &mut Text) {
        text.parts.iter_mut().for_each(|part| self.expr(part));
    }

    /// The zero of its type instead of it, or something of its type in it.
    fn expr(&mut self, expr: &mut Expr) {
        if expr.form.parts.is_empty() {
            return;
        }
        if self.here() {
            *expr = Expr::leaf(expr.ty.clone(), format!("{}()", expr.ty));
            return;
        }
        let mut inside = Vec::new();
        below(expr, &mut inside);
        inside.retain(|part| part.ty == expr.ty);
        if let Some(part) = inside.into_iter().find(|_| self.here()) {
            *expr = part;
            return;
        }
        self.text(&mut expr.form);
    }
}

/// What a statement may be replaced by: one of the lists in it.
fn inner(stmt: &Stmt) -> Vec<Vec<Stmt>> {
    match stmt {
        Stmt::Line(_) => Vec::new(),
        Stmt::If(_, accept, reject) => vec![accept.clone(), reject.clone()],
        Stmt::Switch(_, cases) => cases.iter().map(|(_, body)| body.clone()).collect(),
        Stmt::Around { body, .. } => vec![body.clone()],
    }
}

fn below(expr: &Expr, found: &mut Vec<Expr>) {
    for part in &expr.form.parts {
        found.push(part.clone());
        below(part, found);
    }
}

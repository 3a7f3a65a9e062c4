//! The IR as text, for people who want to see what a pass did.
//!
//! One statement per line. `%3` is a register, `$3` a variable (a register that is set more than once), `@2` a label,
//! `#1` an object. What comes after a register that is defined is how it differs between invocations, where that is
//! known: `w` it is the same in the workgroup, `g` in a gang, `+4` it grows by 4 from lane to lane, `v` in any way.

use std::fmt::{self, Display, Formatter, Write};

use crate::ir::{Address, Base, Func, Inst, Label, ObjectId, Operand, Reg, RegInfo, Stmt, Unit};
use crate::passes::regions::Node;
use crate::passes::variance::Variance;

/// All functions of a unit.
pub(crate) fn unit(unit: &Unit, variances: &[Variance]) -> String {
    let mut text = String::new();
    for (at, function) in unit.functions.iter().enumerate() {
        let mut printer = Printer::new(&function.regs, &[]);
        printer.line(format_args!("function {at}:"));
        printer.list(&function.body);
        text += &printer.text;
    }
    let mut printer = Printer::new(&unit.entry.regs, variances);
    printer.line(format_args!("entry:"));
    printer.list(&unit.entry.body);
    text + &printer.text
}

/// The regions of an entry point.
pub(crate) fn nodes(func: &Func, nodes: &[Node], variances: &[Variance]) -> String {
    let mut printer = Printer::new(&func.regs, variances);
    printer.nodes(nodes);
    printer.text
}

struct Printer<'a> {
    regs: &'a [RegInfo],
    variances: &'a [Variance],
    text: String,
    depth: usize,
}

impl<'a> Printer<'a> {
    fn new(regs: &'a [RegInfo], variances: &'a [Variance]) -> Self {
        Self { regs, variances, text: String::new(), depth: 0 }
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    fn inside(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Region(region) => {
                    let ends: Vec<_> = region.ends.iter().map(Label::to_string).collect();
                    self.line(format_args!("region {}", ends.join(" ")));
                    self.inside(|printer| printer.list(&region.body));
                }
                Node::If { condition, accept, reject } => {
                    self.line(format_args!("group if {}", self.operand(*condition)));
                    self.inside(|printer| printer.nodes(accept));
                    self.line("else");
                    self.inside(|printer| printer.nodes(reject));
                }
                Node::Block { label, body } => {
                    self.line(format_args!("group block {label}"));
                    self.inside(|printer| printer.nodes(body));
                }
                Node::Loop { label, body } => {
                    self.line(format_args!("group loop {label}"));
                    self.inside(|printer| printer.nodes(body));
                }
                Node::Jump(label) => self.line(format_args!("group jump {label}")),
            }
        }
    }

    fn list(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Inst(inst) => self.line(self.inst(inst)),
                Stmt::Masked { mask, inst } => {
                    self.line(format_args!("[{}] {}", self.operand(*mask), self.inst(inst)));
                }
                Stmt::If { label, condition, accept, reject, .. } => {
                    self.line(format_args!("if {} {label}", self.operand(*condition)));
                    self.inside(|printer| printer.list(accept));
                    if !reject.is_empty() {
                        self.line("else");
                        self.inside(|printer| printer.list(reject));
                    }
                }
                Stmt::Block { label, body } => {
                    self.line(format_args!("block {label}"));
                    self.inside(|printer| printer.list(body));
                }
                Stmt::Loop { label, body, .. } => {
                    self.line(format_args!("loop {label}"));
                    self.inside(|printer| printer.list(body));
                }
                Stmt::Jump { label, .. } => self.line(format_args!("jump {label}")),
                Stmt::Return { values } => self.line(format_args!("return {}", self.operands(values))),
                Stmt::Barrier { .. } => self.line("barrier"),
            }
        }
    }

    fn inst(&self, inst: &Inst) -> String {
        match inst {
            Inst::Op { dst, op, args } => format!("{} = {op:?} {}", self.defined(*dst), self.operands(args)),
            Inst::Load { dst, cell, address } => {
                format!("{} = Load{cell:?} {}", self.defined(*dst), self.address(address))
            }
            Inst::UniformLoad { dst, cell, address } => {
                format!("{} = UniformLoad{cell:?} {}", self.defined(*dst), self.address(address))
            }
            Inst::LoadRow { dsts, cell, address, by_index } => {
                let dsts = dsts.map(|dst| self.defined(dst)).join(", ");
                let by = if by_index.is_some() { "index" } else { "offset" };
                format!("{dsts} = LoadRow{cell:?} {} by {by}", self.address(address))
            }
            Inst::Store { cell, address, value } => {
                format!("Store{cell:?} {}, {}", self.address(address), self.operand(*value))
            }
            Inst::Fill { address, length } => format!("Fill {}, {length}", self.address(address)),
            Inst::Move { to, from, length, .. } => {
                format!("Move {}, {}, {length}", self.address(to), self.address(from))
            }
            Inst::Atomic { dst, op, address, value, compare } => {
                let dst = dst.map_or_else(String::new, |dst| format!("{} = ", self.defined(dst)));
                let [value, compare] = [value, compare].map(|&operand| self.operand(operand));
                format!("{dst}Atomic{op:?} {}, {value}, {compare}", self.address(address))
            }
            Inst::Subgroup { dst, op, args } => {
                format!("{} = Subgroup{op:?} {}", self.defined(*dst), self.operands(args))
            }
            Inst::Call { function, args, results } => {
                let results: Vec<_> = results.iter().map(|&reg| self.defined(reg)).collect();
                format!("{} = Call {function} {}", results.join(", "), self.operands(args))
            }
        }
    }

    fn reg(&self, reg: Reg) -> String {
        let mutable = self.regs.get(reg.0 as usize).is_some_and(|info| info.mutable);
        format!("{}{}", if mutable { '$' } else { '%' }, reg.0)
    }

    fn defined(&self, reg: Reg) -> String {
        let variance = match self.variances.get(reg.0 as usize) {
            None => String::new(),
            Some(variance) if variance.workgroup => ":w".to_owned(),
            Some(Variance { stride: Some(0), .. }) => ":g".to_owned(),
            Some(Variance { stride: Some(stride), .. }) => format!(":{:+}", stride.cast_signed()),
            Some(Variance { stride: None, .. }) => ":v".to_owned(),
        };
        self.reg(reg) + &variance
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Bool(value) => value.to_string(),
            Operand::I32(bits) => bits.cast_signed().to_string(),
            Operand::F32(bits) => format!("{:?}", f32::from_bits(bits)),
            Operand::Builtin(builtin) => format!("{builtin:?}"),
        }
    }

    fn operands(&self, operands: &[Operand]) -> String {
        operands.iter().map(|&operand| self.operand(operand)).collect::<Vec<_>>().join(", ")
    }

    fn address(&self, address: &Address) -> String {
        let base = match address.base {
            Base::Binding(binding) => format!("binding {binding}"),
            Base::Workgroup => "workgroup".to_owned(),
            Base::Object(ObjectId(object)) => format!("#{object}"),
        };
        let terms = address.terms.iter().map(|term| match term.last {
            Some(last) => format!(" + {}~{} * {}", self.operand(term.index), self.operand(last), term.stride),
            None => format!(" + {} * {}", self.operand(term.index), term.stride),
        });
        format!("({base} + {}{})", address.offset, terms.collect::<String>())
    }
}

impl Display for Label {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

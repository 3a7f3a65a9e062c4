//! Random statements of one invocation: whatever they do, no other invocation sees it before a barrier, every loop is counted, and
//! the order of what is atomic does not matter.

use crate::expression::{Generator, Variable};
use crate::tree::{BOOL, Expr, F16, F32, I32, Scalar, Stmt, Text, Type, U32, U64};

/// What jumps there may be.
#[derive(Clone)]
pub struct Flow {
    /// Levels of statements that may still follow inside.
    pub depth: u32,
    /// Inside a loop or a switch.
    pub breaks: bool,
    /// Inside a loop.
    pub continues: bool,
    pub returns: Returns,
}

/// What a `return` looks like.
#[derive(Clone)]
pub enum Returns {
    No,
    /// Of the entry point: something is left behind first.
    Entry,
    Value(Type),
}

/// Atomic functions whose order does not matter as long as no other is used on the same word.
const ATOMICS: [&str; 6] = ["atomicAdd", "atomicSub", "atomicMax", "atomicMin", "atomicXor", "atomicOr"];

impl Generator {
    /// A few statements with a scope of their own.
    pub fn block(&mut self, flow: &Flow) -> Vec<Stmt> {
        let outside = self.scope.len();
        let mut list = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            list.push(self.statement(flow, outside));
        }
        if self.random.percent(15)
            && let Some(jump) = self.jump(flow)
        {
            list.push(jump);
        }
        self.scope.truncate(outside);
        list
    }

    /// The same, between braces.
    pub fn alone(&mut self, flow: &Flow) -> Stmt {
        braces(self.block(flow))
    }

    /// One statement; what it declares is in scope from `outside` on.
    fn statement(&mut self, flow: &Flow, outside: usize) -> Stmt {
        let nested = Flow { depth: flow.depth.saturating_sub(1), ..flow.clone() };
        match self.random.below(if flow.depth == 0 { 12 } else { 21 }) {
            0..3 => self.assign(),
            3 => self.shuffle().unwrap_or_else(|| self.assign()),
            4 | 5 => self.compound(),
            6 | 7 => self.declare(outside),
            8 => self.atomic(),
            9 => self.own_atomic(),
            10 => self.guarded_jump(flow),
            11 => self.past_the_end(),
            12..15 => {
                let condition = self.expr(&BOOL, 2);
                let accept = self.block(&nested);
                let reject = if self.random.percent(50) { self.block(&nested) } else { Vec::new() };
                Stmt::If(condition, accept, reject)
            }
            15 => self.alone(&nested),
            16 | 17 => self.switch(&nested),
            _ => self.counted_loop(&nested),
        }
    }

    pub fn assign(&mut self) -> Stmt {
        for _ in 0..4 {
            let ty = self.ty();
            if let Some(place) = self.place(&ty, true, 2) {
                let value = self.expr(&ty, 3);
                return Stmt::Line(Text::new("$0 = $1;", vec![place, value]));
            }
        }
        let value = self.expr(&U32, 3);
        Stmt::Line(Text::new("_ = $0;", vec![value]))
    }

    fn compound(&mut self) -> Stmt {
        let mut scalars = vec![Scalar::I32, Scalar::U32, Scalar::F32];
        scalars.extend(&self.scalars);
        let scalar = *self.random.pick(&scalars);
        let size = self.random.below(5) as u8;
        let of = |scalar| if size < 2 { Type::Scalar(scalar) } else { Type::Vector(size, scalar) };
        let ty = of(scalar);
        let Some(place) = self.place(&ty, true, 2) else { return self.assign() };
        let integer = !scalar.is_float();
        if size < 2 && integer && self.random.percent(30) {
            return Stmt::Line(Text::new(["$0++;", "$0--;"][self.random.below(2)], vec![place]));
        }
        let operators = ["+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>="];
        let at = self.random.below(if integer { operators.len() } else { 5 });
        let value = self.expr(&if at < 8 { ty } else { of(Scalar::U32) }, 2);
        Stmt::Line(Text::new(format!("$0 {} $1;", operators[at]), vec![place, value]))
    }

    /// A new name, or one that hides another from outside of the block that begins at `outside`.
    fn name(&mut self, outside: usize) -> String {
        let hidden = (outside > 0 && self.random.percent(20)).then(|| self.random.below(outside));
        let candidate = hidden.and_then(|at| self.scope.get(at)).map(|variable| variable.text.clone());
        let taken = |name: &String| self.scope.iter().skip(outside).any(|variable| variable.text == *name);
        let plain = |name: &String| name.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
        match candidate.filter(|name| plain(name) && !taken(name)) {
            Some(name) => name,
            None => self.fresh("v"),
        }
    }

    /// A name that nothing has.
    pub fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Declares a variable in the block that begins at `outside`.
    pub fn declare(&mut self, outside: usize) -> Stmt {
        let ty = self.ty();
        let value = self.expr(&ty, 2);
        let name = self.name(outside);
        let kind = self.random.below(3);
        let uniform = self.uniform;
        let variable = Variable { text: name.clone(), ty: ty.clone(), writable: kind > 0, uniform, local: kind > 0 };
        self.scope.push(variable);
        Stmt::Line(match kind {
            0 => Text::new(format!("let {name} = $0;"), vec![value]),
            1 => Text::new(format!("var {name} = $0;"), vec![value]),
            _ => Text::plain(format!("var {name}: {ty};")),
        })
    }

    /// On a word that all share. Its result is not used, and each operation has words of its own.
    fn atomic(&mut self) -> Stmt {
        if self.atomic_floats && self.random.percent(40) {
            // Halves of few whole numbers: no sum of them is rounded, so that the order does not matter.
            let (at, name) = [(0, "atomicAdd"), (1, "atomicSub")][self.random.below(2)];
            let parts = vec![self.expr(&U32, 1), self.expr(&I32, 2)];
            let text = format!("{name}(&atomic_f[($0 % 6u) * 2u + {at}u], f32($1 % 16i) * 0.5f);");
            return Stmt::Line(Text::new(text, parts));
        }
        let at = self.random.below(ATOMICS.len());
        let (ty, array) = if self.random.percent(50) { (U32, "atomic_u") } else { (I32, "atomic_i") };
        let parts = vec![self.expr(&U32, 1), self.expr(&ty, 2)];
        Stmt::Line(Text::new(format!("{}(&{array}[($0 % 4u) * 6u + {at}u], $1);", ATOMICS[at]), parts))
    }

    /// On the invocation's own word: results are used.
    fn own_atomic(&mut self) -> Stmt {
        let float = self.atomic_floats && self.random.percent(40);
        let (ty, word) = if float { (F32, "atomic_own_f[place]") } else { (U32, "atomic_own[place]") };
        let Some(to) = self.place(&ty, true, 1).filter(|_| self.entry) else { return self.assign() };
        let value = self.expr(&ty, 2);
        let name = if float {
            ["atomicAdd", "atomicSub", "atomicExchange"][self.random.below(3)]
        } else {
            match self.random.below(8) {
                6 => "atomicExchange",
                7 => "atomicCompareExchangeWeak",
                at => ATOMICS[at % ATOMICS.len()],
            }
        };
        let call = match name {
            "atomicCompareExchangeWeak" => format!("{name}(&{word}, $1 % 4u, $1).old_value"),
            _ => format!("{name}(&{word}, $1)"),
        };
        Stmt::Line(Text::new(format!("$0 = {call} + atomicLoad(&{word});"), vec![to, value]))
    }

    /// The last element is meant, which is the last invocation's own.
    fn past_the_end(&mut self) -> Stmt {
        let mut places =
            vec![("columns[@]", U32), ("rows[@][@]", U32), ("items[@].list[@]", U32), ("vectors[@].y", F32)];
        if self.has(Scalar::F16) {
            places.push(("halves[@]", F16));
        }
        if self.has(Scalar::U64) {
            places.extend([("wides[@]", U64), ("mixed[@].p[@]", U64)]);
        }
        let (place, ty) = self.random.pick(&places).clone();
        let (index, value) = (self.expr(&U32, 2), self.expr(&ty, 2));
        if !self.entry {
            return self.compound();
        }
        let place = place.replace('@', "$0 | 0x80000000u");
        Stmt::Line(Text::new(format!("if place == TOTAL - 1u {{ {place} = $1; }}"), vec![index, value]))
    }

    fn jump(&mut self, flow: &Flow) -> Option<Stmt> {
        let mut jumps = Vec::new();
        if flow.breaks {
            jumps.push(Text::plain("break;"));
        }
        if flow.continues {
            jumps.push(Text::plain("continue;"));
        }
        match &flow.returns {
            Returns::No => {}
            Returns::Entry => {
                let value = self.expr(&U32, 2);
                jumps.push(Text::new("early[place] = $0; return;", vec![value]));
            }
            Returns::Value(ty) => {
                let value = self.expr(ty, 2);
                jumps.push(Text::new("return $0;", vec![value]));
            }
        }
        (!jumps.is_empty()).then(|| Stmt::Line(jumps.swap_remove(self.random.below(jumps.len()))))
    }

    fn guarded_jump(&mut self, flow: &Flow) -> Stmt {
        match self.jump(flow) {
            Some(jump) => {
                let condition = self.expr(&BOOL, 2);
                Stmt::If(condition, vec![jump], Vec::new())
            }
            None => self.compound(),
        }
    }

    fn switch(&mut self, nested: &Flow) -> Stmt {
        let inside = Flow { breaks: true, ..nested.clone() };
        let (ty, suffix) = if self.random.percent(60) { (U32, "u") } else { (I32, "i") };
        let value = self.expr(&ty, 2);
        let selector =
            if self.random.percent(70) { Expr::new(ty, format!("($0 % 5{suffix})"), vec![value]) } else { value };
        let mut cases = Vec::new();
        let default = self.random.below(4);
        let mut label = 0;
        for at in 0..4 {
            let mut labels = Vec::new();
            for _ in 0..self.random.below(3) {
                labels.push(format!("{label}{suffix}"));
                label += 1;
            }
            if at == default {
                labels.push("default".to_owned());
            }
            if !labels.is_empty() {
                cases.push((format!("case {}", labels.join(", ")), self.block(&inside)));
            }
        }
        Stmt::Switch(selector, cases)
    }

    /// A loop of at most six rounds, in one of the ways to write it.
    pub fn counted_loop(&mut self, nested: &Flow) -> Stmt {
        let counter = self.fresh("i");
        let outside = self.scope.len();
        let most = 1 + self.random.below(6);
        let value = self.expr(&U32, 2);
        let bound = Expr::new(U32, format!("($0 % {}u)", most + 1), vec![value]);
        let condition = self.expr(&BOOL, 2);
        let inside = Flow { breaks: true, continues: true, ..nested.clone() };
        let writable = false;
        let uniform = self.uniform;
        self.scope.push(Variable { text: counter.clone(), ty: U32, writable, uniform, local: false });
        let body = self.block(&inside);
        let c = &counter;
        let (open, close) = match self.random.below(6) {
            0 => (Text::new(format!("for (var {c} = 0u; {c} < $0; {c}++) {{"), vec![bound]), Text::plain("}")),
            1 => {
                let open = format!("for (var {c} = $0; {c} > 0u && $1; {c} -= 1u) {{");
                (Text::new(open, vec![bound, condition]), Text::plain("}"))
            }
            2 => {
                let open = format!("{{ var {c} = 0u; while $0 && {c} < {most}u {{ {c}++;");
                (Text::new(open, vec![condition]), Text::plain("} }"))
            }
            3 => {
                // All invocations share the rounds.
                let from = if self.entry && !uniform { "l" } else { "0u" };
                let open = format!("for (var {c} = {from}; {c} < SIZE + $0; {c} += max(2u, SIZE / 2u)) {{");
                (Text::new(open, vec![bound]), Text::plain("}"))
            }
            4 => {
                let open = format!("{{ var {c} = 0u; loop {{ if {c} >= $0 {{ break; }} {c} += 1u;");
                (Text::new(open, vec![bound]), Text::plain("} }"))
            }
            _ => {
                let open = Text::plain(format!("{{ var {c} = 0u; loop {{"));
                let close = format!("{c}++; break if {c} > {most}u || $0; }} }} }}");
                // No jumps: there is nowhere to go.
                let still = Flow { depth: 0, breaks: false, continues: false, returns: Returns::No };
                let continuing = Some(vec![self.alone(&still)]);
                self.scope.truncate(outside);
                // What the body declares would be in scope there, and hide what is meant.
                let body = vec![braces(body)];
                return Stmt::Around { open, body, continuing, close: Text::new(close, vec![condition]) };
            }
        };
        self.scope.truncate(outside);
        Stmt::Around { open, body, continuing: None, close }
    }
}

fn braces(body: Vec<Stmt>) -> Stmt {
    Stmt::Around { open: Text::plain("{"), body, continuing: None, close: Text::plain("}") }
}

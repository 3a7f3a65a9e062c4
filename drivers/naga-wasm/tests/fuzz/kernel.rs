//! Whole kernels: what a workgroup does together, and everything around it.

use std::fmt::{self, Display};

use crate::expression::{Callee, Generator, Variable};
use crate::random::Random;
use crate::statement::{Flow, Returns};
use crate::tree::{BOOL, Expr, F16, F32, I32, Scalar, Stmt, Text, Type, U32, U64};

/// How many invocations there are, and which values the buffers hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Launch {
    /// Invocations of a workgroup along x, y and z.
    pub size: [u32; 3],
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
    /// The kernel is made of it, and its input.
    pub seed: u64,
}

impl Launch {
    /// Invocations of a workgroup.
    pub fn invocations(&self) -> u32 {
        self.size.iter().product()
    }

    /// Invocations of all workgroups.
    pub fn total(&self) -> u32 {
        self.invocations() * self.groups.iter().product::<u32>()
    }
}

/// A kernel, and how it is launched. It is written as WGSL.
#[derive(Clone)]
pub struct Kernel {
    pub launch: Launch,
    pub functions: Vec<Function>,
    /// Type of the `var<private>`.
    pub private: Type,
    /// Type of the elements of `shared_words`, of which each invocation has one.
    pub element: Type,
    pub body: Vec<Stmt>,
}

#[derive(Clone)]
pub struct Function {
    pub head: String,
    pub body: Vec<Stmt>,
    pub result: Expr,
}

/// Sizes of workgroups: few of them multiples of four, which is what a compiler with vectors of four would like best.
const SIZES: [[u32; 3]; 16] = [
    [1, 1, 1],
    [2, 1, 1],
    [3, 1, 1],
    [4, 1, 1],
    [5, 1, 1],
    [7, 1, 1],
    [8, 1, 1],
    [12, 1, 1],
    [33, 1, 1],
    [64, 1, 1],
    [4, 2, 1],
    [3, 3, 1],
    [1, 6, 1],
    [2, 2, 3],
    [5, 1, 2],
    [8, 3, 1],
];

const GROUPS: [[u32; 3]; 6] = [[1, 1, 1], [2, 1, 1], [3, 1, 1], [2, 2, 1], [1, 2, 2], [5, 1, 1]];

/// The kernel of a seed.
pub fn kernel(seed: u64) -> Kernel {
    let mut random = Random::new(seed);
    let size = *random.pick(&SIZES);
    let launch = Launch { size, groups: *random.pick(&GROUPS), seed };
    // Half of all kernels are such as any device takes.
    let extra: [&[Scalar]; 6] =
        [&[], &[], &[], &[Scalar::F16], &[Scalar::I64, Scalar::U64], &[Scalar::F16, Scalar::I64, Scalar::U64]];
    let scalars = random.pick(&extra).to_vec();
    let (subgroups, atomic_floats) = (random.percent(40), random.percent(30));
    let mut maker = Generator {
        random,
        scope: Vec::new(),
        callees: Vec::new(),
        names: 100,
        left: 0,
        uniform: false,
        entry: false,
        scalars,
        subgroups,
        atomic_floats,
    };
    let private = maker.ty();
    let functions = (0..maker.random.below(4)).map(|_| maker.function(&private)).collect();
    let variables: Vec<Type> = (0..3 + maker.random.below(4)).map(|_| maker.ty()).collect();
    let element = maker.ty();
    maker.entry = true;
    maker.left = 12 + maker.random.below(25) as u32;
    let mut body = maker.begin(&variables, &private, &element);
    body.extend(maker.together(2, &element));
    // Behind the last barrier an invocation may end early.
    maker.left += 8;
    let tail = Flow { depth: 3, breaks: false, continues: false, returns: Returns::Entry };
    body.push(maker.alone(&tail));
    let left = variables.iter().enumerate().flat_map(|(at, ty)| ty.leaves(&format!("v{at}")));
    body.extend(left.chain(private.leaves("mine")).map(|(path, scalar)| {
        let word = match scalar {
            Scalar::F32 => format!("bits({path})"),
            Scalar::F16 => format!("bits(f32({path}))"),
            Scalar::I32 | Scalar::U32 | Scalar::Bool => format!("u32({path})"),
            Scalar::I64 | Scalar::U64 => format!("words(u64({path}))"),
        };
        Stmt::Line(Text::plain(format!("last = left(last, {word});")))
    }));
    Kernel { launch, functions, private, element, body }
}

/// The elements of the workgroup's memory, outside of exchanges.
const SHARED: &str = "shared_words[$0 % SIZE]";

impl Generator {
    /// Declares what the entry point has from the beginning to the end. All but the workgroup's memory may be written: each
    /// invocation has its own.
    fn begin(&mut self, variables: &[Type], private: &Type, element: &Type) -> Vec<Stmt> {
        let own =
            |text: &str, ty: Type, local| Variable { text: text.to_owned(), ty, writable: true, uniform: false, local };
        self.scope = vec![
            own("mine", private.clone(), false),
            Variable { writable: false, ..own(SHARED, element.clone(), false) },
            own("rows[place]", Type::Array(Box::new(U32), 6), false),
            own("items[place]", Type::Item, false),
            own("vectors[place]", Type::Vector(4, Scalar::F32), false),
            own("columns[($0 % 4u) * TOTAL + place]", U32, false),
            own("floats[(TOTAL - 1u - place) * 2u + ($0 & 1u)]", F32, false),
        ];
        if self.has(Scalar::F16) {
            // Next to another's, and an element between.
            self.scope.push(own("halves[place]", F16, false));
            self.scope.push(own("halves[TOTAL + place * 2u + ($0 & 1u)]", F16, false));
        }
        if self.has(Scalar::I64) {
            self.scope.push(own("wides[($0 % 2u) * TOTAL + place]", U64, false));
        }
        if self.has(Scalar::F16) && self.has(Scalar::I64) {
            self.scope.push(own("mixed[place].v", Type::Vector(3, Scalar::F16), false));
            self.scope.push(own("mixed[place].m", Type::Matrix(2, 3, Scalar::F16), false));
            self.scope.push(own("mixed[place].p", Type::Vector(2, Scalar::U64), false));
        }
        let mut body = vec![Stmt::Line(Text::new("mine = $0;", vec![self.expr(private, 2)]))];
        for (at, ty) in variables.iter().enumerate() {
            let value = self.expr(ty, 2);
            body.push(Stmt::Line(Text::new(format!("var v{at}: {ty} = $0;"), vec![value])));
            self.scope.push(own(&format!("v{at}"), ty.clone(), true));
        }
        body
    }

    fn function(&mut self, private: &Type) -> Function {
        let name = self.fresh("f");
        let values: Vec<Type> = (0..self.random.below(3)).map(|_| self.ty()).collect();
        let pointer = self.random.percent(40).then(|| self.ty());
        let result = self.ty();
        let text = "mine".to_owned();
        self.scope = vec![Variable { text, ty: private.clone(), writable: true, uniform: false, local: false }];
        let mut parameters = Vec::new();
        for (at, ty) in values.iter().enumerate() {
            parameters.push(format!("a{at}: {ty}"));
            let text = format!("a{at}");
            self.scope.push(Variable { text, ty: ty.clone(), writable: false, uniform: false, local: false });
        }
        if let Some(ty) = &pointer {
            parameters.push(format!("p: ptr<function, {ty}>"));
            let text = "(*p)".to_owned();
            self.scope.push(Variable { text, ty: ty.clone(), writable: true, uniform: false, local: true });
        }
        self.left = 8;
        let returns = Returns::Value(result.clone());
        let body = self.block(&Flow { depth: 2, breaks: false, continues: false, returns });
        let answer = self.expr(&result, 2);
        self.callees.push(Callee { name: name.clone(), values, pointer, result: result.clone() });
        Function { head: format!("fn {name}({}) -> {result}", parameters.join(", ")), body, result: answer }
    }

    /// What all invocations of a workgroup come to together.
    fn together(&mut self, depth: u32, element: &Type) -> Vec<Stmt> {
        let outside = self.scope.len();
        let mut list = Vec::new();
        let alone = Flow { depth: 3, breaks: false, continues: false, returns: Returns::No };
        for _ in 0..1 + self.random.below(4) {
            match self.random.below(if depth == 0 { 10 } else { 14 }) {
                0..3 => list.push(self.alone(&alone)),
                3 => list.extend(self.exchange(element)),
                4 if self.subgroups => list.push(self.subgroup_exchange(element)),
                4 => list.extend(self.exchange(element)),
                5 => list.push(self.combine()),
                6 => list.push(self.broadcast(element)),
                7 => list.push(self.storage_exchange()),
                8 => list.push(self.uniformly(|maker| maker.declare(usize::MAX))),
                9 => list.push(self.uniformly(Self::assign)),
                10 | 11 => {
                    let condition = self.uniformly(|maker| maker.expr(&BOOL, 2));
                    let accept = self.together(depth - 1, element);
                    let reject = if self.random.percent(50) { self.together(depth - 1, element) } else { Vec::new() };
                    list.push(Stmt::If(condition, accept, reject));
                }
                12 => {
                    let selector = self.uniformly(|maker| maker.expr(&U32, 1));
                    let selector = Expr::new(U32, "($0 % 3u)", vec![selector]);
                    let labels = ["case 0u", "case 2u, default"];
                    let cases = labels.map(|labels| (labels.to_owned(), self.together(depth - 1, element)));
                    list.push(Stmt::Switch(selector, cases.into()));
                }
                _ => list.push(self.uniform_loop(depth, element)),
            }
        }
        self.scope.truncate(outside);
        list
    }

    fn uniformly<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.uniform, true);
        let made = make(self);
        self.uniform = before;
        made
    }

    fn uniform_loop(&mut self, depth: u32, element: &Type) -> Stmt {
        let counter = self.fresh("u");
        let [bound, leave, skip] = [U32, BOOL, BOOL].map(|ty| self.uniformly(|maker| maker.expr(&ty, 1)));
        let text = counter.clone();
        self.scope.push(Variable { text, ty: U32, writable: false, uniform: true, local: false });
        let mut body = self.together(depth - 1, element);
        self.scope.pop();
        let jumps = [("break;", leave), ("continue;", skip)];
        let (jump, condition) = &jumps[self.random.below(2)];
        if self.random.percent(50) {
            let at = self.random.below(body.len() + 1);
            body.insert(at, Stmt::If(condition.clone(), vec![Stmt::Line(Text::plain(*jump))], Vec::new()));
        }
        let open = format!("for (var {counter} = 0u; {counter} < $0 % 4u; {counter}++) {{");
        Stmt::Around { open: Text::new(open, vec![bound]), body, continuing: None, close: Text::plain("}") }
    }

    /// Each sets its own word of the workgroup's memory, then each reads any.
    fn exchange(&mut self, element: &Type) -> Vec<Stmt> {
        let own = Variable {
            text: "shared_words[l]".to_owned(),
            ty: element.clone(),
            writable: true,
            uniform: false,
            local: false,
        };
        let value = self.expr(element, 2);
        let next = self.fresh("v");
        let open = format!("let {next} = $0; workgroupBarrier(); shared_words[l] = {next};");
        // Meanwhile nobody reads what is another's.
        let before = self.scope.clone();
        self.scope.retain(|variable| variable.text != SHARED);
        self.scope.push(own);
        let body = vec![self.alone(&Flow { depth: 1, breaks: false, continues: false, returns: Returns::No })];
        self.scope = before;
        let (open, close) = (Text::new(open, vec![value]), Text::plain("workgroupBarrier();"));
        let exchange = Stmt::Around { open, body, continuing: None, close };
        let index = self.expr(&U32, 2);
        let name = self.fresh("v");
        let other = match self.random.below(4) {
            0 => "shared_words[$0]",
            1 => "shared_words[(l + 1u) % SIZE]",
            2 => "shared_words[SIZE - 1u - l]",
            _ => "shared_words[$0 % SIZE]",
        };
        let text = name.clone();
        self.scope.push(Variable { text, ty: element.clone(), writable: false, uniform: false, local: false });
        vec![exchange, Stmt::Line(Text::new(format!("let {name} = {other};"), vec![index]))]
    }

    /// The same through a buffer. The others read at once: the buffer is written again only behind the next barrier.
    fn storage_exchange(&mut self) -> Stmt {
        let (value, index) = (self.expr(&U32, 2), self.expr(&U32, 2));
        let open = "storageBarrier(); passed[place] = $0; storageBarrier();";
        let to = self.place(&U32, true, 1).unwrap_or_else(|| Expr::leaf(U32, "rows[place][0]"));
        let close = Text::new("$0 = passed[number * SIZE + $1 % SIZE];", vec![to, index]);
        Stmt::Around { open: Text::new(open, vec![value]), body: Vec::new(), continuing: None, close }
    }

    /// An atomic word of the workgroup that all change in the same way, in control flow of their own.
    fn combine(&mut self) -> Stmt {
        let operations = ["atomicAdd", "atomicMax", "atomicMin", "atomicXor", "atomicAnd", "atomicOr"];
        let operation = *self.random.pick(&operations);
        let [condition, first] = [BOOL, I32].map(|ty| self.expr(&ty, 2));
        let value = self.expr(&I32, 2);
        let call = Stmt::Line(Text::new(format!("{operation}(&combined, $0);"), vec![value]));
        let mut body = vec![Stmt::If(condition, vec![call.clone()], Vec::new())];
        if self.random.percent(30) {
            body.push(call);
        }
        let to = self.place(&I32, true, 1).unwrap_or_else(|| Expr::leaf(I32, "items[place].n"));
        let open = "workgroupBarrier(); if l == SIZE - 1u { atomicStore(&combined, $0); } workgroupBarrier();";
        let close = "workgroupBarrier(); $0 = atomicLoad(&combined);";
        let (open, close) = (Text::new(open, vec![first]), Text::new(close, vec![to]));
        Stmt::Around { open, body, continuing: None, close }
    }

    /// What one invocation says is the same for all from then on.
    fn broadcast(&mut self, element: &Type) -> Stmt {
        let (ty, word) = if self.random.percent(60) { (&U32, "said") } else { (element, "told") };
        let (who, value) = (self.random.below(3), self.expr(ty, 2));
        let name = self.fresh("v");
        let text = format!("if l == {who}u {{ {word} = $0; }} let {name} = workgroupUniformLoad(&{word});");
        self.scope.push(Variable { text: name, ty: ty.clone(), writable: false, uniform: true, local: false });
        Stmt::Line(Text::new(text, vec![value]))
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Launch { size: [x, y, z], groups: [gx, gy, gz], seed } = self.launch;
        writeln!(f, "// size {x} {y} {z} groups {gx} {gy} {gz} seed {seed}")?;
        writeln!(f, "enable f16;")?;
        writeln!(f, "const SIZE = {}u; const TOTAL = {}u;", self.launch.invocations(), self.launch.total())?;
        f.write_str(include_str!("declarations.wgsl"))?;
        writeln!(f, "var<workgroup> shared_words: array<{}, SIZE>;", self.element)?;
        writeln!(f, "var<workgroup> told: {};", self.element)?;
        writeln!(f, "var<private> mine: {};", self.private)?;
        for Function { head, body, result } in &self.functions {
            writeln!(f, "{head} {{")?;
            body.iter().try_for_each(|stmt| writeln!(f, "{stmt}"))?;
            writeln!(f, "return {};\n}}", result.form)?;
        }
        writeln!(f, "@compute @workgroup_size({x}, {y}, {z})")?;
        // Where invocations are numbered in one dimension only, they are told which one of a subgroup they are.
        let flat = y * z == 1;
        let named = "@builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) gang: u32,";
        writeln!(f, "fn main({}", if flat { named } else { "" })?;
        f.write_str(include_str!("entry.wgsl"))?;
        if !flat {
            writeln!(f, "let lane = l & 3u; let gang = l / 4u;")?;
        }
        // In one dimension the place is what kernels use: it must be seen that it follows the invocations one by one.
        let place = if y * z * gy * gz == 1 { "id.x" } else { "number * SIZE + l" };
        writeln!(f, "let place = {place};")?;
        self.body.iter().try_for_each(|stmt| writeln!(f, "{stmt}"))?;
        writeln!(f, "early[place] = last;\n}}")
    }
}

//! Random kernels with barriers, loops, branches and arrays, against a second way to run them.
//!
//! The other way is slow and plain: all invocations go through the program together, statement by statement, each with
//! its own variables and a mask of those that take part.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

mod common;

use std::fmt::Write as _;

use common::{Run, bytes_u, run};

const INVOCATIONS: usize = 6;
const VARIABLES: usize = 5;
const CELLS: usize = 4;

enum Expression {
    Number(u32),
    Variable(usize),
    Lane,
    Group,
    /// Element of the invocation's own array.
    Own(Box<Expression>),
    /// Element of the workgroup's array, of `INVOCATIONS` words.
    Shared(Box<Expression>),
    Input(Box<Expression>),
    Binary(usize, Box<Expression>, Box<Expression>),
}

enum Statement {
    Assign(usize, Expression),
    SetOwn(Expression, Expression),
    /// The invocation's own word of the workgroup's array: no two write the same.
    SetShared(Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// A loop of so many rounds, left early if the condition holds; with a condition to go on to the next round.
    Loop(u32, Expression, Expression, Vec<Statement>),
    /// The same with a condition that is uniform, and barriers inside.
    UniformLoop(u32, Vec<Statement>),
    UniformIf(u32, Vec<Statement>, Vec<Statement>),
    Barrier,
}

/// How an operator is written, and what it does.
type Operator = (&'static str, fn(u32, u32) -> u32);

const OPERATORS: [Operator; 9] = [
    ("+", u32::wrapping_add),
    ("-", u32::wrapping_sub),
    ("*", u32::wrapping_mul),
    ("^", |a, b| a ^ b),
    ("&", |a, b| a & b),
    ("/", |a, b| a.checked_div(b).unwrap_or(a)),
    ("%", |a, b| a.checked_rem(b).unwrap_or(0)),
    ("<", |a, b| u32::from(a < b)),
    ("==", |a, b| u32::from(a == b)),
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }

    fn expression(&mut self, depth: usize) -> Expression {
        let kinds = if depth == 0 { 4 } else { 9 };
        match self.below(kinds) {
            0 => Expression::Number(self.below(20) as u32),
            1 => Expression::Variable(self.below(VARIABLES)),
            2 => Expression::Lane,
            3 => Expression::Group,
            4 => Expression::Own(Box::new(self.expression(depth - 1))),
            5 => Expression::Shared(Box::new(self.expression(depth - 1))),
            6 => Expression::Input(Box::new(self.expression(depth - 1))),
            _ => {
                let op = self.below(OPERATORS.len());
                Expression::Binary(op, Box::new(self.expression(depth - 1)), Box::new(self.expression(depth - 1)))
            }
        }
    }

    /// Statements that all invocations get to together.
    fn together(&mut self, depth: usize) -> Vec<Statement> {
        let mut list = Vec::new();
        for _ in 0..2 + self.below(4) {
            match self.below(if depth == 0 { 2 } else { 5 }) {
                0 => {
                    // Between reading and writing shared memory there is always a barrier.
                    list.push(Statement::Barrier);
                    list.push(Statement::SetShared(self.private_expression()));
                    list.push(Statement::Barrier);
                }
                1 | 2 => list.extend(self.alone(2)),
                3 => list.push(Statement::UniformLoop(self.below(4) as u32, self.together(depth - 1))),
                _ => {
                    let bound = self.below(4) as u32;
                    list.push(Statement::UniformIf(bound, self.together(depth - 1), self.together(depth - 1)));
                }
            }
        }
        list
    }

    /// An expression that does not read the workgroup's array.
    fn private_expression(&mut self) -> Expression {
        let (op, left, right) = (self.below(6), self.below(VARIABLES), self.below(VARIABLES));
        let left = Box::new(Expression::Variable(left));
        Expression::Binary(op, left, Box::new(Expression::Own(Box::new(Expression::Variable(right)))))
    }

    /// Statements between barriers.
    fn alone(&mut self, depth: usize) -> Vec<Statement> {
        let mut list = Vec::new();
        for _ in 0..1 + self.below(4) {
            list.push(match self.below(if depth == 0 { 2 } else { 4 }) {
                0 => Statement::Assign(self.below(VARIABLES), self.expression(3)),
                1 => Statement::SetOwn(self.expression(1), self.expression(2)),
                2 => Statement::If(self.expression(2), self.alone(depth - 1), self.alone(depth - 1)),
                _ => {
                    let rounds = self.below(6) as u32;
                    Statement::Loop(rounds, self.expression(2), self.expression(2), self.alone(depth - 1))
                }
            });
        }
        list
    }
}

/// The expression in WGSL.
fn text(expression: &Expression) -> String {
    match expression {
        // Not a constant for the front end, which refuses indices and divisors that it can see are wrong.
        Expression::Number(number) => format!("({number}u + zero)"),
        Expression::Variable(variable) => format!("v{variable}"),
        Expression::Lane => "l".to_owned(),
        Expression::Group => "g".to_owned(),
        // The second is out of range often; the compiler takes the last element then.
        Expression::Own(index) => format!("own[{} % {CELLS}u]", text(index)),
        Expression::Shared(index) => format!("shared_words[{}]", text(index)),
        Expression::Input(index) => format!("input[{}]", text(index)),
        Expression::Binary(op, left, right) => {
            let (op, _) = OPERATORS[*op];
            let text = format!("({} {op} {})", text(left), text(right));
            if matches!(op, "<" | "==") { format!("u32{text}") } else { text }
        }
    }
}

fn write_list(out: &mut String, list: &[Statement], names: &mut u32) {
    for statement in list {
        *names += 1;
        let name = *names;
        match statement {
            Statement::Assign(variable, value) => writeln!(out, "v{variable} = {};", text(value)).unwrap(),
            Statement::SetOwn(index, value) => {
                writeln!(out, "own[({}) % {CELLS}u] = {};", text(index), text(value)).unwrap();
            }
            Statement::SetShared(value) => writeln!(out, "shared_words[l] = {};", text(value)).unwrap(),
            Statement::If(condition, accept, reject) => {
                writeln!(out, "if (({}) & 1u) == 1u {{", text(condition)).unwrap();
                write_list(out, accept, names);
                out.push_str("} else {\n");
                write_list(out, reject, names);
                out.push_str("}\n");
            }
            Statement::Loop(rounds, leave, skip, body) => {
                writeln!(out, "for (var i{name} = 0u; i{name} < {rounds}u; i{name}++) {{").unwrap();
                writeln!(out, "if (({}) % 5u) == 4u {{ break; }}", text(leave)).unwrap();
                writeln!(out, "if (({}) % 3u) == 2u {{ continue; }}", text(skip)).unwrap();
                write_list(out, body, names);
                out.push_str("}\n");
            }
            Statement::UniformLoop(rounds, body) => {
                writeln!(out, "for (var i{name} = 0u; i{name} < {rounds}u + g % 2u; i{name}++) {{").unwrap();
                write_list(out, body, names);
                out.push_str("}\n");
            }
            Statement::UniformIf(bound, accept, reject) => {
                writeln!(out, "if g < {bound}u {{").unwrap();
                write_list(out, accept, names);
                out.push_str("} else {\n");
                write_list(out, reject, names);
                out.push_str("}\n");
            }
            Statement::Barrier => out.push_str("workgroupBarrier();\n"),
        }
    }
}

/// A workgroup in the plain way.
struct Group<'a> {
    number: u32,
    variables: Vec<[u32; VARIABLES]>,
    own: Vec<[u32; CELLS]>,
    shared: [u32; INVOCATIONS],
    input: &'a [u32],
}

type Mask = [bool; INVOCATIONS];

impl Group<'_> {
    fn value(&self, lane: usize, expression: &Expression) -> u32 {
        match expression {
            Expression::Number(number) => *number,
            Expression::Variable(variable) => self.variables[lane][*variable],
            Expression::Lane => lane as u32,
            Expression::Group => self.number,
            Expression::Own(index) => self.own[lane][self.value(lane, index) as usize % CELLS],
            Expression::Shared(index) => self.shared[(self.value(lane, index) as usize).min(INVOCATIONS - 1)],
            Expression::Input(index) => self.input[(self.value(lane, index) as usize).min(self.input.len() - 1)],
            Expression::Binary(op, left, right) => (OPERATORS[*op].1)(self.value(lane, left), self.value(lane, right)),
        }
    }

    fn list(&mut self, list: &[Statement], mask: Mask) {
        for statement in list {
            self.statement(statement, mask);
        }
    }

    fn statement(&mut self, statement: &Statement, mask: Mask) {
        let lanes = (0..INVOCATIONS).filter(|&lane| mask[lane]);
        match statement {
            Statement::Assign(variable, value) => {
                for lane in lanes {
                    self.variables[lane][*variable] = self.value(lane, value);
                }
            }
            Statement::SetOwn(index, value) => {
                for lane in lanes {
                    let at = self.value(lane, index) as usize % CELLS;
                    self.own[lane][at] = self.value(lane, value);
                }
            }
            Statement::SetShared(value) => {
                for lane in lanes {
                    self.shared[lane] = self.value(lane, value);
                }
            }
            Statement::If(condition, accept, reject) => {
                let odd: Mask = std::array::from_fn(|lane| self.value(lane, condition) & 1 == 1);
                self.list(accept, std::array::from_fn(|lane| mask[lane] && odd[lane]));
                self.list(reject, std::array::from_fn(|lane| mask[lane] && !odd[lane]));
            }
            Statement::Loop(rounds, leave, skip, body) => {
                let mut inside = mask;
                for _ in 0..*rounds {
                    inside = std::array::from_fn(|lane| inside[lane] && self.value(lane, leave) % 5 != 4);
                    let stays: Mask = std::array::from_fn(|lane| inside[lane] && self.value(lane, skip) % 3 != 2);
                    self.list(body, stays);
                }
            }
            Statement::UniformLoop(rounds, body) => {
                for _ in 0..*rounds + self.number % 2 {
                    self.list(body, mask);
                }
            }
            Statement::UniformIf(bound, accept, reject) => {
                self.list(if self.number < *bound { accept } else { reject }, mask);
            }
            Statement::Barrier => {}
        }
    }
}

fn wgsl(program: &[Statement]) -> String {
    let mut body = String::new();
    write_list(&mut body, program, &mut 0);
    let declared: String = (0..VARIABLES).map(|at| format!("var v{at} = l * {at}u + g;\n")).collect();
    let stored: String = (0..VARIABLES).map(|at| format!("o[at + {at}u] = v{at};\n")).collect();
    let cells: String = (0..CELLS).map(|at| format!("o[at + {}u] = own[{at}];\n", VARIABLES + at)).collect();
    format!(
        "@group(0) @binding(0) var<storage> input: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        var<workgroup> shared_words: array<u32, {INVOCATIONS}>;
        @compute @workgroup_size({INVOCATIONS})
        fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>) {{
            let g = group.x;
            let zero = input[0] - input[0];
            var own: array<u32, {CELLS}>;
            {declared}{body}
            let at = (g * {INVOCATIONS}u + l) * {}u;
            {stored}{cells}
        }}",
        VARIABLES + CELLS
    )
}

#[test]
fn random_kernels_do_the_same_both_ways() {
    let input: Vec<u32> = (0..9u32).map(|at| at.wrapping_mul(2_654_435_761) >> 3).collect();
    let groups = 3;
    let words = groups as usize * INVOCATIONS * (VARIABLES + CELLS);
    for seed in 1..=60u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let program = random.together(3);
        let source = wgsl(&program);
        let buffers = vec![(0, bytes_u(&input)), (1, bytes_u(&vec![0; words]))];
        let got = run(&source, "main", Run { groups: [groups, 1, 1], buffers, ..Run::default() }).words(1);
        let mut want = Vec::new();
        for number in 0..groups {
            let variables = (0..INVOCATIONS as u32).map(|l| std::array::from_fn(|at| l * at as u32 + number)).collect();
            let own = vec![[0; CELLS]; INVOCATIONS];
            let mut group = Group { number, variables, own, shared: [0; INVOCATIONS], input: &input };
            group.list(&program, [true; INVOCATIONS]);
            for lane in 0..INVOCATIONS {
                want.extend(group.variables[lane]);
                want.extend(group.own[lane]);
            }
        }
        assert!(got == want, "seed {seed}:\n{source}");
    }
}

//! A random kernel in WGSL.

use crate::generator::{ATOMICS, CELLS, Expr, Kernel, Statement, Together, VARIABLES, VECTORS};
use std::fmt::Write;

/// Words that each invocation leaves.
pub const WORDS: usize = VARIABLES as usize + 4 * VECTORS as usize + CELLS as usize;

/// `@` is the operand.
const UNARY: [&str; 24] = [
    "(~@)",
    "(0u - @)",
    "countOneBits(@)",
    "reverseBits(@)",
    "firstLeadingBit(@)",
    "firstTrailingBit(@)",
    "countLeadingZeros(@)",
    "countTrailingZeros(@)",
    "bitcast<u32>(-bitcast<i32>(@))",
    "bitcast<u32>(abs(bitcast<i32>(@)))",
    "bitcast<u32>(sign(bitcast<i32>(@)))",
    "bitcast<u32>(firstLeadingBit(bitcast<i32>(@)))",
    "u32(f32(@ & 0xffffu) * 1.5)",
    "bitcast<u32>(i32(f32(bitcast<i32>(@) >> 12u) * 0.5))",
    "pack4xU8(unpack4xU8(@).wzyx)",
    "pack4xI8Clamp(unpack4xI8(@) * 3)",
    "pack4xU8Clamp(unpack4xU8(@) + vec4(100u))",
    "u32(@ == 0u)",
    "dot(vec3(@, 3u, l), vec3(2u, g, 5u))",
    "(vec4(@) >> vec4(1u, 7u, 31u, l)).y",
    "u32(!bool(@))",
    "pack4xI8(unpack4xI8(@) - vec4(i32(l)))",
    "u32(round(f32(@ & 0xfffu) * 0.25))",
    "u32(floor(f32(@ & 0xfffu) / 8.0))",
];

/// `@` and `#` are the operands. The last ones are for constants on the right that must not be wrong.
const BINARY: [&str; 34] = [
    "(@ + #)",
    "(@ - #)",
    "(@ * #)",
    "(@ & #)",
    "(@ | #)",
    "(@ ^ #)",
    "min(@, #)",
    "max(@, #)",
    "u32((@) < #)",
    "u32(@ >= #)",
    "u32(@ == #)",
    "u32(@ != #)",
    "bitcast<u32>(min(bitcast<i32>(@), bitcast<i32>(#)))",
    "bitcast<u32>(max(bitcast<i32>(@), bitcast<i32>(#)))",
    "u32((bitcast<i32>(@)) < (bitcast<i32>(#)))",
    "u32(bitcast<i32>(@) > bitcast<i32>(#))",
    "dot4U8Packed(@, #)",
    "bitcast<u32>(dot4I8Packed(@, #))",
    "(vec2(@, #) * vec2(3u, 5u)).y",
    "(vec3(@, l, #).zxy + vec3(g)).x",
    "bitcast<u32>(bitcast<i32>(@) * bitcast<i32>(#))",
    "u32(any(vec2(@, l) < vec2(#, g)))",
    "select(@, g, # > l)",
    "u32(@ > l && # > g)",
    "u32(@ > l || # > g)",
    "u32(all(vec2(@, #) != vec2(l)))",
    "(@ / #)",
    "(@ % #)",
    "((@) << #)",
    "(@ >> #)",
    "bitcast<u32>(bitcast<i32>(@) / bitcast<i32>(#))",
    "bitcast<u32>(bitcast<i32>(@) % bitcast<i32>(#))",
    "bitcast<u32>((bitcast<i32>(@)) << (#))",
    "bitcast<u32>(bitcast<i32>(@) >> #)",
];
const PARTICULAR: usize = 26;

/// `@`, `#` and `$` are the operands.
const TERNARY: [&str; 8] = [
    "select(@, #, ($ & 1u) == 1u)",
    "clamp(@, # & 0xffu, ($ & 0xffu) + 256u)",
    "extractBits(@, #, $)",
    "bitcast<u32>(extractBits(bitcast<i32>(@), #, $))",
    "insertBits(@, #, $, 5u)",
    "insertBits(@, #, 3u, $)",
    "(vec3(@, #, $).zxy ^ vec3(l)).y",
    "array<u32, 3>(@, #, $)[l % 3u]",
];

const COMPOUND: [&str; 9] = ["+=", "-=", "*=", "^=", "&=", "|=", "/=", "%=", "<<="];
const VECTOR: [&str; 6] = ["+", "-", "*", "^", "/", "%"];
const ATOMIC: [&str; ATOMICS as usize] = ["atomicAdd", "atomicSub", "atomicMax", "atomicMin", "atomicXor", "atomicOr"];
const COMBINE: [&str; 4] = ["atomicAdd", "atomicMax", "atomicXor", "atomicOr"];

/// What may be named.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    Kernel,
    /// The kernel's own function: it has no workgroup, and calls nobody.
    Helper,
}

fn pick<'a>(list: &'a [&'a str], op: u8) -> &'a str {
    list[usize::from(op) % list.len()]
}

impl Expr {
    fn text(&self, scope: Scope, shared: u32) -> String {
        let of = |expr: &Self| expr.text(scope, shared);
        match self {
            // No constant for the front end, which refuses what it can see is wrong.
            Self::Number(value) => format!("({value}u + zero)"),
            Self::Variable(at) => format!("v{at}"),
            Self::BuiltIn(at) => pick(&["l", "g", "id.x", "id.y", "n", "arrayLength(&input)"], *at).to_owned(),
            Self::Own(index) => format!("own[{} % {CELLS}u]", of(index)),
            Self::Shared(index) if scope == Scope::Kernel => format!("words[{} % {shared}u]", of(index)),
            Self::Shared(index) | Self::Input(index) => format!("input[{} % arrayLength(&input)]", of(index)),
            Self::Component(vector, index) => format!("w{vector}[{} % 4u]", of(index)),
            Self::Unary(op, a) => pick(&UNARY, *op).replace('@', &of(a)),
            Self::Binary(op, a, b) => {
                let op = usize::from(*op) % BINARY.len();
                let right = match (&**a, &**b) {
                    // As the constant that it is, where the left side is none and nothing is wrong with it.
                    (Self::Number(_), _) => of(b),
                    (_, Self::Number(value)) if op < PARTICULAR || (1..32).contains(value) => format!("{value}u"),
                    _ => of(b),
                };
                replace(BINARY[op], &[&of(a), &right])
            }
            Self::Ternary(op, parts) => {
                let [a, b, c] = &**parts;
                replace(pick(&TERNARY, *op), &[&of(a), &of(b), &of(c)])
            }
            Self::Call(a, b) if scope == Scope::Kernel => format!("help({}, {})", of(a), of(b)),
            Self::Call(a, b) => format!("({} ^ {})", of(a), of(b)),
        }
    }
}

/// A template with its signs replaced, all at once.
fn replace(template: &str, parts: &[&str]) -> String {
    let mut text = String::new();
    for sign in template.chars() {
        match sign {
            '@' => text.push_str(parts[0]),
            '#' => text.push_str(parts[1]),
            '$' => text.push_str(parts[2]),
            other => text.push(other),
        }
    }
    text
}

struct Writer {
    out: String,
    scope: Scope,
    shared: u32,
    names: u32,
}

macro_rules! line {
    ($writer:expr, $($format:tt)*) => {
        writeln!($writer.out, $($format)*).expect("a string takes all")
    };
}

impl Writer {
    fn of(&self, expr: &Expr) -> String {
        expr.text(self.scope, self.shared)
    }

    fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn list(&mut self, list: &[Statement]) {
        list.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        let name = self.name();
        match statement {
            Statement::Assign(to, value) => line!(self, "v{to} = {};", self.of(value)),
            Statement::Compound(to, op, value) => line!(self, "v{to} {} {};", pick(&COMPOUND, *op), self.of(value)),
            Statement::SetOwn(index, value) => line!(self, "own[{} % {CELLS}u] = {};", self.of(index), self.of(value)),
            Statement::SetComponent(to, index, value) => {
                line!(self, "w{to}[{} % 4u] = {};", self.of(index), self.of(value));
            }
            Statement::SetVector(to, op, a, b) => {
                line!(self, "w{to} = w{to}.yzwx {} vec4({}, v0, {}, v1);", pick(&VECTOR, *op), self.of(a), self.of(b));
            }
            Statement::If(condition, yes, no) => {
                line!(self, "if ({} & 1u) == 1u {{", self.of(condition));
                self.list(yes);
                line!(self, "}} else {{");
                self.list(no);
                line!(self, "}}");
            }
            Statement::For(rounds, leave, skip, body) => {
                line!(self, "for (var i_{name} = 0u; i_{name} < {rounds}u; i_{name}++) {{");
                line!(self, "if {} % 7u == 6u {{ break; }}", self.of(leave));
                line!(self, "if {} % 5u == 4u {{ continue; }}", self.of(skip));
                self.list(body);
                line!(self, "}}");
            }
            Statement::Loop(rounds, body, to, value) => {
                line!(self, "var i_{name} = 0u; loop {{");
                self.list(body);
                line!(self, "if v{to} % 3u == 1u {{ continue; }} v{to} += 2u;");
                line!(self, "continuing {{ i_{name}++; v{to} ^= {};", self.of(value));
                line!(self, "break if i_{name} >= {rounds}u || v{to} % 11u == 3u; }} }}");
            }
            Statement::Switch(of, cases) => {
                line!(self, "switch {} % 6u {{", self.of(of));
                for (label, body) in ["case 0u", "case 1u, 4u", "case 3u", "default"].into_iter().zip(cases) {
                    line!(self, "{label}: {{");
                    self.list(body);
                    line!(self, "if v0 % 5u == 2u {{ break; }} v1++; }}");
                }
                line!(self, "}}");
            }
            Statement::Atomic(word, value) if self.scope == Scope::Kernel => {
                line!(self, "{}(&atomics[{word}], {});", ATOMIC[usize::from(*word)], self.of(value));
            }
            Statement::Bump(to, value) if self.scope == Scope::Kernel => {
                line!(self, "bump(&v{to}, {});", self.of(value));
            }
            Statement::Atomic(..) | Statement::Bump(..) => {}
        }
    }

    fn together(&mut self, list: &[Together]) {
        for part in list {
            let name = self.name();
            match part {
                Together::Alone(list) => self.list(list),
                Together::SetShared(value) => {
                    line!(self, "let t_{name} = {}; workgroupBarrier();", self.of(value));
                    line!(self, "words[l] = t_{name}; workgroupBarrier();");
                }
                Together::Broadcast(to, value) => {
                    line!(self, "let t_{name} = {}; workgroupBarrier();", self.of(value));
                    line!(self, "if l == 0u {{ first = t_{name}; }} v{to} = workgroupUniformLoad(&first);");
                }
                Together::Combine(to, op, value) => {
                    line!(self, "if l == 0u {{ atomicStore(&all_of_them, 0u); }} workgroupBarrier();");
                    line!(self, "{}(&all_of_them, {}); workgroupBarrier();", pick(&COMBINE, *op), self.of(value));
                    line!(self, "v{to} = atomicLoad(&all_of_them); workgroupBarrier();");
                }
                Together::For(rounds, body) => {
                    line!(self, "for (var i_{name} = 0u; i_{name} < {rounds}u + g % 2u; i_{name}++) {{");
                    self.together(body);
                    line!(self, "}}");
                }
                Together::If(below, yes, no) => {
                    line!(self, "if g < {below}u {{");
                    self.together(yes);
                    line!(self, "}} else {{");
                    self.together(no);
                    line!(self, "}}");
                }
            }
        }
    }

    fn variables(&mut self) {
        (0..VARIABLES).for_each(|at| line!(self, "var v{at} = l * {at}u + g;"));
        (0..VECTORS).for_each(|at| line!(self, "var w{at} = vec4(l, g, {at}u, 7u);"));
        line!(self, "var own: array<u32, {CELLS}>;");
    }
}

impl Kernel {
    /// Invocations of a workgroup.
    pub fn invocations(&self) -> u32 {
        u32::from(self.size.0) * u32::from(self.size.1)
    }

    /// Workgroups.
    pub fn workgroups(&self) -> [u32; 3] {
        [self.groups.0.into(), self.groups.1.into(), 1]
    }

    /// Words that it leaves.
    pub fn words(&self) -> usize {
        let groups = usize::from(self.groups.0) * usize::from(self.groups.1);
        groups * self.invocations() as usize * WORDS
    }

    /// The kernel in WGSL. Its input is binding 0, its atomic words are binding 1, what it leaves is binding 2.
    pub fn text(&self) -> String {
        let invocations = self.invocations();
        let mut writer = Writer { out: String::new(), scope: Scope::Helper, shared: invocations, names: 0 };
        line!(writer, "@group(0) @binding(0) var<storage> input: array<u32>;");
        line!(writer, "@group(0) @binding(1) var<storage, read_write> atomics: array<atomic<u32>, {ATOMICS}>;");
        line!(writer, "@group(0) @binding(2) var<storage, read_write> o: array<u32>;");
        line!(writer, "var<workgroup> words: array<u32, {invocations}>;");
        line!(writer, "var<workgroup> first: u32;");
        line!(writer, "var<workgroup> all_of_them: atomic<u32>;");
        line!(writer, "var<private> bumped: u32 = 3u;");
        line!(writer, "fn bump(p: ptr<function, u32>, by: u32) {{ *p = *p * 3u + by + bumped; bumped++; }}");
        line!(writer, "fn help(l: u32, g: u32) -> u32 {{");
        line!(writer, "let zero = input[0] - input[0]; let n = 2u + zero; let id = vec2(g, l);");
        writer.variables();
        writer.list(&self.helper);
        line!(writer, "if v0 % 4u == 3u {{ return v1; }} return v0 ^ v2 ^ own[v3 % {CELLS}u] ^ w0.x ^ w1.w;\n}}");
        writer.scope = Scope::Kernel;
        line!(writer, "@compute @workgroup_size({}, {}) fn main(", self.size.0, self.size.1);
        line!(writer, "@builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3<u32>,");
        line!(writer, "@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{");
        line!(writer, "let n = groups.x * groups.y; let g = group.x + group.y * groups.x;");
        line!(writer, "let zero = input[0] - input[0]; let at = (g * {invocations}u + l) * {WORDS}u;");
        writer.variables();
        writer.together(&self.body);
        if let Some(end) = &self.end {
            line!(writer, "if {} % 3u == 1u {{ o[at] = v0 + 1u; return; }}", writer.of(end));
        }
        writer.list(&self.tail);
        let variables = (0..VARIABLES).map(|at| format!("v{at}"));
        let vectors = (0..VECTORS).flat_map(|at| ["x", "y", "z", "w"].map(|part| format!("w{at}.{part}")));
        let cells = (0..CELLS).map(|at| format!("own[{at}]"));
        for (word, value) in variables.chain(vectors).chain(cells).enumerate() {
            line!(writer, "o[at + {word}u] = {value};");
        }
        line!(writer, "}}");
        writer.out
    }
}

//! An expression over columns of values.

use std::fmt::Write as _;

use crate::common::{Run, bytes_u, run, words};

/// What a column holds, or a result is.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Kind {
    Bool,
    I32,
    U32,
    F32,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::F32 => "f32",
        }
    }

    /// How a value becomes a word.
    fn word(self, size: usize, expression: &str) -> String {
        let word = if size == 1 { "u32".to_owned() } else { format!("vec{size}<u32>") };
        if self == Self::Bool { format!("{word}({expression})") } else { format!("bitcast<{word}>({expression})") }
    }
}

/// An expression of `x`, `y` and `z`, as many as there are columns.
pub struct Table {
    /// In it `%T` stands for the result's type, `%U` for as many `u32`.
    pub expression: &'static str,
    pub columns: &'static [Kind],
    pub result: Kind,
}

const NAMES: [&str; 4] = ["x", "y", "z", "w"];

impl Table {
    /// Its value in each row, as bits. Asserts that vectors give the same.
    pub fn evaluate(&self, columns: &[Vec<u32>]) -> Vec<u32> {
        let outputs = self.run(&[1, 2, 3, 4], columns);
        let rows = columns[0].len();
        for (size, output) in (2..=4).zip(&outputs[1..]) {
            // Vectors of three lie as vectors of four do.
            let stride = if size == 3 { 4 } else { size };
            for (row, at) in (0..rows).flat_map(|row| (0..size).map(move |at| (row, at))) {
                let (got, want) = (output[row * stride + at], outputs[0][(row + at) % rows]);
                let both_nan =
                    self.result == Kind::F32 && [got, want].iter().all(|&bits| f32::from_bits(bits).is_nan());
                let expression = self.expression;
                assert!(got == want || both_nan, "{expression}, {at} of {size}, row {row}: {got:#x}, not {want:#x}");
            }
        }
        outputs.into_iter().next().unwrap()
    }

    /// The same of scalars only.
    pub fn evaluate_scalars(&self, columns: &[Vec<u32>]) -> Vec<u32> {
        self.run(&[1], columns).remove(0)
    }

    fn run(&self, sizes: &[usize], columns: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let rows = columns[0].len();
        let mut buffers: Vec<(u32, Vec<u8>)> = (0..).zip(columns.iter().map(|column| bytes_u(column))).collect();
        for &size in sizes {
            buffers.push((buffers.len() as u32, vec![0; rows * 4 * size.next_power_of_two()]));
        }
        let groups = [rows.div_ceil(64) as u32, 1, 1];
        let outcome = run(&self.source(sizes), "main", Run { groups, buffers, ..Run::default() });
        outcome.buffers[columns.len()..].iter().map(|bytes| words(bytes)).collect()
    }

    /// Component `k` of a vector comes from the row `k` further on.
    fn source(&self, sizes: &[usize]) -> String {
        let (mut declared, mut body) = (String::new(), String::new());
        for (at, kind) in self.columns.iter().enumerate() {
            let element = if *kind == Kind::Bool { "u32" } else { kind.name() };
            writeln!(declared, "@group(0) @binding({at}) var<storage> c{at}: array<{element}>;").unwrap();
        }
        for (at, &size) in sizes.iter().enumerate() {
            let vector =
                |kind: Kind| if size == 1 { kind.name().to_owned() } else { format!("vec{size}<{}>", kind.name()) };
            let binding = self.columns.len() + at;
            let element = vector(Kind::U32);
            writeln!(declared, "@group(0) @binding({binding}) var<storage, read_write> o{size}: array<{element}>;")
                .unwrap();
            body.push_str("{\n");
            for ((at, &kind), name) in self.columns.iter().enumerate().zip(NAMES) {
                let component = |k: usize| {
                    let row = if k == 0 { "i".to_owned() } else { format!("(i + {k}u) % n") };
                    if kind == Kind::Bool { format!("(c{at}[{row}] != 0u)") } else { format!("c{at}[{row}]") }
                };
                let components: Vec<String> = (0..size).map(component).collect();
                writeln!(body, "let {name} = {}({});", vector(kind), components.join(", ")).unwrap();
            }
            let expression = self.expression.replace("%T", &vector(self.result)).replace("%U", &vector(Kind::U32));
            writeln!(body, "o{size}[i] = {};\n}}", self.result.word(size, &expression)).unwrap();
        }
        format!(
            "{declared}@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let i = id.x; let n = arrayLength(&c0);
            if i >= n {{ return; }}
            {body}}}"
        )
    }
}

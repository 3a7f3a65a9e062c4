//! One kernel, compiled and run, against the interpreter.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hal_interpreter::{ErrorKind, FindingKind, Options};
use hal_kernel::Program;
use naga_wasm::abi::{STATUS_DONE, STATUS_STOPPED};

use crate::common::oracle::{interpret, load};
use crate::common::{Run, run_kernel};
use crate::kernel::Launch;
use crate::random::Random;

/// More than all but a few kernels take.
const STEPS: u64 = 400_000;
/// Work units for one run: far more than so many steps take.
const WORK: i64 = 1_000_000_000;

/// How it went.
#[derive(Debug)]
pub enum Verdict {
    Same,
    /// The interpreter would take too long.
    TooLong,
    /// It is no kernel whose outcome is determined: the generator is wrong, or a cut went too far.
    Invalid(String),
    Fails(Failure),
}

/// What is wrong with the compiler, or with the interpreter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// The compiler does not take it.
    Refused,
    /// The compiler panics, what it makes is not valid or traps, or it writes where it must not.
    Panicked,
    /// It does not come to its end.
    Endless,
    /// It leaves something else.
    Differs,
}

/// A failure, and what to tell about it.
#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
}

/// What a word of a buffer is.
#[derive(Clone, Copy, PartialEq)]
enum Word {
    Integer,
    /// One of the two of an integer of 64 bits, which begins at an even word.
    Wide,
    /// All that are no number are equal.
    Float,
    /// A float of which there is not much, and which others can be added to without rounding.
    Few,
    /// Two floats of 16 bits.
    Halves,
    /// One of them, and nothing.
    Half,
    /// Between members. It may have any value.
    Padding,
}

/// The words of an `Item`: integers, floats, and what lies between.
const ITEM: &[u8] = b"i---fffiii--fff-fff-ii--";
/// The words of a `Mixed`.
const MIXED: &[u8] = b"l-hlhlhlwwww";

struct Buffer {
    binding: u32,
    words: Vec<u32>,
    /// What its words are, again and again: the letters are in [`Buffer::kind`].
    pattern: &'static [u8],
}

impl Buffer {
    fn kind(&self, at: usize) -> Word {
        match self.pattern[at % self.pattern.len()] {
            b'i' => Word::Integer,
            b'w' => Word::Wide,
            b'f' => Word::Float,
            b'n' => Word::Few,
            b'h' => Word::Halves,
            b'l' => Word::Half,
            _ => Word::Padding,
        }
    }

    fn filled(binding: u32, count: usize, pattern: &'static [u8], random: &mut Random) -> Self {
        let mut buffer = Self { binding, words: vec![0; count], pattern };
        let mut wide = 0;
        for at in 0..count {
            buffer.words[at] = match buffer.kind(at) {
                Word::Integer => random.word(),
                Word::Wide => {
                    wide = if at.is_multiple_of(2) { random.wide() } else { wide >> 32 };
                    wide as u32
                }
                Word::Float => random.float().to_bits(),
                Word::Few => (random.below(64) as f32 * 0.5).to_bits(),
                Word::Halves => u32::from(random.half()) | u32::from(random.half()) << 16,
                Word::Half => random.half().into(),
                Word::Padding => 0,
            };
        }
        buffer
    }
}

/// The buffers of the declarations, filled as the seed says.
fn buffers(launch: &Launch) -> Vec<Buffer> {
    let mut random = Random::new(!launch.seed);
    let total = launch.total() as usize;
    let (some, few) = (1 + random.below(40), 1 + random.below(4));
    let shapes: [(usize, &[u8]); 22] = [
        (some, b"i"),
        (some, b"f"),
        (few * ITEM.len(), ITEM),
        (16, b"i"),
        (total * 6, b"i"),
        (total * ITEM.len(), ITEM),
        (total * 4, b"f"),
        (total * 4, b"i"),
        (total * 2, b"f"),
        (total, b"i"),
        (total, b"i"),
        (24, b"i"),
        (24, b"i"),
        (total, b"i"),
        ((1 + some) * 4, b"f"),
        (few * MIXED.len(), MIXED),
        ((1 + some) * 2, b"w"),
        ((total * 3).div_ceil(2), b"h"),
        (total * 4, b"w"),
        (total * MIXED.len(), MIXED),
        (12, b"n"),
        (total, b"f"),
    ];
    let filled = |(binding, (count, pattern))| Buffer::filled(binding, count, pattern, &mut random);
    (0..).zip(shapes).map(filled).collect()
}

fn bytes(buffers: &[Buffer]) -> Vec<(u32, Vec<u8>)> {
    let bytes = |buffer: &Buffer| buffer.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    buffers.iter().map(|buffer| (buffer.binding, bytes(buffer))).collect()
}

/// Runs a kernel both ways. With `strictly`, also looks for races, which would make any outcome right.
pub fn check(source: &str, launch: &Launch, strictly: bool) -> Verdict {
    let program = match load(source) {
        Ok(program) => program,
        Err(error) if error.code == hal_kernel::ErrorCode::ResourceExhausted => return Verdict::TooLong,
        Err(error) => return Verdict::Invalid(error.to_string()),
    };
    let buffers = buffers(launch);
    let mut wanted = bytes(&buffers);
    let constants = constants(launch, &program);
    let options = Options { steps: STEPS, checks: strictly, ..Options::default() };
    match interpret(&program, launch.groups, &constants, &mut wanted, &options) {
        Ok(report) => {
            if let Some(race) = report.findings.iter().find(|finding| finding.kind == FindingKind::Race) {
                return Verdict::Invalid(format!("{race:?}"));
            }
        }
        Err(error) if error.kind == ErrorKind::Steps => return Verdict::TooLong,
        Err(error) => return Verdict::Invalid(error.to_string()),
    }
    let fails = |kind, message| Verdict::Fails(Failure { kind, message });
    match catch_unwind(AssertUnwindSafe(|| run(&program, launch, &constants, bytes(&buffers)))) {
        Err(_) => fails(Kind::Panicked, "see above".to_owned()),
        Ok(Err(failure)) => Verdict::Fails(failure),
        Ok(Ok(got)) => match difference(&buffers, &got, &wanted) {
            Some(message) => fails(Kind::Differs, message),
            None => Verdict::Same,
        },
    }
}

/// Two words of any value, one and zero; none if the kernel has no use for them.
fn constants(launch: &Launch, program: &Program) -> Vec<u8> {
    let mut random = Random::new(launch.seed);
    let words = [random.below(2) as u32, random.word(), 1, 0];
    let bytes = words.into_iter().flat_map(u32::to_le_bytes);
    bytes.take(program.function("main").map_or(0, |function| function.constant_bytes as usize)).collect()
}

/// Compiles and runs it, in one piece or in two, with much budget or with little; now and then first with too little.
fn run(
    program: &Program,
    launch: &Launch,
    constants: &[u8],
    mut buffers: Vec<(u32, Vec<u8>)>,
) -> Result<Vec<(u32, Vec<u8>)>, Failure> {
    let options = naga_wasm::Options::default();
    let kernel = naga_wasm::compile(program.module(), program.info(), "main", &options)
        .map_err(|diagnostic| Failure { kind: Kind::Refused, message: diagnostic.to_string() })?;
    let total = launch.groups.iter().map(|&count| u64::from(count)).product();
    let middle = if launch.seed.is_multiple_of(3) { total / 2 } else { total };
    let budget = if launch.seed.is_multiple_of(5) { 700 } else { 1_000_000 };
    let begin = |buffers: &[(u32, Vec<u8>)], range, budget, refills| {
        let (groups, constants) = (launch.groups, constants.to_vec());
        run_kernel(&kernel, Run { groups, constants, buffers: buffers.to_vec(), range: Some(range), budget, refills })
    };
    let endless = |status| Failure { kind: Kind::Endless, message: format!("status {status}") };
    if launch.seed.is_multiple_of(7) {
        // Stopped wherever it is: it must return, and not have written where it may not.
        let status = begin(&buffers, (0, total), 60, 2).status;
        if status != STATUS_DONE && status != STATUS_STOPPED {
            return Err(endless(status));
        }
    }
    for range in [(0, middle), (middle, total)].into_iter().filter(|(begin, end)| begin < end) {
        let outcome = begin(&buffers, range, budget, WORK / budget);
        if outcome.status != STATUS_DONE {
            return Err(endless(outcome.status));
        }
        for ((_, bytes), after) in buffers.iter_mut().zip(outcome.buffers) {
            *bytes = after;
        }
    }
    Ok(buffers)
}

/// Whether the lower halves of two words are the same `f16`; all that are no number are.
fn same_half(got: u32, wanted: u32) -> bool {
    let [got, wanted] = [got, wanted].map(|word| word & 0xffff);
    let nan = |half: u32| half & 0x7fff > 0x7c00;
    got == wanted || nan(got) && nan(wanted)
}

/// The first word that is not the same.
fn difference(buffers: &[Buffer], got: &[(u32, Vec<u8>)], wanted: &[(u32, Vec<u8>)]) -> Option<String> {
    for ((buffer, (_, got)), (_, wanted)) in buffers.iter().zip(got).zip(wanted) {
        let words = crate::common::words(got).into_iter().zip(crate::common::words(wanted));
        for (at, (got, wanted)) in words.enumerate() {
            let floats = [got, wanted].map(f32::from_bits);
            let same = match buffer.kind(at) {
                Word::Integer | Word::Wide => got == wanted,
                Word::Float | Word::Few => got == wanted || floats[0].is_nan() && floats[1].is_nan(),
                Word::Halves => same_half(got, wanted) && same_half(got >> 16, wanted >> 16),
                Word::Half => same_half(got, wanted),
                Word::Padding => true,
            };
            if !same {
                let name = buffer.binding;
                return Some(format!(
                    "binding {name}, word {at}: {got:#x} ({}), not {wanted:#x} ({})",
                    floats[0], floats[1]
                ));
            }
        }
    }
    None
}

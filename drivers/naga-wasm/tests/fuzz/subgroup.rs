//! What the invocations of a subgroup do together: those of them that come to it in the same rounds of the same loops.
//!
//! What an invocation gets from one that is not there is not determined, so each exchange asks first who is. Sums and products of
//! floats are of such as are not rounded: their order is not determined.

use crate::expression::{Generator, Variable};
use crate::tree::{BOOL, Expr, I32, Scalar, Stmt, Text, Type, U32};

/// On integers, as scalars and as vectors.
const COLLECTIVES: [&str; 12] = [
    "subgroupAdd",
    "subgroupMul",
    "subgroupMin",
    "subgroupMax",
    "subgroupAnd",
    "subgroupOr",
    "subgroupXor",
    "subgroupInclusiveAdd",
    "subgroupInclusiveMul",
    "subgroupExclusiveAdd",
    "subgroupExclusiveMul",
    "subgroupBroadcastFirst",
];

/// Those of them that floats have too: whose result is one of the values, and the others.
const CHOICES: [&str; 3] = ["subgroupMin", "subgroupMax", "subgroupBroadcastFirst"];
const SUMS: [&str; 6] = [
    "subgroupAdd",
    "subgroupMul",
    "subgroupInclusiveAdd",
    "subgroupInclusiveMul",
    "subgroupExclusiveAdd",
    "subgroupExclusiveMul",
];

const VOTES: [&str; 4] = [
    "subgroupAll($0)",
    "subgroupAny($0)",
    "(countOneBits(subgroupBallot($0).x) == 2u)",
    // Of those who are there and say so, the first one.
    "(countTrailingZeros(subgroupBallot($0).x) == lane)",
];

/// An exchange of `$0`, and whose value one gets; without a number where only the entry point knows it.
const EXCHANGES: [(&str, &str); 12] = [
    ("subgroupBroadcast($0, 0u)", "0u"),
    ("subgroupBroadcast($0, 2u)", "2u"),
    ("quadBroadcast($0, 3u)", "3u"),
    ("subgroupShuffle($0, known.y & 3u)", "(known.y & 3u)"),
    ("quadSwapX($0)", "(lane ^ 1u)"),
    ("quadSwapY($0)", "(lane ^ 2u)"),
    ("quadSwapDiagonal($0)", "(3u - lane)"),
    ("subgroupShuffleXor($0, known.y & 3u)", "(lane ^ (known.y & 3u))"),
    ("subgroupShuffleUp($0, 1u)", "min(lane - 1u, 31u)"),
    ("subgroupShuffleDown($0, 2u)", "(lane + 2u)"),
    ("subgroupShuffle($0, (l * 3u + 1u) & 3u)", "((l * 3u + 1u) & 3u)"),
    ("subgroupShuffle($0, place / 3u & 3u)", "(place / 3u & 3u)"),
];
/// How many of them do not need to know who one is.
const ANYWHERE: usize = 4;

impl Generator {
    /// A value of a type that a subgroup makes together, out of at most so many levels.
    pub fn collective(&mut self, ty: &Type, depth: u32) -> Option<Expr> {
        if self.uniform || !self.subgroups {
            return None;
        }
        let (text, operands) = match *ty {
            Type::Scalar(Scalar::Bool) => {
                let count = if self.entry { VOTES.len() } else { VOTES.len() - 1 };
                (VOTES[self.random.below(count)].to_owned(), vec![BOOL])
            }
            Type::Vector(_, Scalar::Bool) => return None,
            Type::Scalar(Scalar::U32) if self.random.percent(30) => ("subgroupBallot($0).x".to_owned(), vec![BOOL]),
            Type::Vector(4, Scalar::U32) if self.random.percent(30) => ("subgroupBallot($0)".to_owned(), vec![BOOL]),
            Type::Scalar(_) | Type::Vector(..) if self.random.percent(50) => self.reduction(ty),
            Type::Scalar(_) | Type::Vector(..) => {
                let count = if self.entry { EXCHANGES.len() } else { ANYWHERE };
                let (exchange, from) = EXCHANGES[self.random.below(count)];
                (format!("select($1, {exchange}, {})", is_there(from)), vec![ty.clone(), ty.clone()])
            }
            Type::Matrix(..) | Type::Array(..) | Type::Item => return None,
        };
        let parts = operands.iter().map(|operand| self.expr(operand, depth - 1)).collect();
        Some(Expr::new(ty.clone(), text, parts))
    }

    /// What becomes of the values of all, or of those up to one's own, and the type of these.
    fn reduction(&mut self, ty: &Type) -> (String, Vec<Type>) {
        let integers = match *ty {
            Type::Scalar(scalar) if scalar.is_float() => I32,
            Type::Vector(size, scalar) if scalar.is_float() => Type::Vector(size, Scalar::I32),
            _ => return (format!("{}($0)", self.random.pick(&COLLECTIVES)), vec![ty.clone()]),
        };
        if self.random.percent(40) {
            return (format!("{}({ty}($0))", self.random.pick(&CHOICES)), vec![integers]);
        }
        (format!("{}({ty}($0 % 6i))", self.random.pick(&SUMS)), vec![integers])
    }

    /// A value of one whose number is computed.
    pub fn shuffle(&mut self) -> Option<Stmt> {
        let ty = self.ty();
        if self.uniform
            || !self.subgroups
            || !matches!(ty, Type::Scalar(scalar) | Type::Vector(_, scalar) if scalar != Scalar::Bool)
        {
            return None;
        }
        let to = self.place(&ty, true, 1)?;
        let (from, value, other) = (self.expr(&U32, 2), self.expr(&ty, 2), self.expr(&ty, 1));
        let name = self.fresh("n");
        let text = format!("let {name} = $0 & 3u; $1 = select($2, subgroupShuffle($3, {name}), {});", is_there(&name));
        Some(Stmt::Line(Text::new(text, vec![from, to, other, value])))
    }

    /// Through the workgroup's memory, but among a subgroup only: each sets its own word, then each reads one of its subgroup's.
    pub fn subgroup_exchange(&mut self, element: &Type) -> Stmt {
        let parts = vec![self.expr(element, 1), self.expr(element, 2), self.expr(&U32, 2), self.expr(&BOOL, 2)];
        let (next, at, asks, name) = (self.fresh("v"), self.fresh("n"), self.fresh("v"), self.fresh("v"));
        // All before the barrier: behind it nobody reads what is another's.
        let open = format!(
            "var {name} = $0; let {next} = $1; let {at} = $2; let {asks} = subgroupAny($3);
            workgroupBarrier(); shared_words[l] = {next};"
        );
        // The last one of all is of the same subgroup as who would read past it.
        let read = format!("subgroupBarrier(); {name} = shared_words[(l & ~3u) + ({at} & 3u)];");
        let read = if self.random.percent(50) { read } else { format!("if {asks} {{ {read} }}") };
        let close = Text::plain(format!("{read} workgroupBarrier();"));
        self.scope.push(Variable { text: name, ty: element.clone(), writable: true, uniform: false, local: true });
        Stmt::Around { open: Text::new(open, parts), body: Vec::new(), continuing: None, close }
    }
}

/// Whether the invocation of this number is here too. All that are here have to ask: no `&&`.
fn is_there(number: &str) -> String {
    format!("((subgroupBallot().x >> {number}) & 1u) == 1u")
}

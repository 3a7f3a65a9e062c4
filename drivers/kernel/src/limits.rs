//! Caps on source, each with the reason for its value.
//!
//! naga's front ends recurse on some constructs and are quadratic on others: a few kilobytes of WGSL overflow a stack of
//! 2 MiB, which nothing can catch. The values below keep every such input inside the 64 MiB stack that parsing gets, and
//! its time to about a second; all are far above what kernels need.

/// Bytes of WGSL. At 64 KiB every recursive construct was shown to survive; the other caps bound what lies above.
pub const MAX_WGSL_BYTES: usize = 256 << 10;
/// Bytes of SPIR-V: it is about four times as long as the WGSL for the same kernel.
pub const MAX_SPIRV_BYTES: usize = 1 << 20;
/// Tokens in all. Statements that read each other's results take quadratic time: 10,000 of them took 6 s.
pub const MAX_TOKENS: usize = 32_768;
/// Tokens of one statement or declaration, of which the elements of a list in parentheses or brackets count one at a time. A chain `1+1+1…` is
/// parsed by recursion; a table of values is not.
pub const MAX_STATEMENT_TOKENS: usize = 512;
/// Tokens of one statement or declaration, lists included: a table of about a thousand numbers. naga looks through a whole table for each
/// use of it, so that one of 6,000 that is used 1,600 times took 38 s in a debug build.
pub const MAX_LIST_TOKENS: usize = 2_048;
/// Prefix operators in a row, which are parsed by recursion: 1,800 of them overflow 2 MiB.
pub const MAX_PREFIX_RUN: usize = 64;
/// `else if` in one chain, which become nested blocks: 1,500 of them overflow 2 MiB.
pub const MAX_ELSE_IFS: usize = 64;
/// Declarations at module scope. Chains of aliases and constants are resolved by recursion: 6,600 overflow 2 MiB.
pub const MAX_DECLARATIONS: usize = 1_024;
/// Statements in one function; see [`MAX_TOKENS`].
pub const MAX_FUNCTION_STATEMENTS: usize = 4_096;
/// Instructions of SPIR-V: the counterpart of [`MAX_TOKENS`]; one token is about two instructions.
pub const MAX_SPIRV_INSTRUCTIONS: usize = 65_536;
/// Ids in a SPIR-V module: no more than words could define them.
pub const MAX_SPIRV_BOUND: u32 = 262_144;
/// Structured selections and loops inside each other in SPIR-V. WGSL's front end stops at 127 braces itself.
pub const MAX_SPIRV_NESTING: usize = 64;
/// Types inside types in SPIR-V. WGSL's front end has such a limit itself.
pub const MAX_SPIRV_TYPE_NESTING: usize = 32;
/// Bytes of one type in SPIR-V: what the front end can count to. Eight arrays of sixteen inside each other reach it in 200
/// bytes, and the front end answers with a panic, which is caught, but not worth reaching.
pub const MAX_SPIRV_TYPE_BYTES: u64 = i32::MAX as u64;
/// Stack of the thread that parses.
pub const COMPILE_STACK_BYTES: usize = 64 << 20;
/// Threads that parse or compile at a time, in the process. More would only share the same processors.
pub const MAX_COMPILE_THREADS: usize = 3;

/// Caps on untrusted source. [`SourceLimits::default`] holds the largest values that were shown to be safe. A policy can
/// lower them; a value above the default counts as the default.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SourceLimits {
    /// Most bytes of WGSL; at most [`MAX_WGSL_BYTES`].
    pub wgsl_bytes: usize,
    /// Most bytes of SPIR-V; at most [`MAX_SPIRV_BYTES`].
    pub spirv_bytes: usize,
    /// Most tokens of WGSL; at most [`MAX_TOKENS`].
    pub tokens: usize,
    /// Most declarations at module scope of WGSL; at most [`MAX_DECLARATIONS`].
    pub declarations: usize,
    /// Most statements in a function of WGSL; at most [`MAX_FUNCTION_STATEMENTS`].
    pub function_statements: usize,
    /// Most instructions of SPIR-V; at most [`MAX_SPIRV_INSTRUCTIONS`].
    pub spirv_instructions: usize,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            wgsl_bytes: MAX_WGSL_BYTES,
            spirv_bytes: MAX_SPIRV_BYTES,
            tokens: MAX_TOKENS,
            declarations: MAX_DECLARATIONS,
            function_statements: MAX_FUNCTION_STATEMENTS,
            spirv_instructions: MAX_SPIRV_INSTRUCTIONS,
        }
    }
}

impl SourceLimits {
    /// These limits, none above its default.
    pub(crate) fn capped(&self) -> Self {
        let most = Self::default();
        Self {
            wgsl_bytes: self.wgsl_bytes.min(most.wgsl_bytes),
            spirv_bytes: self.spirv_bytes.min(most.spirv_bytes),
            tokens: self.tokens.min(most.tokens),
            declarations: self.declarations.min(most.declarations),
            function_statements: self.function_statements.min(most.function_statements),
            spirv_instructions: self.spirv_instructions.min(most.spirv_instructions),
        }
    }
}

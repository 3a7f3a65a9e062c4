//! Caps on source, each with the reason for its value.

/// Caps on untrusted source. [`SourceLimits::default`] holds the largest values that were shown to be safe; a policy
/// can lower them, and what is above the default counts as the default.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SourceLimits {
    /// Most bytes of WGSL.
    pub wgsl_bytes: usize,
    /// Most bytes of SPIR-V.
    pub spirv_bytes: usize,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self { wgsl_bytes: 256 << 10, spirv_bytes: 1 << 20 }
    }
}

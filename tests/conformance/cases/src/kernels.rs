//! The kernels, as WGSL within the portable profile, but for the features that some are for.

macro_rules! kernels {
    ($($name:literal)*) => {
        /// Each kernel's name and source.
        pub const KERNELS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../kernels/", $name, ".wgsl")))),*];
    };
}

kernels! {
    "abs" "constants" "counts" "float_atomic" "half" "lengths" "mark" "negate_and_double" "reduce" "scale_and_offset"
    "subgroup" "sum" "uniform" "wide" "wide_atomic" "workgroup_ids"
}

/// One of them.
///
/// # Errors
/// If there is none of that name.
pub fn wgsl(name: &str) -> Result<&'static str, String> {
    let found = KERNELS.iter().find(|(known, _)| *known == name);
    found.map(|(_, source)| *source).ok_or_else(|| format!("no kernel is called {name}"))
}

//! The kernels, as WGSL within the portable profile.

macro_rules! kernels {
    ($($name:literal)*) => {
        /// Each kernel's name and source.
        pub const KERNELS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../kernels/", $name, ".wgsl")))),*];
    };
}

kernels! {
    "abs" "constants" "counts" "lengths" "mark" "negate_and_double" "reduce" "scale_and_offset" "sum" "uniform"
    "workgroup_ids"
}

/// One of them.
///
/// # Errors
/// If there is none of that name.
pub fn wgsl(name: &str) -> Result<&'static str, String> {
    let found = KERNELS.iter().find(|(known, _)| *known == name);
    found.map(|(_, source)| *source).ok_or_else(|| format!("no kernel is called {name}"))
}

//! Names of features.

/// Every feature that a device may offer. The host answers a query for one of them with 0 where a device lacks it, and knows no others.
///
/// | name | what a device that lists it offers |
/// |---|---|
/// | `f16-native` | arithmetic in `f16` as fast as in `f32` or faster |
/// | `float32-atomic` | atomic operations on `f32` |
/// | `int64-atomic` | atomic operations on `i64` and `u64` |
/// | `shader-f16` | `f16` in kernels, at whatever speed |
/// | `shader-int64` | `i64` and `u64` in kernels |
/// | `subgroup` | subgroup operations and built-in values |
pub const FEATURES: [&str; 6] =
    ["f16-native", "float32-atomic", "int64-atomic", "shader-f16", "shader-int64", "subgroup"];

//! The scalar IR to a wasm module.
//!
//! | file | emits |
//! |---|---|
//! | [`module`] | sections, imports, exports, globals |
//! | [`body`] | statements and instructions, of any function |
//! | [`operation`] | the wasm instruction of each operation |
//! | [`run`] | the exported function: loops over workgroups and invocations |
//! | [`routine`] | functions of the runtime, by need |
//! | [`exponential`], [`trigonometry`], [`bits`] | their bodies |

pub(crate) mod bits;
pub(crate) mod body;
pub(crate) mod exponential;
pub(crate) mod module;
pub(crate) mod operation;
pub(crate) mod routine;
pub(crate) mod run;
pub(crate) mod trigonometry;

//! The IR to a wasm module.
//!
//! | file | emits |
//! |---|---|
//! | [`module`] | sections, imports, exports, globals |
//! | [`run`] | the exported function: loops over workgroups, regions and gangs |
//! | [`gang`] | the built-in values of a gang |
//! | [`body`] | statements and instructions, of any function |
//! | [`budget`] | what counts the work, and leaves in time |
//! | [`value`] | operands and results, as scalars or vectors |
//! | [`operation`] | the wasm instruction of each operation |
//! | [`address`], [`memory`] | where accesses go, and the accesses |
//! | [`atomic`], [`call`] | what each lane does by itself |
//! | [`subgroup`] | what the lanes of a gang do together |
//! | [`routine`] | further functions, by need |
//! | [`cost`] | nothing; it says what code costs |

mod address;
mod atomic;
pub(crate) mod body;
mod budget;
mod call;
mod cost;
mod gang;
mod memory;
pub(crate) mod module;
mod operation;
pub(crate) mod routine;
mod row;
pub(crate) mod run;
mod subgroup;
mod value;

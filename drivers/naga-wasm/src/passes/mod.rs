//! The passes, each in a file of its name. [`crate::pipeline`] has their order.
//!
//! | pass | works on | decides or does |
//! |---|---|---|
//! | [`inline`] | naga IR | which functions are copied into their callers |
//! | [`promote`] | naga IR | which variables live in registers |
//! | [`dead`] | scalar IR | removes computations whose result nobody reads |
//! | [`uniformity`] | scalar IR | which values and which control flow are the same in a whole workgroup |
//! | [`regions`] | scalar IR | splits a function at its barriers |
//! | [`slots`] | regions | which values are kept in memory between regions, and where |
//! | [`locals`] | regions | which wasm local holds which register |

pub(crate) mod dead;
pub(crate) mod inline;
pub(crate) mod locals;
pub(crate) mod promote;
pub(crate) mod regions;
pub(crate) mod slots;
pub(crate) mod uniformity;

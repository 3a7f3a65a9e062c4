//! The passes, each in a file of its name. [`crate::pipeline`] has their order.
//!
//! | pass | works on | decides or does |
//! |---|---|---|
//! | [`inline`] | naga IR | which functions are copied into their callers |
//! | [`promote`] | naga IR | which variables live in registers |
//! | [`fold`] | IR | propagates constants and copies, unrolls short loops |
//! | [`scalars`] | IR | turns objects into variables |
//! | [`dead`] | IR | removes computations whose result nobody reads |
//! | [`liveness`] | IR | which variables are needed where invocations that parted meet again; removes assignments |
//! | [`uniformity`] | IR | how values and control flow differ between invocations |
//! | [`variance`], [`partings`] | | what `uniformity` knows of a value and of a place |
//! | [`ranges`] | IR | removes the clamps of indices that are in range |
//! | [`contract`] | IR | fuses multiplications with additions |
//! | [`regions`] | IR | splits a function at its barriers |
//! | [`masks`] | regions | turns control flow that differs within a gang into masks |
//! | [`coherence`], [`shape`] | | what `masks` knows of masks and of lists of statements |
//! | [`together`], [`guards`] | | how `masks` puts out what is there twice |
//! | [`interleave`] | regions | makes one instruction of loads that lie one after the other |
//! | [`sums`] | | which indices differ by a constant |
//! | [`slots`] | regions | which values are kept in memory between regions, and where |
//! | [`locals`] | regions | which wasm local holds which register |

pub(crate) mod coherence;
pub(crate) mod contract;
pub(crate) mod dead;
pub(crate) mod fold;
mod guards;
pub(crate) mod inline;
pub(crate) mod interleave;
pub(crate) mod liveness;
pub(crate) mod locals;
pub(crate) mod masks;
pub(crate) mod partings;
pub(crate) mod promote;
pub(crate) mod ranges;
pub(crate) mod regions;
pub(crate) mod scalars;
pub(crate) mod shape;
pub(crate) mod slots;
mod sums;
#[cfg(test)]
mod testing;
mod together;
pub(crate) mod uniformity;
pub(crate) mod variance;

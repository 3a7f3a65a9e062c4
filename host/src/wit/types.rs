//! `hal:device/types`: the one place where a failure becomes a WIT `error`.

use super::{Refusal, View};
use crate::bindings::hal::device::types;

impl types::Host for View<'_> {
    fn convert_error(&mut self, refusal: Refusal) -> wasmtime::Result<types::Error> {
        match refusal {
            Refusal::Value(error) => Ok(error.into()),
            Refusal::Trap(trap) => Err(trap),
        }
    }
}

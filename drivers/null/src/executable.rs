//! Executables: there are none.

use hal_driver::{Executable, Function};
use std::any::Any;

/// What [`load`](hal_driver::Device::load) would answer, if it could. Without a value of this type no dispatch can be asked for.
pub(crate) enum NullExecutable {}

impl Executable for NullExecutable {
    fn functions(&self) -> &[Function] {
        match *self {}
    }

    fn as_any(&self) -> &dyn Any {
        match *self {}
    }
}

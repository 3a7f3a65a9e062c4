#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod buffer;
mod device;
mod driver;
mod executable;
mod factory;
mod work;

pub use factory::NullFactory;

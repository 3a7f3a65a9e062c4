#![doc = include_str!("../README.md")]

mod buffer;
mod codegen;
mod config;
mod convert;
mod cost;
mod device;
mod dispatch;
mod driver;
mod engine;
mod executable;
mod factory;
mod heap;
mod kernel;
mod load;
mod memory;
mod pages;
mod pool;
mod slice;
mod state;
#[cfg(test)]
mod tests;
mod work;

pub use config::Config;
pub use factory::CpuFactory;

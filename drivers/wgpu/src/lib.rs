#![doc = include_str!("../README.md")]

mod adapter;
mod backend;
mod buffer;
mod config;
mod device;
mod driver;
mod executable;
mod factory;
mod native;
mod state;
mod store;
#[cfg(test)]
mod tests;
#[cfg(not(any(target_vendor = "apple", windows)))]
mod vulkan;
mod watch;

pub use config::Config;
pub use factory::WgpuFactory;

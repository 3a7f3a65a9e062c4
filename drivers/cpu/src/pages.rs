//! Page protection and giving pages back: the only calls into the operating system.

use hal_driver::{Code, Error, Result};
use std::ffi::c_void;

/// Makes pages unreachable, so that a stray access traps.
///
/// # Safety
/// `[address, address + length)` is a page-aligned part of one mapping that nothing but wasm code reaches, ever.
#[cfg(unix)]
pub(crate) unsafe fn forbid(address: *mut u8, length: usize) -> Result<()> {
    use rustix::mm::{MprotectFlags, mprotect};
    // SAFETY: by this function's contract the pages are ours, and no Rust code relies on reaching them.
    let outcome = unsafe { mprotect(address.cast::<c_void>(), length, MprotectFlags::empty()) };
    outcome
        .map_err(|error| Error::new(Code::Unavailable, format!("cannot protect guard pages of device memory: {error}")))
}

/// Makes pages read as zero and gives their memory back to the system. False if this system cannot do both at once.
///
/// # Safety
/// `[address, address + length)` is a page-aligned part of one private anonymous mapping whose contents nobody counts on.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn discard(address: *mut u8, length: usize) -> bool {
    use rustix::mm::{Advice, madvise};
    // SAFETY: by this function's contract losing the contents is what the caller wants. On Linux the pages of a private anonymous
    // mapping are zero after this call (madvise(2)).
    unsafe { madvise(address.cast::<c_void>(), length, Advice::LinuxDontNeed) }.is_ok()
}

/// Elsewhere there is no call that promises zeroes: the caller writes them.
///
/// # Safety
/// None needed.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn discard(_address: *mut u8, _length: usize) -> bool {
    false
}

/// Elsewhere than on Unix there are no guard pages inside the memory; the engine's own around it are there all the same.
///
/// # Safety
/// None needed.
#[cfg(not(unix))]
pub(crate) unsafe fn forbid(_address: *mut u8, _length: usize) -> Result<()> {
    Ok(())
}

/// Physical memory of the machine in bytes, if the system tells.
pub(crate) fn system_memory() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let info = rustix::system::sysinfo();
        Some(info.totalram.saturating_mul(info.mem_unit.into()))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

//! Machine code that outlives a process.

use std::fmt::Debug;

/// Keeps the machine code that drivers make of kernels, for the next process. The host has one on disk; a driver that is given none compiles anew.
///
/// Code is found by what it was made from and for: parts, each of any length, that together decide which code comes out. A driver puts into them
/// the input of its code generator and whatever identifies that generator and the processor, and its own name, since drivers may share a cache.
///
/// Whoever loads a kernel can tell by the time it takes whether the same one was loaded before, by anybody who used the cache.
///
/// Both methods are *blocking*, may be called from any thread at any time, and never fail: what cannot be read is not there, and what cannot be
/// kept is compiled again.
///
/// # Safety
/// What a driver is handed by [`CodeCache::load`] it runs. An implementation answers nothing but the whole of what [`CodeCache::store`] was given
/// under the same parts, by a program of this user's, and keeps it where nobody else can write.
#[expect(unsafe_code, reason = "nothing here is unsafe; to implement it is")]
pub unsafe trait CodeCache: Debug + Send + Sync {
    /// The code that was kept under these parts.
    fn load(&self, parts: &[&[u8]]) -> Option<Vec<u8>>;

    /// Keeps code under these parts, in the place of what was there.
    fn store(&self, parts: &[&[u8]], code: &[u8]);
}

//! Device memory.

use crate::Result;
use std::{any::Any, future::Future, pin::Pin};

macro_rules! flags {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $flag:ident = $bit:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(u32);

        impl $name {
            $($(#[$fdoc])* pub const $flag: Self = Self(1 << $bit);)*

            /// No bits.
            pub const fn empty() -> Self {
                Self(0)
            }

            /// Every bit that has a name.
            pub const fn all() -> Self {
                Self($((1 << $bit))|*)
            }

            /// Whether no bit is set.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Whether every bit of `other` is set here.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The bits of both.
            #[must_use]
            pub const fn union(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// The bits that both have.
            #[must_use]
            pub const fn intersection(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                self.union(other)
            }
        }

        impl std::fmt::Display for $name {
            /// The names of the set bits, as WIT spells them, joined by `|`; `none` for no bits.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut first = true;
                $(if self.contains(Self::$flag) {
                    if !first { f.write_str("|")?; }
                    first = false;
                    f.write_str(&stringify!($flag).to_ascii_lowercase().replace('_', "-"))?;
                })*
                if first { f.write_str("none")?; }
                Ok(())
            }
        }
    };
}

flags! {
    /// Where memory lives and who can see it.
    MemoryType {
        /// Whatever suits the device best.
        OPTIMAL = 0,
        /// The host can read and write it (possibly by staging).
        HOST_VISIBLE = 1,
        /// Host and device see each other's writes without flushing.
        HOST_COHERENT = 2,
        /// Host reads are cached.
        HOST_CACHED = 3,
        /// Close to the host.
        HOST_LOCAL = 4,
        /// The device can use it.
        DEVICE_VISIBLE = 5,
        /// Close to the device.
        DEVICE_LOCAL = 6,
    }
}

flags! {
    /// What a buffer may be used for. The host enforces it; drivers may use it as a hint.
    Usage {
        /// Source of copies and host reads.
        TRANSFER_SOURCE = 0,
        /// Target of fills, updates, copies and host writes.
        TRANSFER_TARGET = 1,
        /// Workgroup counts of indirect dispatches.
        DISPATCH_INDIRECT_PARAMETERS = 2,
        /// Bound as `var<uniform>`.
        DISPATCH_UNIFORM_READ = 3,
        /// Bound as storage and read.
        DISPATCH_STORAGE_READ = 4,
        /// Bound as storage and written.
        DISPATCH_STORAGE_WRITE = 5,
        /// Read and written by the host directly.
        MAPPING_SCOPED = 6,
    }
}

flags! {
    /// What may be done to the bytes at all.
    MemoryAccess {
        /// They may be read.
        READ = 0,
        /// They may be written.
        WRITE = 1,
        /// A write may throw the old contents away.
        DISCARD = 2,
    }
}

/// What an allocation asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferParams {
    /// At least these bits.
    pub memory: MemoryType,
    /// What it will be used for.
    pub usage: Usage,
    /// What may be done to it.
    pub access: MemoryAccess,
    /// For native debug labels; may be empty.
    pub label: String,
}

/// A host transfer that is done already, or will be.
///
/// A driver whose memory the host can address answers `Done` and costs no allocation; one that has to stage answers `Pending`.
pub enum Transfer<T> {
    /// The outcome.
    Done(Result<T>),
    /// The outcome to come. Dropping the future abandons the transfer; its memory stays valid until the device is done with it.
    Pending(Pin<Box<dyn Future<Output = Result<T>> + Send>>),
}

impl<T> Transfer<T> {
    /// Waits for the outcome.
    ///
    /// # Errors
    /// The transfer's.
    pub async fn finish(self) -> Result<T> {
        match self {
            Self::Done(result) => result,
            Self::Pending(future) => future.await,
        }
    }
}

/// An allocation on one device. Dropping the last reference frees it, once the device no longer uses it.
///
/// `read` and `write` act at once and are not ordered with work in flight. The host keeps them apart from submissions that
/// touch the same bytes; where it cannot, the bytes are unspecified, and it is never a data race in Rust: device memory that a
/// kernel can change is reached through raw pointers or atomics, never through `&[u8]`.
pub trait Buffer: Send + Sync + 'static {
    /// Bytes that can be addressed.
    fn size(&self) -> u64;

    /// Copies `length` bytes from `offset` behind the end of `into`, which the caller may have used before, and gives it back.
    fn read(&self, offset: u64, length: u64, into: Vec<u8>) -> Transfer<Vec<u8>>;

    /// Copies `bytes` to `offset`. The bytes have been taken when this returns, even if the transfer is pending.
    fn write(&self, offset: u64, bytes: &[u8]) -> Transfer<()>;

    /// For the driver's own downcast.
    fn as_any(&self) -> &dyn Any;
}

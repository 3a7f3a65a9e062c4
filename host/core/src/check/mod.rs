//! All validation of what a guest hands in, for every driver, in checked arithmetic.
//!
//! It happens in three places. *At the call*, here: ranges, usage, access, counts, the objects' device, all of which cannot change
//! later. *When the work becomes ready*, in `queue::entry`: whether the grant, the device and a transient buffer's memory are
//! still there. *Inside the kernel*, by what the driver compiles in. A driver relies on the first two.

mod batch;
mod load;
mod refs;

pub(crate) use batch::{Checked, MAX_SLOTS, USE_BYTES, batch, slots, touch_bytes};
pub(crate) use load::{functions, named};

use crate::{
    budget::Node,
    error::{Error, Result, invalid, out_of_range},
    object::{Storage, lacking},
    policy::Limit,
    text::MAX_LABEL_BYTES,
};
use hal_driver::{MemoryAccess, Usage};

/// A range inside something of `size` bytes. Zero length at the end is legal.
pub(crate) fn range(size: u64, offset: u64, length: u64) -> Result<()> {
    match offset.checked_add(length) {
        Some(end) if end <= size => Ok(()),
        _ => Err(out_of_range(format!("{length} bytes from {offset} do not lie inside {size} bytes"))),
    }
}

/// The length of a range whose length may be left open.
pub(crate) fn length(size: u64, offset: u64, length: Option<u64>) -> Result<u64> {
    match length {
        Some(length) => range(size, offset, length).map(|()| length),
        None => size
            .checked_sub(offset)
            .ok_or_else(|| out_of_range(format!("a range that begins at {offset} does not lie inside {size} bytes"))),
    }
}

/// Most objects that one list of a call may name, the same one counted each time. As many live objects as a grant has by default, with
/// room to spare; and what a call lends is bounded by the engine too, which must not be what a guest meets first.
pub const MAX_LISTED: usize = 16_384;

/// A list of objects.
pub(crate) fn count(what: &str, listed: usize) -> Result<()> {
    if listed > MAX_LISTED {
        return Err(out_of_range(format!(
            "{listed} {what} in one list; at most {MAX_LISTED} are taken: split the call"
        )));
    }
    Ok(())
}

/// A bound that each call meets by itself.
pub(crate) fn bound(node: &Node, limit: Limit, asked: u64, advice: &str) -> Result<()> {
    let allowed = node.allowed(limit);
    if asked > allowed { Err(Error::bound(limit.label(), asked, allowed, advice)) } else { Ok(()) }
}

/// Usage and access bits.
pub(crate) fn rights(storage: &Storage, usage: Usage, access: MemoryAccess) -> Result<()> {
    if !storage.usage.contains(usage) {
        return Err(lacking(storage, "usage", usage, storage.usage));
    }
    if !storage.access.contains(access) {
        return Err(lacking(storage, "access", access, storage.access));
    }
    Ok(())
}

/// A label, cleaned of what would disturb a log.
pub(crate) fn label(label: &str) -> Result<String> {
    if label.len() > MAX_LABEL_BYTES {
        return Err(invalid(format!("a label has at most {MAX_LABEL_BYTES} bytes; this one has {}", label.len())));
    }
    Ok(label.chars().map(|c| if c.is_control() { '?' } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked_without_wrapping() {
        assert!(range(8, 0, 8).is_ok() && range(8, 8, 0).is_ok() && range(0, 0, 0).is_ok());
        assert!(range(8, 9, 0).is_err() && range(8, 8, 1).is_err() && range(8, 0, 9).is_err());
        assert!(range(8, 4, u64::MAX - 3).is_err() && range(8, u64::MAX, u64::MAX).is_err());
        assert_eq!(length(8, 3, None), Ok(5));
        assert_eq!(length(8, 8, None), Ok(0));
        assert!(length(8, 9, None).is_err() && length(8, 4, Some(5)).is_err());
    }

    #[test]
    fn labels_are_bounded_and_clean() {
        assert_eq!(label("a\nb"), Ok("a?b".into()));
        assert!(label(&"x".repeat(64)).is_ok() && label(&"x".repeat(65)).is_err());
    }
}

//! Read-only bytes that the host lends, such as a model's weights.

use crate::bindings::hal::{device::blob, registry::blobs};
use crate::{Result, buffer, transfer};
use bytemuck::{AnyBitPattern, NoUninit};

pub use blobs::BlobInfo;

/// An opened blob. Its length never changes.
#[derive(Debug)]
pub struct Blob(blob::Blob);

impl Blob {
    /// The blobs that the host granted.
    pub fn granted() -> Vec<BlobInfo> {
        blobs::granted()
    }

    /// Opens one by name.
    ///
    /// # Errors
    /// `not-found` with the names there are; `resource-exhausted` for the limit "blobs".
    pub fn open(name: &str) -> Result<Self> {
        Ok(Self(blobs::open(name)?))
    }

    /// The name under which the host granted it.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.0.length()
    }

    /// Fills a slice from byte `offset` on, in as many calls as needed. For bytes that only a device reads,
    /// [`Device::read_blob`](crate::Device::read_blob) moves them without passing through the program.
    ///
    /// # Errors
    /// `out-of-range` past the end; `data-loss` if the file behind it shrank; `failed-precondition` once closed.
    pub fn read<T: AnyBitPattern + NoUninit>(&self, offset: u64, data: &mut [T]) -> Result<()> {
        let bytes = bytemuck::cast_slice_mut(data);
        transfer::read(bytes, transfer::UNKNOWN_LIMIT, |at, length| {
            Ok(self.0.read(offset.saturating_add(at), length)?)
        })
    }

    /// The whole blob.
    ///
    /// # Errors
    /// `invalid-argument` if its length is no multiple of an element's; as [`read`](Self::read).
    pub fn to_vec<T: AnyBitPattern + NoUninit>(&self) -> Result<Vec<T>> {
        let mut data = bytemuck::zeroed_vec(buffer::elements::<T>(self.length())?);
        self.read(0, &mut data)?;
        Ok(data)
    }

    /// Gives it up. Work in flight that reads it goes on.
    pub fn close(&self) {
        self.0.close();
    }

    pub(crate) fn raw(&self) -> &blob::Blob {
        &self.0
    }
}

impl From<blob::Blob> for Blob {
    fn from(raw: blob::Blob) -> Self {
        Self(raw)
    }
}

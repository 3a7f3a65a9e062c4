//! Read-only bytes that the host lends.
use crate::Result;

/// A blob as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobInfo {
    /// The operator's label.
    pub name: String,
    /// Bytes.
    pub length: u64,
}

/// An opened blob.
#[derive(Clone)]
pub struct Blob(());

impl Blob {
    /// `blob.name`.
    pub fn name(&self) -> &str { todo!() }
    /// `blob.length`.
    pub fn length(&self) -> u64 { todo!() }
    /// `blob.read`, appended to `into`.
    pub async fn read(&self, _offset: u64, _length: u64, _into: Vec<u8>) -> Result<Vec<u8>> { todo!() }
    /// `blob.close`.
    pub fn close(&self) { todo!() }
}

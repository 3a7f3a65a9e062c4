//! Tensors in a blob in safetensors format, on a device.

use hal_guest::{
    Slice,
    bytemuck::{AnyBitPattern, NoUninit},
    prelude::*,
};
use safetensors::tensor::{Metadata, TensorInfo};

/// Bytes of the length that a file starts with.
const PREFIX: u64 = 8;

/// More than any header of ours; what a damaged length could ask for beyond is not allocated.
const MAX_HEADER: u64 = 1 << 20;

/// A file whose header was read here and whose whole content lies in one device buffer.
pub struct File {
    blob: Blob,
    /// Where the tensors' data starts.
    data: u64,
    metadata: Metadata,
    slab: Buffer,
}

impl File {
    /// Opens a granted blob and has the host put it into a buffer: only the header passes through this program.
    pub fn open(device: &Device, name: &str) -> Result<Self> {
        let blob = Blob::open(name)?;
        let mut length = [0u8; PREFIX as usize];
        let cut_off = |_| damaged(name, format_args!("its {} bytes end before its header does", blob.length()));
        blob.read(0, &mut length).map_err(cut_off)?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER {
            return Err(damaged(name, format_args!("its header claims {length} bytes")));
        }
        let mut header = vec![0u8; length as usize];
        blob.read(PREFIX, &mut header).map_err(cut_off)?;
        let metadata: Metadata = serde_json::from_slice(&header)
            .map_err(|error| damaged(name, format_args!("its header is wrong: {error}")))?;
        let data = PREFIX + length;
        if data + metadata.data_len() as u64 != blob.length() {
            return Err(damaged(name, format_args!("its header does not account for its {} bytes", blob.length())));
        }
        let slab = device.buffer_from_blob(&blob)?;
        Ok(Self { blob, data, metadata, slab })
    }

    /// Where a tensor lies in the buffer, and its shape.
    pub fn tensor(&self, name: &str) -> Result<(Slice<'_>, &[usize])> {
        let (start, end, info) = self.range(name)?;
        Ok((self.slab.slice(start..end), &info.shape))
    }

    /// A tensor's elements, read by this program.
    pub fn read<T: AnyBitPattern + NoUninit>(&self, name: &str) -> Result<Vec<T>> {
        let (start, end, _) = self.range(name)?;
        let mut elements = vec![T::zeroed(); (end - start) as usize / size_of::<T>()];
        self.blob.read(start, &mut elements)?;
        Ok(elements)
    }

    fn range(&self, name: &str) -> Result<(u64, u64, &TensorInfo)> {
        let info = self.metadata.info(name).ok_or_else(|| {
            Error::new(Code::NotFound, format!("the blob \"{}\" has no tensor \"{name}\"", self.blob.name()))
        })?;
        let (start, end) = info.data_offsets;
        Ok((self.data + start as u64, self.data + end as u64, info))
    }
}

fn damaged(name: &str, what: std::fmt::Arguments<'_>) -> Error {
    Error::new(Code::DataLoss, format!("the blob \"{name}\" is not a safetensors file: {what}"))
}

//! Short forms for buffers.

use crate::check::fine;
use crate::{Buffer, BufferParams, BufferUsage, Device, Error, MemoryAccess, MemoryType, Outcome};

/// Parameters with every usage and all access, in whatever memory suits the device.
pub fn params() -> BufferParams {
    with_usage(BufferUsage::all())
}

/// The same with only some usage.
pub fn with_usage(usage: BufferUsage) -> BufferParams {
    BufferParams { memory: MemoryType::OPTIMAL, usage, access: MemoryAccess::empty(), label: String::new() }
}

/// A buffer that may be used for anything; the result is the host's.
pub fn try_buffer(device: &Device, size: u64) -> Result<Buffer, Error> {
    device.allocate(&params(), size)
}

/// A buffer that may be used for anything.
pub fn buffer(device: &Device, size: u64) -> Outcome<Buffer> {
    fine(try_buffer(device, size), &format!("allocating {size} bytes"))
}

/// All bytes of a buffer.
pub fn bytes(buffer: &Buffer) -> Outcome<Vec<u8>> {
    let size = buffer.info().size;
    fine(buffer.read(0, size), &format!("reading all {size} bytes of a buffer"))
}

/// Writes from the start of a buffer.
pub fn write(buffer: &Buffer, bytes: &[u8]) -> Outcome {
    fine(buffer.write(0, bytes), &format!("writing {} bytes to a buffer", bytes.len()))
}

/// A buffer that holds numbers.
pub fn numbers<T: Number>(device: &Device, values: &[T]) -> Outcome<Buffer> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
    let buffer = buffer(device, bytes.len() as u64)?;
    write(&buffer, &bytes)?;
    Ok(buffer)
}

/// All numbers in a buffer.
pub fn read_numbers<T: Number>(buffer: &Buffer) -> Outcome<Vec<T>> {
    Ok(bytes(buffer)?.chunks_exact(4).map(|chunk| T::from_bytes([chunk[0], chunk[1], chunk[2], chunk[3]])).collect())
}

/// A number of four bytes.
pub trait Number {
    /// Little-endian.
    fn bytes(&self) -> [u8; 4];
    /// Little-endian.
    fn from_bytes(bytes: [u8; 4]) -> Self;
}

macro_rules! numbers {
    ($($type:ty)*) => {
        $(impl Number for $type {
            fn bytes(&self) -> [u8; 4] {
                self.to_le_bytes()
            }
            fn from_bytes(bytes: [u8; 4]) -> Self {
                Self::from_le_bytes(bytes)
            }
        })*
    };
}

numbers!(u32 i32 f32);

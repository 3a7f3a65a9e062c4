//! A device's memory: one shared wasm memory, what lies where in it, and every access of the host to it.
//!
//! ```text
//! 0        64 KiB             + slots x 4 MiB   + 64 KiB                    limit < 4 GiB
//! | trap   | scratch, a slot per worker | trap  | buffers ... grows ->      |
//! ```
//!
//! Address 0 and the pages before the buffers trap: a wild address or a scratch access that runs over is a lost device, not a changed buffer.
//!
//! **Invariant:** free addresses inside the memory read as zero. They are cleared when a block comes back, at once or, for large blocks, by
//! [`Memory::scrub`] before they count as free.

use crate::{heap::Heap, pages};
use hal_driver::{Code, Error, Result};
use std::{
    mem::MaybeUninit,
    ops::Range,
    ptr,
    sync::{Mutex, MutexGuard, PoisonError},
};
use wasmtime::{Engine, MemoryType, SharedMemory};

/// A wasm page, and a multiple of every host's page.
const PAGE: u64 = 64 << 10;

/// 4 GiB less a page, so that every address and every end of a range fits in 32 bits.
const MAX_PAGES: u64 = 65_535;

/// Scratch of one worker. 1,024 invocations get 4 KiB each for workgroup memory, private arrays and values kept across barriers; with
/// 64 workers all slots together take a sixteenth of the address space.
pub(crate) const SCRATCH_BYTES: u32 = 4 << 20;

/// Blocks are multiples of this: a cache line, so that two buffers share none, and above the 16 bytes that a padded vector access needs.
const GRANULE: u64 = 64;

/// From here on a block gets whole pages, which can be given back to the system, and is not cleared in `Drop`: clearing 1 MiB takes about
/// 0.1 ms, and nothing that drops a buffer should wait longer.
const LARGE: u64 = 1 << 20;

/// The memory becomes accessible in steps of at least this: each is a system call of about a microsecond.
const GROWTH: u64 = 4 << 20;

pub(crate) struct Memory {
    shared: SharedMemory,
    /// Where buffers begin.
    begin: u64,
    /// Where they end at most.
    limit: u64,
    free: Mutex<Free>,
    /// Held by whoever clears blocks, so that an allocation can wait for them.
    scrubbing: Mutex<()>,
}

#[derive(Default)]
struct Free {
    heap: Heap,
    /// Large blocks that came back and are not cleared yet.
    dirty: Vec<Range<u64>>,
    /// Where accessible memory ends.
    end: u64,
}

/// Bytes that a device with so many scratch slots has for buffers, whatever the system's memory.
pub(crate) const fn capacity(slots: u32) -> u64 {
    MAX_PAGES * PAGE - begin(slots)
}

const fn begin(slots: u32) -> u64 {
    PAGE + slots as u64 * SCRATCH_BYTES as u64 + PAGE
}

impl Memory {
    /// Reserves address space; costs no memory before it is used.
    pub(crate) fn new(engine: &Engine, slots: u32, memory_bytes: u64) -> Result<Self> {
        let begin = begin(slots);
        let pages = u32::try_from(begin / PAGE).map_err(|_| exhausted("too many scratch slots"))?;
        let shared = SharedMemory::new(engine, MemoryType::shared(pages, MAX_PAGES as u32))
            .map_err(|error| exhausted(&format!("cannot reserve address space for a device: {error}")))?;
        let limit = begin.saturating_add(memory_bytes / PAGE * PAGE).min(MAX_PAGES * PAGE);
        let memory = Self {
            free: Mutex::new(Free { end: begin, ..Free::default() }),
            scrubbing: Mutex::new(()),
            shared,
            begin,
            limit,
        };
        for guard in [0, begin - PAGE] {
            let address = memory.at(guard, PAGE)?;
            // SAFETY: `at` answered a range inside this memory, which is one mapping, starts at a page and is accessed by the host only
            // through `span`, which refuses addresses below `begin`.
            unsafe { pages::forbid(address, PAGE as usize)? };
        }
        Ok(memory)
    }

    /// The memory, for instances of kernels.
    pub(crate) fn shared(&self) -> &SharedMemory {
        &self.shared
    }

    /// Where the scratch of a slot begins.
    pub(crate) const fn scratch(slot: u32) -> u32 {
        PAGE as u32 + slot * SCRATCH_BYTES
    }

    /// A block of at least `size` bytes that read as zero, at a multiple of 64.
    pub(crate) fn allocate(&self, size: u64) -> Result<Range<u64>> {
        let unit = if size >= LARGE { PAGE } else { GRANULE };
        let length = size.checked_next_multiple_of(unit).filter(|&length| length <= self.limit - self.begin);
        let length = length.ok_or_else(|| self.too_much(size))?;
        if let Some(block) = self.take(length, unit)? {
            return Ok(block);
        }
        // The last resort, as it may take a while: blocks that came back and were not cleared yet.
        self.scrub();
        self.take(length, unit)?.ok_or_else(|| self.too_much(size))
    }

    /// A block that is free, or that fits behind what is accessible now.
    fn take(&self, length: u64, alignment: u64) -> Result<Option<Range<u64>>> {
        let mut free = self.lock();
        if let Some(block) = free.heap.take(length, alignment) {
            return Ok(Some(block));
        }
        self.grow(&mut free, length, alignment)?;
        Ok(free.heap.take(length, alignment))
    }

    /// Takes a block back. True if [`Memory::scrub`] has to be called for it, soon and from a thread that has time.
    pub(crate) fn free(&self, block: Range<u64>) -> bool {
        if block.end - block.start >= LARGE {
            self.lock().dirty.push(block);
            return true;
        }
        self.clear(&block);
        self.lock().heap.give(block);
        false
    }

    /// Clears the large blocks that came back.
    pub(crate) fn scrub(&self) {
        let _one = self.scrubbing.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Some(block) = self.lock().dirty.pop() else { return };
            self.clear(&block);
            self.lock().heap.give(block);
        }
    }

    /// Gives free pages, and scratch if it is not in use, back to the system.
    pub(crate) fn trim(&self, idle: bool) {
        self.scrub();
        // Held while pages go, so that nobody is handed a block whose pages are about to vanish.
        let free = self.lock();
        let scratch = idle.then_some(PAGE..self.begin - PAGE);
        for range in free.heap.ranges().chain(scratch) {
            let whole = range.start.next_multiple_of(PAGE)..range.end / PAGE * PAGE;
            if whole.start < whole.end
                && let Ok(address) = self.at(whole.start, whole.end - whole.start)
            {
                // SAFETY: the pages are free buffer space, which reads as zero before and after, or scratch that no kernel
                // uses now. They are page-aligned and lie in the one private anonymous mapping of this memory.
                unsafe { pages::discard(address, (whole.end - whole.start) as usize) };
            }
        }
    }

    /// Copies bytes behind the end of `into`.
    pub(crate) fn read(&self, address: u64, length: u64, mut into: Vec<u8>) -> Result<Vec<u8>> {
        let source = self.span(address, length)?;
        let length = length as usize;
        into.try_reserve(length).map_err(|_| exhausted(&format!("no memory to read {length} bytes into")))?;
        let target: &mut [MaybeUninit<u8>] = into.spare_capacity_mut();
        // SAFETY: `source` is valid for `length` bytes (`span`); `target` has at least that many after `try_reserve` and is memory of the host,
        // so they do not overlap. Any byte is a `u8`, also one that a kernel is changing.
        unsafe { ptr::copy_nonoverlapping(source.cast_const(), target.as_mut_ptr().cast(), length) };
        // SAFETY: the copy has initialised `length` bytes behind the old end, within the capacity.
        unsafe { into.set_len(into.len() + length) };
        Ok(into)
    }

    /// Copies bytes in.
    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let target = self.span(address, bytes.len() as u64)?;
        // SAFETY: `target` is valid for as many bytes as `bytes` has (`span`), and no slice of ours ever lies in device memory, so they do not overlap.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
        Ok(())
    }

    /// Copies between ranges that do not overlap; if they do all the same, the target is unspecified bytes.
    pub(crate) fn copy(&self, source: u64, target: u64, length: u64) -> Result<()> {
        let (source, target) = (self.span(source, length)?, self.span(target, length)?);
        // SAFETY: both are valid for `length` bytes (`span`), and `copy` permits overlap.
        unsafe { ptr::copy(source.cast_const(), target, length as usize) };
        Ok(())
    }

    /// Repeats four bytes; the last repetition is cut where the range ends.
    pub(crate) fn fill(&self, address: u64, length: u64, pattern: [u8; 4]) -> Result<()> {
        if pattern == [pattern[0]; 4] {
            let target = self.span(address, length)?;
            // SAFETY: `target` is valid for `length` bytes (`span`).
            unsafe { ptr::write_bytes(target, pattern[0], length as usize) };
            return Ok(());
        }
        let mut block = [0; 4096];
        for (byte, value) in block.iter_mut().zip(pattern.into_iter().cycle()) {
            *byte = value;
        }
        let mut at = 0;
        while at < length {
            let piece = block.get(..(length - at).min(block.len() as u64) as usize).unwrap_or_default();
            self.write(address + at, piece)?;
            at += block.len() as u64;
        }
        Ok(())
    }

    fn clear(&self, block: &Range<u64>) {
        let length = block.end - block.start;
        let Ok(address) = self.span(block.start, length) else { return };
        // SAFETY: a large block is made of whole pages of the one private anonymous mapping, and nobody counts on the contents
        // of a block that came back.
        if length >= LARGE && unsafe { pages::discard(address, length as usize) } {
            return;
        }
        // SAFETY: `address` is valid for `length` bytes (`span`).
        unsafe { ptr::write_bytes(address, 0, length as usize) };
    }

    /// Makes more of the reserved addresses accessible, so that a block of `length` fits at the end.
    fn grow(&self, free: &mut Free, length: u64, alignment: u64) -> Result<()> {
        let start = free.heap.tail(free.end).start.next_multiple_of(alignment);
        let needed = (start + length).next_multiple_of(PAGE);
        if needed > self.limit {
            return Ok(());
        }
        let end = needed.max(free.end + GROWTH).min(self.limit);
        let grown = self.shared.grow((end - free.end) / PAGE);
        grown.map_err(|error| {
            exhausted(&format!("the system refused memory for a buffer of {length} bytes: {error}"))
        })?;
        free.heap.give(free.end..end);
        free.end = end;
        Ok(())
    }

    /// A pointer to bytes of buffers: not null, and valid for reads and writes of `length` bytes as long as the memory lives.
    fn span(&self, address: u64, length: u64) -> Result<*mut u8> {
        if address < self.begin {
            return Err(outside(address, length));
        }
        self.at(address, length)
    }

    fn at(&self, address: u64, length: u64) -> Result<*mut u8> {
        let range = address as usize..address.saturating_add(length) as usize;
        // The slice is of cells: nothing is said about what they hold while others write, and they may be written.
        let cells = self.shared.data().get(range).ok_or_else(|| outside(address, length))?;
        Ok(cells.as_ptr().cast_mut().cast())
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn too_much(&self, size: u64) -> Error {
        let all = self.limit - self.begin;
        exhausted(&format!(
            "no {size} bytes in a row are free of this device's {all}; free buffers, or use smaller ones"
        ))
    }
}

fn outside(address: u64, length: u64) -> Error {
    Error::new(Code::Internal, format!("{length} bytes at {address} of device memory passed the checks above"))
}

fn exhausted(why: &str) -> Error {
    Error::new(Code::ResourceExhausted, why)
}

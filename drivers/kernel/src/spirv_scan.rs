//! Walks SPIR-V once, instruction by instruction, before the parser sees it, and refuses what the parser could not bear.

use crate::error::{ErrorCode, KernelError};
use crate::limits::{MAX_SPIRV_BOUND, MAX_SPIRV_NESTING, SourceLimits};
use crate::spirv_types::Types;

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

// Opcodes, from the SPIR-V specification.
const OP_FUNCTION: u32 = 54;
const OP_LOOP_MERGE: u32 = 246;
const OP_SELECTION_MERGE: u32 = 247;
const OP_LABEL: u32 = 248;

/// Refuses `bytes` if they are no SPIR-V or exceed a cap.
pub(crate) fn check(bytes: &[u8], limits: &SourceLimits) -> Result<(), KernelError> {
    let words = header(bytes)?;
    let mut scan = Scan::default();
    let mut at = HEADER_WORDS;
    let mut instructions = 0usize;
    while let Some(&first) = words.get(at) {
        let (opcode, length) = (first & 0xffff, (first >> 16) as usize);
        let operands = words.get(at + 1..at + length).filter(|_| length > 0);
        let Some(operands) = operands else {
            let message = format!("the instruction at word {at} is cut off or has no length");
            return Err(KernelError::new(ErrorCode::InvalidArgument, message));
        };
        instructions += 1;
        if instructions > limits.spirv_instructions {
            return Err(too_much(limits.spirv_instructions, "instructions", at));
        }
        scan.instruction(opcode, operands, at)?;
        at += length;
    }
    Ok(())
}

fn header(bytes: &[u8]) -> Result<Vec<u32>, KernelError> {
    let invalid = |message: String| Err(KernelError::new(ErrorCode::InvalidArgument, message));
    if !bytes.len().is_multiple_of(4) {
        return invalid(format!("SPIR-V is whole words of 4 bytes; these are {} bytes", bytes.len()));
    }
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
        .collect();
    match *words.as_slice() {
        [MAGIC, _, _, bound, _, ..] if bound > MAX_SPIRV_BOUND => Err(too_much(MAX_SPIRV_BOUND as usize, "ids", 3)),
        [MAGIC, _, _, _, _, ..] => Ok(words),
        [magic, ..] if magic == MAGIC.swap_bytes() => {
            invalid("the SPIR-V is big-endian; little-endian words are expected".to_owned())
        }
        _ => invalid("this is no SPIR-V: it does not start with its magic number and a header of 5 words".to_owned()),
    }
}

fn too_much(limit: usize, what: &str, at: usize) -> KernelError {
    let message = format!("more than {limit} {what}, at word {at}; split or simplify the kernel");
    KernelError::new(ErrorCode::ResourceExhausted, message)
}

#[derive(Default)]
struct Scan {
    types: Types,
    /// Where the open selections and loops come together again.
    merges: Vec<u32>,
}

impl Scan {
    fn instruction(&mut self, opcode: u32, operands: &[u32], at: usize) -> Result<(), KernelError> {
        match (opcode, operands) {
            (OP_FUNCTION, _) => {
                self.merges.clear();
                Ok(())
            }
            (OP_LOOP_MERGE | OP_SELECTION_MERGE, &[merge, ..]) => {
                self.merges.push(merge);
                if self.merges.len() > MAX_SPIRV_NESTING {
                    return Err(too_much(MAX_SPIRV_NESTING, "selections and loops inside each other", at));
                }
                Ok(())
            }
            (OP_LABEL, &[id, ..]) => {
                if let Some(position) = self.merges.iter().rposition(|&merge| merge == id) {
                    self.merges.truncate(position);
                }
                Ok(())
            }
            _ => self.types.instruction(opcode, operands, at),
        }
    }
}

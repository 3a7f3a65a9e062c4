//! Bulk data in calls of bounded size.

use crate::{Code, Error, Result};

/// The limit that bounds one call, as devices publish it.
pub(crate) const LIMIT: &str = "transfer-bytes";

/// Bytes of one call where nobody said what the limit is. If it is less, the first refusal says so.
pub(crate) const UNKNOWN_LIMIT: u64 = 1 << 20;

/// Most bytes of one read, whatever the limit: what is read arrives in memory allocated for the call, and a guest's memory never shrinks.
const MAX_READ_BYTES: u64 = 1 << 20;

/// Hands `bytes` to `write` in chunks, each with its distance from the start.
pub(crate) fn write(bytes: &[u8], limit: u64, mut write: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
    in_chunks(bytes.len(), limit, |at, length| write(at as u64, bytes.get(at..at + length).unwrap_or_default()))
}

/// Fills `bytes` with what `read` returns for each distance from the start and length.
pub(crate) fn read(bytes: &mut [u8], limit: u64, mut read: impl FnMut(u64, u64) -> Result<Vec<u8>>) -> Result<()> {
    in_chunks(bytes.len(), limit.min(MAX_READ_BYTES), |at, length| {
        let data = read(at as u64, length as u64)?;
        match bytes.get_mut(at..at + data.len()) {
            Some(chunk) if data.len() == length => {
                chunk.copy_from_slice(&data);
                Ok(())
            }
            _ => Err(Error::new(Code::Internal, format!("asked for {length} bytes, got {}", data.len()))),
        }
    })
}

/// Calls `call` for one chunk after another; once, with nothing, if there is nothing. A chunk that hits a lower limit than the one given
/// is repeated in smaller ones.
fn in_chunks(total: usize, limit: u64, mut call: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
    let mut limit = usize::try_from(limit).unwrap_or(usize::MAX).max(1);
    let mut at = 0;
    loop {
        let length = (total - at).min(limit);
        match call(at, length) {
            Ok(()) => at += length,
            Err(error) => limit = lower_limit(&error, length).ok_or(error)?,
        }
        if at >= total {
            return Ok(());
        }
    }
}

fn lower_limit(error: &Error, length: usize) -> Option<usize> {
    let hit = error.limit().filter(|hit| hit.limit == LIMIT)?;
    usize::try_from(hit.allowed).ok().filter(|allowed| (1..length).contains(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LimitHit;
    use crate::bindings::hal::device::types;

    fn refuse_above(allowed: u64, asked: u64) -> Result<()> {
        if asked <= allowed {
            return Ok(());
        }
        let limit = Some(LimitHit { limit: LIMIT.into(), asked, available: allowed, allowed });
        Err(types::Error { code: Code::ResourceExhausted, message: String::new(), limit }.into())
    }

    #[test]
    fn a_write_arrives_whole_in_chunks_of_the_limit() {
        for (length, limit, calls) in [(0, 4, 1), (3, 4, 1), (4, 4, 1), (5, 4, 2), (9, 4, 3), (9, u64::MAX, 1)] {
            let data: Vec<u8> = (0..length).collect();
            let (mut arrived, mut count) = (Vec::new(), 0);
            write(&data, limit, |at, chunk| {
                assert_eq!(at, arrived.len() as u64);
                arrived.extend_from_slice(chunk);
                count += 1;
                Ok(())
            })
            .unwrap();
            assert_eq!((arrived, count), (data, calls));
        }
    }

    #[test]
    fn a_lower_limit_is_learnt_from_the_refusal() {
        let data = [7u8; 10];
        let mut arrived = 0;
        write(&data, 8, |at, chunk| {
            refuse_above(3, chunk.len() as u64)?;
            assert_eq!(at, arrived);
            arrived += chunk.len() as u64;
            Ok(())
        })
        .unwrap();
        assert_eq!(arrived, 10);
    }

    #[test]
    fn a_limit_of_zero_is_an_error_and_no_endless_loop() {
        let error = write(&[1, 2], 8, |_, chunk| refuse_above(0, chunk.len() as u64)).unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted);
    }

    #[test]
    fn a_read_fills_the_slice_and_refuses_an_answer_of_another_length() {
        let mut data = [0u8; 10];
        read(&mut data, 4, |at, length| Ok((at..at + length).map(|byte| byte as u8).collect())).unwrap();
        assert_eq!(data, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let error = read(&mut data, 4, |_, _| Ok(vec![0; 5])).unwrap_err();
        assert_eq!(error.code(), Code::Internal);
    }
}

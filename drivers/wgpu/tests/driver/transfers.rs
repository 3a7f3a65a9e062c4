//! Fills, copies and transfers at every phase: what the native interface cannot do by itself.

use super::*;

const SIZE: usize = 40;

fn pattern(seed: u8) -> Vec<u8> {
    (0..SIZE as u8).map(|byte| byte.wrapping_mul(7).wrapping_add(seed)).collect()
}

#[test]
fn fills_touch_exactly_their_bytes() {
    let Some(device) = device() else { return };
    let buffer = allocate(&*device, SIZE as u64);
    for (width, fill) in [(1, [0xab; 4]), (2, [1, 2, 1, 2]), (4, [1, 2, 3, 4]), (4, [0; 4])] {
        for offset in (0..9).filter(|offset| offset % width == 0) {
            for length in (0..17).filter(|length| length % width == 0) {
                let mut expected = pattern(3);
                write(&*buffer, 0, &expected);
                let (offset, length) = (offset as usize, length as usize);
                expected[offset..offset + length]
                    .iter_mut()
                    .zip(fill.iter().cycle())
                    .for_each(|(to, from)| *to = *from);
                let target = at(0, offset as u64, length as u64);
                run(&*device, &[&buffer], None, vec![Command::Fill { target, pattern: fill }]).unwrap();
                assert_eq!(bytes(&*buffer), expected, "{fill:?} at {offset} for {length}");
            }
        }
    }
}

#[test]
fn copies_touch_exactly_their_bytes_between_buffers_and_within_one() {
    let Some(device) = device() else { return };
    let (left, right) = (allocate(&*device, SIZE as u64), allocate(&*device, SIZE as u64));
    for from in 0..6_usize {
        for to in 20..26_usize {
            for length in [0, 1, 2, 3, 4, 5, 7, 8, 13] {
                let source = at(0, from as u64, length as u64);
                let mut expected = pattern(9);
                write(&*left, 0, &pattern(1));
                write(&*right, 0, &expected);
                expected[to..to + length].copy_from_slice(&pattern(1)[from..from + length]);
                let copy = Command::Copy { source, target: at(1, to as u64, length as u64) };
                run(&*device, &[&left, &right], None, vec![copy]).unwrap();
                assert_eq!(bytes(&*right), expected, "{from} to {to} for {length}");
                let mut expected = pattern(1);
                expected.copy_within(from..from + length, to);
                let copy = Command::Copy { source, target: at(0, to as u64, length as u64) };
                run(&*device, &[&left], None, vec![copy]).unwrap();
                assert_eq!(bytes(&*left), expected, "{from} to {to} for {length} within");
            }
        }
    }
}

#[test]
fn updates_host_writes_and_reads_touch_exactly_their_bytes() {
    let Some(device) = device() else { return };
    let buffer = allocate(&*device, SIZE as u64);
    for offset in 0..6 {
        for length in [0, 1, 2, 3, 4, 5, 8, 11] {
            let new: Vec<u8> = (100..100 + length as u8).collect();
            let mut expected = pattern(5);
            write(&*buffer, 0, &expected);
            expected[offset..offset + length].copy_from_slice(&new);
            let update = Command::Update { target: at(0, offset as u64, length as u64), bytes: new.clone().into() };
            run(&*device, &[&buffer], None, vec![update]).unwrap();
            assert_eq!(bytes(&*buffer), expected, "update at {offset} for {length}");
            write(&*buffer, 0, &pattern(5));
            write(&*buffer, offset as u64, &new);
            assert_eq!(bytes(&*buffer), expected, "write at {offset} for {length}");
            let part = finish(buffer.read(offset as u64, length as u64, vec![7])).unwrap();
            assert_eq!(part, [&[7][..], &new].concat());
        }
    }
}

#[test]
fn transfers_beyond_the_staging_memory_go_in_pieces() {
    let Some(device) = device() else { return };
    let length = (9 << 20) + 5;
    let new: Vec<u8> = (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let (left, right) = (allocate(&*device, length as u64 + 8), allocate(&*device, length as u64 + 8));
    write(&*left, 3, &new);
    let copy = Command::Copy { source: at(0, 3, length as u64), target: at(1, 2, length as u64) };
    run(&*device, &[&left, &right], None, vec![copy]).unwrap();
    assert!(finish(right.read(2, length as u64, Vec::new())).unwrap() == new);
    assert_eq!(finish(right.read(0, 2, Vec::new())).unwrap(), [0, 0]);
}

#[test]
fn memory_reads_as_zero_whoever_had_it_before() {
    let Some(device) = device() else { return };
    for size in [1, 16, 4096, 1 << 20] {
        let buffer = allocate(&*device, size);
        write(&*buffer, 0, &vec![0xff; size as usize]);
        drop(buffer);
        assert!(bytes(&*allocate(&*device, size)).iter().all(|byte| *byte == 0), "{size}");
    }
}

#[test]
fn an_allocation_that_is_too_large_is_refused_and_harms_nothing() {
    let Some(device) = device() else { return };
    let buffer = allocate(&*device, 4);
    write(&*buffer, 0, &[1, 2, 3, 4]);
    for size in [device.limits().max_buffer_bytes + 1, u64::MAX - 3, u64::MAX] {
        let error = device.allocate(&BufferParams::default(), size).err().unwrap();
        assert_eq!(error.code, hal_driver::Code::ResourceExhausted, "{error}");
    }
    assert_eq!(bytes(&*buffer), [1, 2, 3, 4]);
}

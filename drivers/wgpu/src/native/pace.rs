//! How large a piece of a dispatch may be, so that it ends soon.
//!
//! What a kernel without loops takes is known before it runs. One with loops counts its iterations and stops itself at a bound that is given
//! with each piece; the bound has to be low enough to be reached soon, and high enough never to be reached by a piece that was
//! sized well. A *unit* is an iteration of a kernel with loops, or an invocation of one without.

use crate::adapter::Adapter;
use std::time::Duration;

/// Most iterations that an invocation makes before it looks at its bounds; a power of two. What it makes before its first look is
/// not counted.
pub(crate) const CHUNK_ITERATIONS: u32 = 1024;

/// Steps a second (a step is about one expression, an addition or a sine) that a device takes at least, until it was measured: a software
/// adapter's beside other work, and a GPU's.
const SOFTWARE_RATE: u64 = 1 << 29;
const HARDWARE_RATE: u64 = 1 << 38;

/// How long a batch may take if every invocation in it goes to its limit.
const WORST: Duration = Duration::from_millis(500);

/// How long a piece should take.
const TARGET: Duration = Duration::from_millis(200);

/// How long a piece may take before it is stopped: many times what was planned for it, since groups are not alike.
const HORIZON: Duration = Duration::from_secs(8);

/// By how much a piece may be larger than the one before.
const GROWTH: u64 = 64;

/// Below this time nothing is known: what a submission costs in itself outweighs its work.
const MEASURABLE: Duration = Duration::from_millis(2);

/// How many times what the last pieces lead to expect a piece may take.
const SLACK: u64 = 8;

/// What is known of a kernel before it runs.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// Units of one invocation that goes to its limit.
    pub(super) rounds: u64,
    /// Of one workgroup.
    pub(super) invocations: u64,
    /// Of one unit.
    pub(super) steps: u64,
    /// Units that an invocation does outside of the loops that count.
    pub(super) beside: u64,
    /// Units a second of an earlier dispatch; 0 if there was none.
    pub(super) rate: u64,
}

/// The pieces of one dispatch.
pub(super) struct Pace {
    known: Known,
    /// Units a second.
    rate: u64,
    /// Iterations that an invocation makes before it looks at its bounds.
    chunk: u32,
    /// Groups of the next piece.
    groups: u64,
    /// Most groups of a piece: what is not counted ends by this alone.
    most: u64,
    /// Units of a group, as seen; 0 before.
    expected: u64,
}

impl Pace {
    pub(super) fn new(adapter: &Adapter, known: Known) -> Self {
        let guess = if adapter.is_software() { SOFTWARE_RATE } else { HARDWARE_RATE };
        let guess = (guess / known.steps.max(1)).max(1);
        let rate = if known.rate == 0 { guess } else { known.rate };
        let invocations = known.invocations.max(1);
        let chunk = (in_time(guess, WORST) / invocations).clamp(1, u64::from(CHUNK_ITERATIONS));
        // A power of two divides the limits of all devices, which are multiples of the largest chunk.
        let chunk = 1 << chunk.ilog2();
        let uncounted = known.rounds.min(u64::from(chunk)).saturating_add(known.beside).saturating_mul(invocations);
        let most = (in_time(guess, HORIZON) / uncounted.max(1)).max(1);
        let mut pace = Self { known, rate, chunk, groups: 1, most, expected: 0 };
        pace.groups = pace.safe();
        pace
    }

    /// Units of one group that goes to its limit.
    fn worst(&self) -> u64 {
        self.known.rounds.saturating_mul(self.known.invocations).max(1)
    }

    /// Groups that end soon whatever they do.
    fn safe(&self) -> u64 {
        (in_time(self.rate, WORST) / self.worst()).clamp(1, self.most)
    }

    /// Groups of the next piece.
    pub(super) fn groups(&self) -> u64 {
        self.groups
    }

    /// Iterations that an invocation makes before it looks at its bounds.
    pub(super) fn chunk(&self) -> u32 {
        self.chunk
    }

    /// How long groups take that all go to their limit.
    pub(super) fn worst_time(&self, groups: u64) -> Duration {
        let units = u128::from(self.worst()) * u128::from(groups);
        let nanoseconds = units.saturating_mul(1_000_000_000) / u128::from(self.rate);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    /// Chunks after which a piece stops itself. `left`: until the deadline.
    pub(super) fn bound(&self, left: Option<Duration>, groups: u64) -> u32 {
        // A little longer than there is time, so that it is the deadline that ends it.
        let horizon = left.map_or(HORIZON, |left| HORIZON.min(left.saturating_add(WORST)));
        let expected = self.expected.saturating_mul(groups).saturating_mul(SLACK);
        let units = in_time(self.rate, horizon).max(expected);
        u32::try_from(units / u64::from(self.chunk)).unwrap_or(u32::MAX).max(1)
    }

    /// A piece of so many groups has ended, in which so many chunks were counted. Answers units a second, if that is known now.
    pub(super) fn ended(&mut self, groups: u64, time: Duration, chunks: u32) -> Option<u64> {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        let counted = u64::from(chunks) * u64::from(self.chunk);
        let uncounted = groups.saturating_mul(self.known.invocations).saturating_mul(u64::from(self.chunk));
        // Where most was not counted, what was says nothing about the rate.
        let measured = time >= MEASURABLE && counted >= uncounted;
        if measured {
            let rate = u128::from(counted) * 1_000_000_000 / u128::from(nanoseconds);
            self.rate = u64::try_from(rate).unwrap_or(u64::MAX).max(1);
        }
        self.expected = counted.saturating_add(uncounted) / groups.max(1);
        let target = u128::from(groups) * TARGET.as_nanos() / u128::from(nanoseconds);
        let grown = groups.saturating_mul(GROWTH);
        let target = u64::try_from(target).unwrap_or(u64::MAX).clamp(1, grown);
        self.groups = target.max(self.safe().min(grown)).min(self.most);
        measured.then_some(self.rate)
    }
}

/// Whether a batch may go on growing, by how long it takes at worst.
pub(super) fn fits_a_batch(time: Duration) -> bool {
    time <= WORST
}

/// What a rate comes to in some time.
fn in_time(rate: u64, time: Duration) -> u64 {
    let units = u128::from(rate) * time.as_nanos() / 1_000_000_000;
    u64::try_from(units).unwrap_or(u64::MAX)
}

/// The pieces of a grid, one after the other: whole planes, whole rows, or parts of a row.
pub(super) struct Pieces {
    grid: [u32; 3],
    next: [u32; 3],
}

/// Part of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) base: [u32; 3],
    pub(super) size: [u32; 3],
}

impl Piece {
    pub(super) fn groups(&self) -> u64 {
        self.size.iter().map(|&count| u64::from(count)).product()
    }
}

impl Pieces {
    /// No dimension is zero.
    pub(super) fn new(grid: [u32; 3]) -> Self {
        Self { grid, next: [0; 3] }
    }

    /// The next piece, of at most so many groups (and at least one). None at the end.
    pub(super) fn next(&mut self, most: u64) -> Option<Piece> {
        let ([width, height, depth], [x, y, z]) = (self.grid, self.next);
        if z >= depth {
            return None;
        }
        let (row, plane) = (u64::from(width), u64::from(width) * u64::from(height));
        let part = |most: u64, left: u32| u32::try_from(most).unwrap_or(u32::MAX).clamp(1, left);
        let size = if (x, y) == (0, 0) && most >= plane {
            [width, height, part(most / plane, depth - z)]
        } else if x == 0 && most >= row {
            [width, part(most / row, height - y), 1]
        } else {
            [part(most, width - x), 1, 1]
        };
        self.next = match size {
            [sx, _, _] if x + sx < width => [x + sx, y, z],
            [_, sy, _] if y + sy < height => [0, y + sy, z],
            [_, _, sz] => [0, 0, z + sz],
        };
        Some(Piece { base: [x, y, z], size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cover(grid: [u32; 3], sizes: &[u64]) -> Vec<[u32; 3]> {
        let mut pieces = Pieces::new(grid);
        let mut seen = Vec::new();
        let mut sizes = sizes.iter().copied().cycle();
        while let Some(Piece { base, size }) = pieces.next(sizes.next().unwrap()) {
            for z in base[2]..base[2] + size[2] {
                for y in base[1]..base[1] + size[1] {
                    (base[0]..base[0] + size[0]).for_each(|x| seen.push([x, y, z]));
                }
            }
        }
        seen
    }

    #[test]
    fn every_group_runs_exactly_once_however_a_grid_is_cut() {
        for grid in [[1, 1, 1], [7, 1, 1], [3, 4, 5], [1, 9, 2], [5, 1, 3]] {
            for sizes in [&[1][..], &[2], &[3, 100], &[7, 1, 13], &[1000], &[4, 4, 60]] {
                let mut seen = cover(grid, sizes);
                assert_eq!(seen.len() as u32, grid.iter().product::<u32>(), "{grid:?} {sizes:?}");
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len() as u32, grid.iter().product::<u32>(), "{grid:?} {sizes:?}");
            }
        }
    }

    #[test]
    fn a_piece_is_never_larger_than_asked() {
        for most in 1..70 {
            let mut pieces = Pieces::new([3, 4, 5]);
            while let Some(piece) = pieces.next(most) {
                assert!(piece.groups() <= most, "{piece:?} of {most}");
            }
        }
    }
}

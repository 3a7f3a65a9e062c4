//! Numbers that follow from a seed, the same on every machine.

/// A sequence of numbers (SplitMix64).
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit as u64) as usize
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of a list.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Any word, more often than not one at an edge of something.
    pub fn word(&mut self) -> u32 {
        let edges = [0, 1, 2, 31, 32, 33, 255, 0x7fff_ffff, 0x8000_0000, u32::MAX, u32::MAX - 1, 0x8000_0001];
        match self.below(6) {
            0 => *self.pick(&edges),
            1 => self.number() as u32,
            _ => self.below(40) as u32,
        }
    }

    /// Any number of 64 bits, of such words or as one that carries.
    pub fn wide(&mut self) -> u64 {
        match self.below(4) {
            0 => (u64::from(self.word()) << 32) | u64::from(self.word()),
            1 => u64::from(self.word()).wrapping_neg(),
            _ => self.word().into(),
        }
    }

    /// The bits of any `f16`, most of them small numbers.
    pub fn half(&mut self) -> u16 {
        let edges = [0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 1, 0x83ff, 0x0400, 0x7bff, 0x3c00, 0x3c01];
        match self.below(6) {
            0 => *self.pick(&edges),
            1 => self.number() as u16,
            // From 2^-5 to 2^10, of both signs.
            _ => (0x2800 + self.below(0x4000) as u16 / 7 * 7) | ((self.below(2) as u16) << 15),
        }
    }

    /// Any float: most are small, some have no end, are no number or are too small to be normal.
    pub fn float(&mut self) -> f32 {
        let edges =
            [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, -1e-45, f32::MIN_POSITIVE, f32::MAX, 2.5];
        match self.below(6) {
            0 => *self.pick(&edges),
            1 => f32::from_bits(self.number() as u32),
            2 => (self.below(2000) as f32 - 1000.0) * 0.1,
            _ => (self.below(128) as f32 - 64.0) * 0.25,
        }
    }
}

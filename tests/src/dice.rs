//! Chance that a seed repeats: what a failing simulation prints is all that it takes to see it again.

/// An endless row of numbers (`SplitMix64`), all of them decided by the seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The row of that seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of the first `count` numbers, 0 among them.
    pub const fn below(&mut self, count: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "it is below a usize")]
        let chosen = (self.next() % count as u64) as usize;
        chosen
    }

    /// True that many times in a hundred.
    pub const fn percent(&mut self, times: usize) -> bool {
        self.below(100) < times
    }

    /// One of these.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

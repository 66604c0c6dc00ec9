//! The lengths of a block's codes: of most symbols there is none, so only the others are listed.

use super::codes::MAX_LEN;

/// Symbols of both alphabets of a block that a length can be sent for.
const MOST: usize = 286 + 30;

/// A symbol that has a code, and the length of that.
#[derive(Clone, Copy, Default)]
pub(crate) struct Coded(u16);

impl Coded {
    /// `len` is from 1 to 15.
    pub(crate) const fn new(symbol: usize, len: u32) -> Self {
        debug_assert!(symbol < 512 && len >= 1 && len <= MAX_LEN);
        Coded((symbol as u16) << 4 | len as u16)
    }

    #[inline(always)]
    pub(crate) fn symbol(self) -> usize {
        usize::from(self.0 >> 4)
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        usize::from(self.0 & 15)
    }
}

/// Symbols that have a code, in rising order.
pub(crate) struct Lengths {
    list: [Coded; MOST],
    count: usize,
}

impl Lengths {
    pub(crate) const fn new() -> Self {
        Lengths { list: [Coded(0); MOST], count: 0 }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a symbol behind all that are there.
    #[inline(always)]
    pub(crate) fn push(&mut self, symbol: usize, len: u32) {
        self.list[self.count] = Coded::new(symbol, len);
        self.count += 1;
    }

    /// Those below `end`, and the others.
    pub(crate) fn split(&self, end: usize) -> (&[Coded], &[Coded]) {
        let all = &self.list[..self.count];
        all.split_at(all.partition_point(|coded| coded.symbol() < end))
    }
}

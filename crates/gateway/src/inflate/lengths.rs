//! Code lengths of a block. Most symbols are unused, so only the used ones are listed.

use super::codes::MAX_LEN;

/// Symbols of both alphabets of a block that can have a code length.
const MAX_SYMBOLS: usize = 286 + 30;

/// A symbol and the length of its code, in bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct CodeLength(u16);

impl CodeLength {
    /// `len` is from 1 to 15.
    pub(crate) const fn new(symbol: usize, len: u32) -> Self {
        debug_assert!(symbol < 512 && len >= 1 && len <= MAX_LEN);
        CodeLength((symbol as u16) << 4 | len as u16)
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

/// Used symbols with their code lengths, in ascending order.
pub(crate) struct Lengths {
    list: [CodeLength; MAX_SYMBOLS],
    count: usize,
}

impl Lengths {
    pub(crate) const fn new() -> Self {
        Lengths { list: [CodeLength(0); MAX_SYMBOLS], count: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Appends a symbol, which must be larger than all before.
    #[inline(always)]
    pub(crate) fn push(&mut self, symbol: usize, len: u32) {
        self.list[self.count] = CodeLength::new(symbol, len);
        self.count += 1;
    }

    /// Splits into the symbols below `end` and the others.
    pub(crate) fn split(&self, end: usize) -> (&[CodeLength], &[CodeLength]) {
        let all = &self.list[..self.count];
        all.split_at(all.partition_point(|code| code.symbol() < end))
    }
}

//! The bits of literals, lengths and distances, looked up in the emission tables by level 1.

use crate::coding::tables::Tables;
use crate::coding::token::distance_symbol;

impl Tables {
    /// A literal in bits.
    #[inline(always)]
    pub(super) fn literal(&self, literal: u32) -> Bits {
        Bits(u64::from(self.firsts[literal as usize & 0xff]))
    }

    /// A length, 3 to 258, in bits.
    #[inline(always)]
    pub(super) fn length(&self, length: usize) -> Bits {
        debug_assert!((3..=258).contains(&length));
        // SAFETY: matches are of that length.
        Bits(u64::from(unsafe { *self.firsts.get_unchecked(256 - 3 + length) }))
    }

    /// A distance, 1 to 32,768, in bits, and their number.
    #[inline(always)]
    pub(super) fn distance(&self, distance: usize) -> (u64, u32) {
        let (symbol, extra) = distance_symbol(distance as u32);
        // SAFETY: a distance symbol is below 30.
        let entry = unsafe { *self.seconds.get_unchecked(symbol as usize) };
        let value = u64::from(entry >> 16) | u64::from(extra) << (entry >> 8 & 0xff);
        (value, entry & 0xff)
    }
}

/// Up to 56 bits << 8 | their number.
#[derive(Clone, Copy)]
pub(super) struct Bits(pub(super) u64);

impl Bits {
    #[inline(always)]
    pub(super) fn value(self) -> u64 {
        self.0 >> 8
    }

    #[inline(always)]
    pub(super) fn len(self) -> u32 {
        self.0 as u32 & 0xff
    }

    /// These bits, then `next`.
    #[inline(always)]
    pub(super) fn then(self, next: Bits) -> Self {
        // `next` is shifted by the number of bits in `self`, its own number not.
        Bits(self.0 + ((next.0 & !0xff) << (self.0 & 0xff)) + (next.0 & 0xff))
    }
}

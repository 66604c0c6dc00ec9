//! The bits of literals, lengths and distances, and the bit writer that the hot loops share.

use core::hint::select_unpredictable;

use crate::coding::tables::Tables;
use crate::coding::token::distance_symbol;

impl Tables {
    /// Returns the bits of a literal.
    #[inline(always)]
    pub(super) fn literal(&self, literal: u32) -> Bits {
        Bits(u64::from(self.firsts[literal as usize & 0xff]))
    }

    /// Returns the bits of a length, 3 to 258.
    #[inline(always)]
    pub(super) fn length(&self, length: usize) -> Bits {
        debug_assert!((3..=258).contains(&length));
        // SAFETY: every match has such a length.
        Bits(u64::from(unsafe { *self.firsts.get_unchecked(256 - 3 + length) }))
    }

    /// Returns the bits of a distance, 1 to 32,768, and their number.
    #[inline(always)]
    pub(super) fn distance(&self, distance: usize) -> (u64, u32) {
        let (symbol, extra) = distance_symbol(distance as u32);
        // SAFETY: a distance symbol is below 30.
        let entry = unsafe { *self.seconds.get_unchecked(symbol as usize) };
        let value = u64::from(entry >> 16) | u64::from(extra) << (entry >> 8 & 0xff);
        (value, entry & 0xff)
    }
}

/// Up to 56 bits, shifted left by 8, and in the low 8 bits their number.
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

    /// Returns these bits followed by `next`.
    #[inline(always)]
    pub(super) fn then(self, next: Bits) -> Self {
        // The bits of `next` are shifted by the number of bits in `self`; the count in its low 8
        // bits is added unshifted.
        Bits(self.0 + ((next.0 & !0xff) << (self.0 & 0xff)) + (next.0 & 0xff))
    }
}

/// The bits of the literals of a probe: of the first one, two, three, and of all four.
pub(super) struct Literals([Bits; 4]);

impl Literals {
    /// Looks up the literals of `word`, the first one lowest.
    #[inline(always)]
    pub(super) fn new(word: u32, tables: &Tables) -> Self {
        let one = tables.literal(word);
        let two = one.then(tables.literal(word >> 8));
        let three = two.then(tables.literal(word >> 16));
        Literals([one, two, three, three.then(tables.literal(word >> 24))])
    }

    /// Returns the bits of all four literals.
    #[inline(always)]
    pub(super) fn all(&self) -> Bits {
        self.0[3]
    }

    /// Returns the bits of the literals before `offset`, 0 to 3. Branchless, because `offset` is
    /// unpredictable.
    #[inline(always)]
    pub(super) fn before(&self, offset: usize) -> Bits {
        let [one, two, three, _] = self.0;
        let bits = select_unpredictable(offset > 0, one.0, 0);
        let bits = select_unpredictable(offset > 1, two.0, bits);
        Bits(select_unpredictable(offset > 2, three.0, bits))
    }
}

/// The state of the bit writer in registers.
pub(super) struct BitBuffer {
    pub(super) next: *mut u8,
    pub(super) acc: u64,
    pub(super) len: u32,
}

impl BitBuffer {
    #[inline(always)]
    pub(super) fn put(&mut self, bits: Bits) {
        self.put_bits(bits.value(), bits.len());
    }

    #[inline(always)]
    pub(super) fn put_bits(&mut self, value: u64, len: u32) {
        self.acc |= value << self.len;
        self.len += len;
    }

    /// Writes out whole bytes.
    ///
    /// # Safety
    /// 8 bytes must be writable at `next`.
    #[inline(always)]
    pub(super) unsafe fn store(&mut self) {
        // SAFETY: as the caller vouches.
        unsafe { self.next.cast::<u64>().write_unaligned(self.acc.to_le()) };
        self.next = self.next.wrapping_add((self.len >> 3) as usize);
        self.acc >>= self.len & !7;
        self.len &= 7;
    }
}

//! Units of output: bytes, or 16-bit symbols, each of which is a byte or refers to a place in a
//! window that is not known yet.

/// A unit of output, `u8` or `u16`. The loops over a block's symbols are compiled for both.
pub(crate) trait Unit: Copy + From<u8> {
    /// Two units, in memory order.
    type Pair: Copy;

    /// Returns the units of two literals, the first of which is in the lower byte.
    fn pair(literals: u16) -> Self::Pair;

    /// Copies the bytes of a stored block. `to` must be as long as `from`.
    fn copy_bytes(from: &[u8], to: &mut [Self]);
}

impl Unit for u8 {
    type Pair = u16;

    #[inline(always)]
    fn pair(literals: u16) -> u16 {
        literals.to_le()
    }

    fn copy_bytes(from: &[u8], to: &mut [u8]) {
        to.copy_from_slice(from);
    }
}

impl Unit for u16 {
    type Pair = [u16; 2];

    #[inline(always)]
    fn pair(literals: u16) -> [u16; 2] {
        [literals & 0xff, literals >> 8]
    }

    fn copy_bytes(from: &[u8], to: &mut [u16]) {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = from.into());
    }
}

//! The Rice code of version 1 (Rice 1971; Golomb 1966, for m a power of two), with an escape.
//!
//! A zigzag value z with k = log2(m) and q = z >> k is coded as
//!
//! * q <= 7: q zeros, a one, the low k bits of z: q + 1 + k bits;
//! * q >= 8: eight zeros, a one, all 16 bits of z: 25 bits.
//!
//! Codes follow each other from the highest bit of 32-bit words, and each word is stored with its
//! low byte first. The last word of a segment is padded with zero bits.

/// Number of zero bits that begin an escape. No valid code begins with more.
pub(crate) const ESCAPE: u32 = 8;
/// Length in bits of an escape, which is the longest code.
pub(crate) const ESCAPE_BITS: u32 = 25;

/// Maps signed to unsigned numbers: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
#[inline(always)]
pub(crate) fn zigzag(y: i16) -> u16 {
    ((y << 1) ^ (y >> 15)) as u16
}

/// The inverse of [`zigzag`].
#[inline(always)]
pub(crate) fn unzigzag(z: u16) -> i16 {
    ((z >> 1) ^ (z & 1).wrapping_neg()) as i16
}

/// Encodes `z`. Returns the code without its leading zeros, and its length in bits with them.
#[inline(always)]
pub(crate) fn code(z: u16, k: u32) -> (u32, u32) {
    let z = u32::from(z);
    let q = z >> k;
    if q < ESCAPE { (1 << k | (z & ((1 << k) - 1)), q + 1 + k) } else { (1 << 16 | z, ESCAPE_BITS) }
}

/// Reads the code at the top of `window`. Returns its value and its length in bits; `None` if it
/// begins with more than eight zeros. At least the first 25 bits of the window must be those of the
/// payload, or zeros after its end.
#[inline(always)]
pub(crate) fn read(window: u32, k: u32) -> Option<(u16, u32)> {
    let q = window.leading_zeros();
    if q < ESCAPE {
        let rest = window << q << 1; // 32 - (q + 1) bits, of which k (at most 15) are used
        let low = if k == 0 { 0 } else { rest >> (32 - k) };
        Some(((q << k | low) as u16, q + 1 + k))
    } else if q == ESCAPE {
        Some(((window >> 7) as u16, ESCAPE_BITS))
    } else {
        None
    }
}

/// Reads 32 bits of `payload` from bit offset `at`; zeros follow its end.
#[inline]
pub(crate) fn peek(payload: &[u8], at: usize) -> u32 {
    let word = |i: usize| {
        let bytes = payload.get(4 * i..4 * i + 4);
        bytes.map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let pair = u64::from(word(at / 32)) << 32 | u64::from(word(at / 32 + 1));
    ((pair << (at % 32)) >> 32) as u32
}

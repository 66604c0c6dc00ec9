//! The specification: one sample at a time, safe, portable. Every other kernel must match it byte
//! for byte and verdict for verdict.
//!
//! A value z with k = log2(m) and q = z >> k is coded as
//!
//! * q <= 7: q zeros, a one, the low k bits of z: q + 1 + k bits;
//! * q >= 8: eight zeros, a one, all 16 bits of z: 25 bits.
//!
//! Codes follow each other from the highest bit of 32-bit words, and each word is stored with its
//! low byte first. The last word of a segment is filled up with zeros.

use linerate_core::{Error, Kind, Result};

/// Zeros before the one of an escape; more never occur.
pub(crate) const ESCAPE: u32 = 8;
/// Bits of an escape, the longest code.
pub(crate) const ESCAPE_BITS: u32 = 25;

/// Signed to unsigned: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
#[inline(always)]
pub(crate) fn zigzag(y: i16) -> u16 {
    ((y << 1) ^ (y >> 15)) as u16
}

/// The inverse of [`zigzag`].
#[inline(always)]
pub(crate) fn unzigzag(z: u16) -> i16 {
    ((z >> 1) ^ (z & 1).wrapping_neg()) as i16
}

/// The code of `z`: its bits without leading zeros, and its length with them.
#[inline(always)]
pub(crate) fn code(z: u16, k: u32) -> (u32, u32) {
    let z = u32::from(z);
    let q = z >> k;
    if q < ESCAPE { (1 << k | (z & ((1 << k) - 1)), q + 1 + k) } else { (1 << 16 | z, ESCAPE_BITS) }
}

/// The code at the top of `window`: its value and length. `None` if there are more than eight
/// zeros. At least 25 bits of the window must be of the stream, or followed by zeros.
#[inline(always)]
pub(crate) fn read(window: u32, k: u32) -> Option<(u16, u32)> {
    let q = window.leading_zeros();
    if q < ESCAPE {
        let rest = window << q << 1; // 32 - (q + 1) bits, k <= 15 of them wanted
        let low = if k == 0 { 0 } else { rest >> (32 - k) };
        Some(((q << k | low) as u16, q + 1 + k))
    } else if q == ESCAPE {
        Some(((window >> 7) as u16, ESCAPE_BITS))
    } else {
        None
    }
}

/// 32 bits of `payload` from bit `at` on; zeros follow its end.
#[inline]
pub(crate) fn peek(payload: &[u8], at: usize) -> u32 {
    let word = |i: usize| {
        let bytes = payload.get(4 * i..4 * i + 4);
        bytes.map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let pair = u64::from(word(at / 32)) << 32 | u64::from(word(at / 32 + 1));
    ((pair << (at % 32)) >> 32) as u32
}

/// Where a decoder is within a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    /// Bits read.
    pub(crate) bit: usize,
    /// Samples written.
    pub(crate) sample: usize,
    /// The last sample written, or 0; only the running difference uses it.
    pub(crate) last: i16,
}

/// Decodes the rest of a segment from `from` on: all of `out` after `from.sample`.
///
/// `delta` undoes the running difference; without it the filtered values are written.
///
/// # Errors
/// [`Kind::Corrupt`] for more than eight zeros, for codes that do not end within `payload`, and
/// for what follows the last code unless it is less than 32 zero bits. The offset is that of the
/// word at fault, from the start of `payload`.
pub(crate) fn decode(payload: &[u8], k: u32, delta: bool, from: Position, out: &mut [i16]) -> Result<()> {
    let corrupt = |bit: usize, what| Err(Error::new(Kind::Corrupt, (bit / 32 * 4) as u64, what));
    let bits = payload.len() * 8;
    let Position { mut bit, sample, mut last } = from;
    for x in out.iter_mut().skip(sample) {
        let Some((z, len)) = read(peek(payload, bit), k) else {
            let what = if bit + 9 > bits {
                "a segment ends before its samples do"
            } else {
                "more than eight zeros in a code"
            };
            return corrupt(bit, what);
        };
        bit += len as usize;
        if bit > bits {
            return corrupt(bit - len as usize, "a segment ends before its samples do");
        }
        let y = unzigzag(z);
        last = if delta { last.wrapping_add(y) } else { y };
        *x = last;
    }
    if bit > bits {
        return corrupt(bits, "a segment ends before its samples do");
    }
    if bits - bit >= 32 {
        return corrupt(bit + 31, "a segment goes on after its samples");
    }
    if bit < bits && peek(payload, bit) != 0 {
        return corrupt(bit, "the bits after the last code are not zero");
    }
    Ok(())
}

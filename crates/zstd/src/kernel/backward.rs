//! Reading bits backward with one load of eight bytes at a time.
//!
//! A position in a stream is the number of bits before it, which is how many are left to read. The eight
//! bytes up to and with the byte that the position is in have at least 56 of them, at the low end.

use super::isa::{Isa, read64};

/// Bits that a load at any position has at least.
pub(crate) const LOADED: u32 = 56;

/// Bytes before a stream that a load in it may read.
const BEFORE: isize = 7;

/// The position behind the last bit of a stream, below its end mark; nothing if it has none.
#[inline(always)]
pub(crate) fn end(stream: &[u8]) -> Option<isize> {
    let mark = stream.last()?.checked_ilog2()?;
    Some((stream.len() as isize - 1) * 8 + mark as isize)
}

/// The beginning of a stream that is a part of `whole`, as a pointer from which the bytes before it can
/// be reached, too. They are headers, of which there are always enough.
#[inline(always)]
pub(crate) fn begin(whole: &[u8], stream: &[u8]) -> *const u8 {
    let at = (stream.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
    assert!(at >= BEFORE as usize && at + stream.len() <= whole.len(), "a stream has its headers before it");
    whole.as_ptr().wrapping_add(at)
}

/// Where the load at a position begins.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub(crate) unsafe fn address(stream: *const u8, position: isize) -> *const u8 {
    // SAFETY: between the bytes before the stream and its end.
    unsafe { stream.offset((position >> 3) - BEFORE) }
}

/// The eight bytes at a position, and a number of which the low six bits say how many of their low bits
/// are left to read: 56 to 63.
///
/// # Safety
/// `position` must not be negative and be inside the stream that begins at `stream`, and seven bytes
/// before the stream must be readable.
#[inline(always)]
pub(crate) unsafe fn load(stream: *const u8, position: isize) -> (u64, u32) {
    // SAFETY: the bytes lie between those before the stream and its end.
    let word = unsafe { read64(address(stream, position)) };
    // The low three bits of the position, with ones above them: 56 more.
    (word, position as u32 | !7)
}

/// The same bits from the highest one down, zeros below them.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub(crate) unsafe fn load_top(stream: *const u8, position: isize) -> u64 {
    // SAFETY: as the caller vouches.
    unsafe { read64(address(stream, position)) << (8 - (position & 7)) }
}

/// The low bits of `word >> shift`, as many as the low byte of `count` says, below 64. Of `shift`
/// only the low six bits matter.
///
/// # Safety
/// The CPU must support the tier of `I`.
#[inline(always)]
pub(crate) unsafe fn field<I: Isa>(word: u64, shift: u32, count: u32) -> u64 {
    // SAFETY: as the caller vouches.
    unsafe { I::low_bits(word >> (shift & 63), count) }
}

//! Reads bits backward with one unaligned load of eight bytes.
//!
//! A position is the number of bits before it, which is the number of bits left to read. The load
//! for a position ends with the byte of the position. Its low 56 to 63 bits are those before the
//! position.
//!
//! Seven bytes before each stream must be readable.

use super::isa::{Isa, read64};

/// Smallest number of valid bits in a load.
pub(crate) const LOADED: u32 = 56;

/// Number of bytes before a stream that a load may read.
const BEFORE: isize = 7;

/// Returns the position after the last bit of a stream, which is before its end mark, or `None`
/// without a mark.
#[inline(always)]
pub(crate) fn end(stream: &[u8]) -> Option<isize> {
    let mark = stream.last()?.checked_ilog2()?;
    Some((stream.len() as isize - 1) * 8 + mark as isize)
}

/// Returns the beginning of a stream that is a part of `whole`. The pointer has provenance over the
/// headers before the stream, which are always long enough.
#[inline(always)]
pub(crate) fn begin(whole: &[u8], stream: &[u8]) -> *const u8 {
    let at = (stream.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
    assert!(at >= BEFORE as usize && at + stream.len() <= whole.len(), "a stream has its headers before it");
    whole.as_ptr().wrapping_add(at)
}

/// Returns the address of the load at a position.
///
/// # Safety
/// The requirements of [`load`].
#[inline(always)]
pub(crate) unsafe fn address(stream: *const u8, position: isize) -> *const u8 {
    // SAFETY: between the bytes before the stream and its end.
    unsafe { stream.offset((position >> 3) - BEFORE) }
}

/// Returns the load at a position, and a number whose low six bits are the count of valid low bits
/// of the load: 56 to 63.
///
/// # Safety
/// `position` must not be negative, and must be inside the stream that begins at `stream`. Seven
/// bytes before the stream must be readable.
#[inline(always)]
pub(crate) unsafe fn load(stream: *const u8, position: isize) -> (u64, u32) {
    // SAFETY: the bytes lie between those before the stream and its end.
    let word = unsafe { read64(address(stream, position)) };
    // The low three bits of the position below ones, which add 56.
    (word, position as u32 | !7)
}

/// Loads at a position, like [`load`], and shifts the valid bits to the top, with zeros below.
///
/// # Safety
/// The requirements of [`load`].
#[inline(always)]
pub(crate) unsafe fn load_top(stream: *const u8, position: isize) -> u64 {
    // SAFETY: as the caller vouches.
    unsafe { read64(address(stream, position)) << (8 - (position & 7)) }
}

/// Returns the low `count & 0xff` bits (below 64) of `word >> (shift & 63)`.
///
/// # Safety
/// The CPU must support the tier of `I`.
#[inline(always)]
pub(crate) unsafe fn field<I: Isa>(word: u64, shift: u32, count: u32) -> u64 {
    // SAFETY: as the caller vouches.
    unsafe { I::low_bits(word >> (shift & 63), count) }
}

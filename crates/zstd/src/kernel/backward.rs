//! Reading bits backward with one load of eight bytes at a time.
//!
//! A place in a stream is one number, the bits before it plus seven. The byte behind the place is
//! then `place >> 3`, and of the eight bytes before that one the low `57 + (place & 7)` bits are
//! still to be read.

use super::isa::read64;

/// The place of the first bit, where all bits have been read.
pub(crate) const BEGIN: isize = 7;

/// Bits that a load at any place has at least.
pub(crate) const LOADED: u32 = 57;

/// The place behind the last bit of a stream, below its end mark; nothing if it has none.
#[inline(always)]
pub(crate) fn end(stream: &[u8]) -> Option<isize> {
    let mark = stream.last()?.checked_ilog2()?;
    Some((stream.len() as isize - 1) * 8 + mark as isize + BEGIN)
}

/// The eight bytes before a place, and how many of its low bits are still to be read.
///
/// # Safety
/// `place` must be [`BEGIN`] at least and inside the stream that begins at `stream`, and eight bytes
/// before the stream must be readable.
#[inline(always)]
pub(crate) unsafe fn load(stream: *const u8, place: isize) -> (u64, u32) {
    // SAFETY: the bytes lie between eight before the stream and its end.
    let word = unsafe { read64(stream.offset((place >> 3) - 8)) };
    (word, LOADED + (place & 7) as u32)
}

/// The low `count` bits of `word >> shift`; `count` below 32.
#[inline(always)]
pub(crate) fn field(word: u64, shift: u32, count: u32) -> u64 {
    (word >> (shift & 63)) & ((1 << count) - 1)
}

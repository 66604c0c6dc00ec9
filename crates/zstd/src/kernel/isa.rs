//! The operations whose implementation differs per CPU tier: [`scalar`](super::scalar),
//! [`avx2`](super::avx2).

use crate::entropy::huffman::Ranks;

/// Operations implemented per tier.
pub(crate) trait Isa {
    /// The three repeat offsets, latest first.
    type Repeats: Copy;

    /// # Safety
    /// The CPU must support the tier.
    unsafe fn repeats(offsets: [u32; 3]) -> Self::Repeats;

    /// # Safety
    /// The CPU must support the tier.
    unsafe fn offsets(repeats: Self::Repeats) -> [u32; 3];

    /// Moves repeat offset `which` to the front, or inserts `new` there if `which` is 3 or 4.
    /// Returns the offset at the front.
    ///
    /// # Safety
    /// `which` is below 5, and the CPU must support the tier.
    unsafe fn select_repeat(repeats: &mut Self::Repeats, which: u32, new: u32) -> u32;

    /// Writes 16 bytes at `to`: repetitions of the first `offset` bytes at `from`.
    ///
    /// # Safety
    /// 16 bytes must be readable at `from` and writable at `to`, `offset` must be in 1..16, and the
    /// CPU must support the tier.
    unsafe fn repeat16(from: *const u8, to: *mut u8, offset: usize);

    /// Returns the low `count & 0xff` bits of `word`; the count is below 64.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn low_bits(word: u64, count: u32) -> u64;

    /// Returns the number of weights of each value from 0 to 11. There are at most 256 weights.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn count(weights: &[[u8; 64]]) -> Ranks;

    /// Returns a bit for each byte, set if the byte is not zero. The first byte has the lowest bit.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn non_zero(bytes: &[u8; 64]) -> u64;
}

/// Loads eight bytes in little-endian order.
///
/// # Safety
/// 8 bytes must be readable at `p`.
#[inline(always)]
pub(crate) unsafe fn read64(p: *const u8) -> u64 {
    // SAFETY: as the caller vouches; little-endian order on every machine.
    u64::from_le(unsafe { p.cast::<u64>().read_unaligned() })
}

/// Copies 16 bytes at once. The ranges may overlap.
///
/// # Safety
/// 16 bytes must be readable at `from` and writable at `to`.
#[inline(always)]
pub(crate) unsafe fn copy16(from: *const u8, to: *mut u8) {
    // SAFETY: as the caller vouches; the value is read whole before it is written.
    unsafe { to.cast::<u128>().write_unaligned(from.cast::<u128>().read_unaligned()) }
}

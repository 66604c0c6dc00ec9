//! The operations that differ per CPU tier. [`scalar`](super::scalar) and [`avx2`](super::avx2)
//! implement them.

use crate::coding::tables::Tables;

/// The operations that each tier implements.
#[cfg_attr(
    not(feature = "alloc"),
    expect(dead_code, reason = "lanes are for levels 8 and 9, which allocate")
)]
pub(crate) trait Isa {
    /// Compares the 32 bytes at `a` with the 32 bytes at `b`. Returns a mask whose bit i is set if
    /// the bytes i are equal.
    ///
    /// # Safety
    /// 32 bytes must be readable at both, and the CPU must support the tier.
    unsafe fn equal32(a: *const u8, b: *const u8) -> u32;

    /// Returns the length of the common prefix of 16 bytes at `a` and 16 bytes at `b`.
    ///
    /// # Safety
    /// 16 bytes must be readable at both, and the CPU must support the tier.
    unsafe fn common16(a: *const u8, b: *const u8) -> usize;

    /// A vector of eight 32-bit numbers.
    type Lanes: Copy;

    /// Returns a vector with `x` in every lane.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn splat(x: u32) -> Self::Lanes;

    /// Loads eight numbers.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn load(lanes: &[u32; 8]) -> Self::Lanes;

    /// Adds lane by lane, modulo 2^32.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn add(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// Returns the lesser number of each lane.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn min(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// Returns the bitwise or.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn or(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// Shifts each number left by `N` bits.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn shift_left<const N: i32>(a: Self::Lanes) -> Self::Lanes;

    /// Returns `x` followed by the first seven numbers of `a`.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn prepend(x: u32, a: Self::Lanes) -> Self::Lanes;

    /// Returns the least of the eight numbers.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn least(a: Self::Lanes) -> u32;

    /// Returns the length of the common prefix of 32 bytes at `a` and 32 bytes at `b`.
    ///
    /// # Safety
    /// 32 bytes must be readable at both, and the CPU must support the tier.
    unsafe fn common32(a: *const u8, b: *const u8) -> usize;

    /// Returns the bits of four pairs of `tokens`, and their numbers of bits. Returns `None` if a
    /// pair has more than 56 bits, which with 7 pending bits would not fit 64, or if the tier is no
    /// faster with pairs than with single tokens.
    ///
    /// # Safety
    /// The tokens must come from a parse, and the CPU must support the tier.
    #[inline(always)]
    unsafe fn pairs(_tokens: &[u32; 8], _tables: &Tables) -> Option<[[u64; 4]; 2]> {
        None
    }
}

/// Reads 4 bytes in little-endian order.
///
/// # Safety
/// 4 bytes must be readable at `p`.
#[inline(always)]
pub(crate) unsafe fn read32(p: *const u8) -> u32 {
    // SAFETY: as the caller vouches.
    u32::from_le(unsafe { p.cast::<u32>().read_unaligned() })
}

/// Reads 8 bytes in little-endian order.
///
/// # Safety
/// 8 bytes must be readable at `p`.
#[inline(always)]
pub(crate) unsafe fn read64(p: *const u8) -> u64 {
    // SAFETY: as the caller vouches.
    u64::from_le(unsafe { p.cast::<u64>().read_unaligned() })
}

//! The operations whose implementation differs per CPU tier: [`scalar`](super::scalar),
//! [`avx2`](super::avx2).

use crate::coding::tables::Tables;

/// Operations implemented per tier.
#[cfg_attr(
    not(feature = "alloc"),
    expect(dead_code, reason = "lanes are for levels 8 and 9, which allocate")
)]
pub(crate) trait Isa {
    /// Which of 32 bytes at `a` equal those at `b`: bit i for byte i.
    ///
    /// # Safety
    /// 32 bytes must be readable at both, and the CPU must support the tier.
    unsafe fn equal32(a: *const u8, b: *const u8) -> u32;

    /// Length of the common prefix of 16 bytes at `a` and 16 bytes at `b`.
    ///
    /// # Safety
    /// 16 bytes must be readable at both, and the CPU must support the tier.
    unsafe fn common16(a: *const u8, b: *const u8) -> usize;

    /// Eight numbers.
    type Lanes: Copy;

    /// Eight times `x`.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn splat(x: u32) -> Self::Lanes;

    /// The eight numbers.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn load(lanes: &[u32; 8]) -> Self::Lanes;

    /// Sums, modulo 2^32.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn add(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// The lesser of each two.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn min(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// The bits of either.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn or(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// Each number times 2^`N`, modulo 2^32.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn shift_left<const N: i32>(a: Self::Lanes) -> Self::Lanes;

    /// `x`, and the first seven of `a`.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn prepend(x: u32, a: Self::Lanes) -> Self::Lanes;

    /// The least of eight.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn least(a: Self::Lanes) -> u32;

    /// Length of the common prefix of 32 bytes at `a` and 32 bytes at `b`.
    ///
    /// # Safety
    /// 32 bytes must be readable at both, and the CPU must support the tier.
    unsafe fn common32(a: *const u8, b: *const u8) -> usize;

    /// Values and numbers of bits of four pairs of `tokens`. `None` if a pair has more than 56 bits, which
    /// would not fit 64 with 7 pending ones, or if the tier is no faster at pairs than at single tokens.
    ///
    /// # Safety
    /// The tokens must be of a parse, and the CPU must support the tier.
    #[inline(always)]
    unsafe fn pairs(_tokens: &[u32; 8], _tables: &Tables) -> Option<[[u64; 4]; 2]> {
        None
    }
}

/// # Safety
/// 4 bytes must be readable at `p`.
#[inline(always)]
pub(crate) unsafe fn read32(p: *const u8) -> u32 {
    // SAFETY: as the caller vouches; little-endian order on every machine.
    u32::from_le(unsafe { p.cast::<u32>().read_unaligned() })
}

/// # Safety
/// 8 bytes must be readable at `p`.
#[inline(always)]
pub(crate) unsafe fn read64(p: *const u8) -> u64 {
    // SAFETY: as the caller vouches; little-endian order on every machine.
    u64::from_le(unsafe { p.cast::<u64>().read_unaligned() })
}

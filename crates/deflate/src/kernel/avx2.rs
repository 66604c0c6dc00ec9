//! The operations of x86-64-v3: AVX2, BMI1, BMI2, LZCNT, POPCNT.

use super::isa::Isa;

/// The AVX2 tier.
pub(crate) struct Avx2;

impl Isa for Avx2 {
    #[inline(always)]
    unsafe fn common16(a: *const u8, b: *const u8) -> usize {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for 16 readable bytes and for AVX2.
        unsafe {
            let (a, b) = (_mm_loadu_si128(a.cast()), _mm_loadu_si128(b.cast()));
            (!(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) as u32)).trailing_zeros() as usize
        }
    }

    #[inline(always)]
    unsafe fn equal32(a: *const u8, b: *const u8) -> u32 {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for 32 readable bytes and for AVX2.
        unsafe {
            let (a, b) = (_mm256_loadu_si256(a.cast()), _mm256_loadu_si256(b.cast()));
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32
        }
    }

    #[inline(always)]
    unsafe fn common32(a: *const u8, b: *const u8) -> usize {
        // SAFETY: as the caller vouches.
        (!unsafe { Self::equal32(a, b) }).trailing_zeros() as usize
    }
}

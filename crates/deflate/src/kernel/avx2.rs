//! The operations of x86-64-v3: AVX2, BMI1, BMI2, LZCNT, POPCNT.

use super::isa::Isa;
use crate::coding::tables::Tables;

/// Maximum size of a pair of tokens in bits. With 7 pending bits a pair fits 64.
const MAX_PAIR: u32 = 56;

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

    type Lanes = core::arch::x86_64::__m256i;

    #[inline(always)]
    unsafe fn splat(x: u32) -> Self::Lanes {
        // SAFETY: the caller vouches for AVX2.
        unsafe { core::arch::x86_64::_mm256_set1_epi32(x as i32) }
    }

    #[inline(always)]
    unsafe fn load(lanes: &[u32; 8]) -> Self::Lanes {
        // SAFETY: eight numbers are readable; the caller vouches for AVX2.
        unsafe { core::arch::x86_64::_mm256_loadu_si256(lanes.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        // SAFETY: the caller vouches for AVX2.
        unsafe { core::arch::x86_64::_mm256_add_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn min(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        // SAFETY: the caller vouches for AVX2.
        unsafe { core::arch::x86_64::_mm256_min_epu32(a, b) }
    }

    #[inline(always)]
    unsafe fn or(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        // SAFETY: the caller vouches for AVX2.
        unsafe { core::arch::x86_64::_mm256_or_si256(a, b) }
    }

    #[inline(always)]
    unsafe fn shift_left<const N: i32>(a: Self::Lanes) -> Self::Lanes {
        // SAFETY: the caller vouches for AVX2.
        unsafe { core::arch::x86_64::_mm256_slli_epi32::<N>(a) }
    }

    #[inline(always)]
    unsafe fn prepend(x: u32, a: Self::Lanes) -> Self::Lanes {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let moved = _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6));
            _mm256_blend_epi32::<1>(moved, _mm256_castsi128_si256(_mm_cvtsi32_si128(x as i32)))
        }
    }

    #[inline(always)]
    unsafe fn least(a: Self::Lanes) -> u32 {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let four = _mm_min_epu32(_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a));
            let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            let one = _mm_min_epu32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
            _mm_cvtsi128_si32(one) as u32
        }
    }

    #[inline(always)]
    unsafe fn common32(a: *const u8, b: *const u8) -> usize {
        // SAFETY: as the caller vouches.
        (!unsafe { Self::equal32(a, b) }).trailing_zeros() as usize
    }

    #[inline(always)]
    unsafe fn pairs(tokens: &[u32; 8], tables: &Tables) -> Option<[[u64; 4]; 2]> {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for AVX2 and for the tokens: `first` has 9 bits, and `second`
        // is below 288.
        unsafe {
            let tokens = _mm256_loadu_si256(tokens.as_ptr().cast());
            let (byte, symbol) = (_mm256_set1_epi32(0xff), _mm256_set1_epi32(0x1ff));
            let first = _mm256_and_si256(tokens, symbol);
            let second = _mm256_and_si256(_mm256_srli_epi32::<9>(tokens), symbol);
            let first = _mm256_i32gather_epi32::<4>(tables.firsts.as_ptr().cast(), first);
            let second = _mm256_i32gather_epi32::<4>(tables.seconds.as_ptr().cast(), second);
            // A symbol with its extra bits fits 32 bits; a token needs 64.
            let first_len = _mm256_and_si256(first, byte);
            let len = _mm256_add_epi32(first_len, _mm256_and_si256(second, byte));
            let first = _mm256_srli_epi32::<8>(first);
            let code_len = _mm256_and_si256(_mm256_srli_epi32::<8>(second), byte);
            let extra = _mm256_sllv_epi32(_mm256_srli_epi32::<18>(tokens), code_len);
            let second = _mm256_or_si256(_mm256_srli_epi32::<16>(second), extra);
            let even = |x: __m256i| _mm256_blend_epi32::<0b1010_1010>(x, _mm256_setzero_si256());
            let odd = |x: __m256i| _mm256_srli_epi64::<32>(x);
            let before = _mm256_or_si256(even(first), _mm256_sllv_epi64(even(second), even(first_len)));
            let after = _mm256_or_si256(odd(first), _mm256_sllv_epi64(odd(second), odd(first_len)));
            let pair = _mm256_or_si256(before, _mm256_sllv_epi64(after, even(len)));
            let pair_len = _mm256_add_epi64(even(len), odd(len));
            let long = _mm256_cmpgt_epi32(pair_len, _mm256_set1_epi32(MAX_PAIR as i32));
            if _mm256_testz_si256(long, long) == 0 {
                return None;
            }
            let mut pairs = [[0; 4]; 2];
            _mm256_storeu_si256(pairs[0].as_mut_ptr().cast(), pair);
            _mm256_storeu_si256(pairs[1].as_mut_ptr().cast(), pair_len);
            Some(pairs)
        }
    }
}

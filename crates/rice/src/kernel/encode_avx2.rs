//! Codes of a block of samples in AVX2 registers.
//!
//! Sample 4i + j lies in 16-bit lane j of 64-bit lane i, so merging codes of neighbours is a
//! shift within ever wider lanes: 16 to 32 to 64 bits, without a shuffle.

use core::arch::x86_64::*;

use super::code::{ESCAPE, ESCAPE_BITS};
use super::isa::{Codes, Isa, NARROW};
use super::quotients::avx2;
use crate::v2;
use crate::v2::element::Word;

pub(crate) struct Avx2;

impl Isa for Avx2 {
    const BLOCK: usize = 16;
    #[cfg(feature = "alloc")]
    type Lanes = [__m256d; 2];

    #[inline(always)]
    unsafe fn sum<W: Word>(block: &[W; v2::BLOCK]) -> u64 {
        match bytemuck::try_cast_ref(block) {
            // SAFETY: the caller vouches for the CPU.
            Ok(block) => unsafe { avx2::sum(block) },
            Err(_) => W::sum(block),
        }
    }

    #[inline(always)]
    unsafe fn quotients<W: Word>(block: &[W; v2::BLOCK], parameters: [u32; 3]) -> Option<[(u32, u32); 3]> {
        let block = bytemuck::try_cast_ref(block).ok()?;
        // SAFETY: the caller vouches for the CPU.
        Some(unsafe { avx2::quotients(block, parameters) })
    }

    const GROUP: usize = 4;

    #[inline(always)]
    unsafe fn codes<const DELTA: bool>(samples: *const i16, k: u32, out: &mut Codes) -> usize {
        // SAFETY: the caller vouches for all that it asks for.
        unsafe { codes_avx2::<DELTA>(samples, k, out) }
    }
}

/// [`Isa::codes`]. A function with `target_feature`, so that its closures have the features too.
///
/// # Safety
/// As for [`Isa::codes`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
unsafe fn codes_avx2<const DELTA: bool>(samples: *const i16, k: u32, out: &mut Codes) -> usize {
    // SAFETY: the caller vouches for the samples and for AVX2.
    unsafe {
        let top = |value, len| _mm256_sllv_epi64(value, _mm256_sub_epi64(_mm256_set1_epi64x(64), len));
        let x = _mm256_loadu_si256(samples.cast());
        let y = if DELTA { _mm256_sub_epi16(x, _mm256_loadu_si256(samples.sub(1).cast())) } else { x };
        let z = _mm256_xor_si256(_mm256_slli_epi16::<1>(y), _mm256_srai_epi16::<15>(y));
        let q = _mm256_srl_epi16(z, _mm_cvtsi32_si128(k as i32));
        let one = _mm256_set1_epi16(1 << k);
        let low = _mm256_set1_epi16(((1u32 << k) - 1) as i16);
        let v = _mm256_or_si256(_mm256_and_si256(z, low), one);
        let len = _mm256_add_epi16(q, _mm256_set1_epi16(k as i16 + 1));
        // k >= 1, so q is below 2^15 and may be compared as signed.
        let escapes = _mm256_cmpgt_epi16(q, _mm256_set1_epi16(ESCAPE as i16 - 1));
        if _mm256_testz_si256(escapes, escapes) == 1 && k <= NARROW {
            let odd = _mm256_srli_epi32::<16>(len);
            let even = _mm256_and_si256(v, _mm256_set1_epi32(0xffff));
            let pair = _mm256_or_si256(_mm256_sllv_epi32(even, odd), _mm256_srli_epi32::<16>(v));
            let pair_len = _mm256_madd_epi16(len, _mm256_set1_epi16(1));
            let odd = _mm256_srli_epi64::<32>(pair_len);
            let even = _mm256_and_si256(pair, _mm256_set1_epi64x(0xffff_ffff));
            let four = _mm256_or_si256(_mm256_sllv_epi64(even, odd), _mm256_srli_epi64::<32>(pair));
            let total = _mm256_and_si256(_mm256_add_epi64(pair_len, odd), _mm256_set1_epi64x(0xffff));
            _mm256_storeu_si256(out.tops.as_mut_ptr().cast(), top(four, total));
            _mm256_storeu_si256(out.lens.as_mut_ptr().cast(), total);
            return 4;
        }
        let v = _mm256_blendv_epi8(v, z, escapes);
        let len = _mm256_blendv_epi8(len, _mm256_set1_epi16(ESCAPE_BITS as i16), escapes);
        let ones = _mm256_srli_epi16::<15>(escapes);
        let word = _mm256_set1_epi64x(0xffff);
        let lane = |x, j: u32| _mm256_and_si256(_mm256_srl_epi64(x, _mm_cvtsi32_si128(16 * j as i32)), word);
        let value = |j| _mm256_or_si256(lane(v, j), _mm256_slli_epi64::<16>(lane(ones, j)));
        let pair = |j| {
            let next = lane(len, j + 1);
            let merged = _mm256_or_si256(_mm256_sllv_epi64(value(j), next), value(j + 1));
            (merged, _mm256_add_epi64(lane(len, j), next))
        };
        let ((a, la), (b, lb)) = (pair(0), pair(2));
        let total = _mm256_add_epi64(la, lb);
        let long = _mm256_cmpgt_epi64(total, _mm256_set1_epi64x(63));
        if _mm256_testz_si256(long, long) == 1 {
            let four = _mm256_or_si256(_mm256_sllv_epi64(a, lb), b);
            _mm256_storeu_si256(out.tops.as_mut_ptr().cast(), top(four, total));
            _mm256_storeu_si256(out.lens.as_mut_ptr().cast(), total);
            return 4;
        }
        // a0 b0 a1 b1 ... in order of the samples.
        let store = |to: &mut [u64; 32], a, b| {
            let (low, high) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            let to: *mut __m256i = to.as_mut_ptr().cast();
            _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(low, high));
            _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x31>(low, high));
        };
        store(&mut out.tops, top(a, la), top(b, lb));
        store(&mut out.lens, la, lb);
        8
    }
}

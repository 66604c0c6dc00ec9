//! Codes of a block of samples in AVX-512 registers.
//!
//! Sample 4i + j lies in 16-bit lane j of 64-bit lane i, so merging codes of neighbours is a
//! shift within ever wider lanes: 16 to 32 to 64 bits, without a shuffle.

use core::arch::x86_64::*;

use super::code::{ESCAPE, ESCAPE_BITS};
use super::isa::{Codes, Isa, NARROW};
use super::quotients::avx512;
use crate::v2;
use crate::v2::element::Word;

pub(crate) struct Avx512;

impl Isa for Avx512 {
    const BLOCK: usize = 32;
    #[cfg(feature = "alloc")]
    type Lanes = [__m512d; 1];

    #[inline(always)]
    unsafe fn sum<W: Word>(block: &[W; v2::BLOCK]) -> u64 {
        match bytemuck::try_cast_ref(block) {
            // SAFETY: the caller vouches for the CPU.
            Ok(block) => unsafe { avx512::sum(block) },
            Err(_) => W::sum(block),
        }
    }

    #[inline(always)]
    unsafe fn quotients<W: Word>(block: &[W; v2::BLOCK], parameters: [u32; 3]) -> Option<[(u32, u32); 3]> {
        let block = bytemuck::try_cast_ref(block).ok()?;
        // SAFETY: the caller vouches for the CPU.
        Some(unsafe { avx512::quotients(block, parameters) })
    }

    const GROUP: usize = 8;

    #[inline(always)]
    unsafe fn codes<const DELTA: bool>(samples: *const i16, k: u32, out: &mut Codes) -> usize {
        // SAFETY: the caller vouches for all that it asks for.
        unsafe { codes_avx512::<DELTA>(samples, k, out) }
    }
}

/// [`Isa::codes`]. A function with `target_feature`, so that its closures have the features too.
///
/// # Safety
/// As for [`Isa::codes`].
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[inline]
unsafe fn codes_avx512<const DELTA: bool>(samples: *const i16, k: u32, out: &mut Codes) -> usize {
    // SAFETY: the caller vouches for the samples and for AVX-512.
    unsafe {
        let top = |value, len| _mm512_sllv_epi64(value, _mm512_sub_epi64(_mm512_set1_epi64(64), len));
        let x = _mm512_loadu_si512(samples.cast());
        let y = if DELTA { _mm512_sub_epi16(x, _mm512_loadu_si512(samples.sub(1).cast())) } else { x };
        let z = _mm512_xor_si512(_mm512_slli_epi16::<1>(y), _mm512_srai_epi16::<15>(y));
        let q = _mm512_srl_epi16(z, _mm_cvtsi32_si128(k as i32));
        let one = _mm512_set1_epi16(1 << k);
        let low = _mm512_set1_epi16(((1u32 << k) - 1) as i16);
        let v = _mm512_or_si512(_mm512_and_si512(z, low), one);
        let len = _mm512_add_epi16(q, _mm512_set1_epi16(k as i16 + 1));
        let escapes = _mm512_cmpge_epu16_mask(q, _mm512_set1_epi16(ESCAPE as i16));
        if escapes == 0 && k <= NARROW {
            let odd = _mm512_srli_epi32::<16>(len);
            let even = _mm512_and_si512(v, _mm512_set1_epi32(0xffff));
            let pair = _mm512_or_si512(_mm512_sllv_epi32(even, odd), _mm512_srli_epi32::<16>(v));
            let pair_len = _mm512_madd_epi16(len, _mm512_set1_epi16(1));
            let odd = _mm512_srli_epi64::<32>(pair_len);
            let even = _mm512_and_si512(pair, _mm512_set1_epi64(0xffff_ffff));
            let four = _mm512_or_si512(_mm512_sllv_epi64(even, odd), _mm512_srli_epi64::<32>(pair));
            // Lengths are at most 60, so the sum stays in the low 32 bits.
            let total = _mm512_and_si512(_mm512_add_epi64(pair_len, odd), _mm512_set1_epi64(0xffff));
            _mm512_storeu_si512(out.tops.as_mut_ptr().cast(), top(four, total));
            _mm512_storeu_si512(out.lens.as_mut_ptr().cast(), total);
            return 8;
        }
        // The 1 bit that ends an escape's zeros is bit 16 of the code, which does not fit a 16-bit
        // lane. So from here codes are built in 64-bit lanes.
        let v = _mm512_mask_mov_epi16(v, escapes, z);
        let len = _mm512_mask_mov_epi16(len, escapes, _mm512_set1_epi16(ESCAPE_BITS as i16));
        let ones = _mm512_maskz_set1_epi16(escapes, 1);
        let word = _mm512_set1_epi64(0xffff);
        let lane = |x, j: u32| _mm512_and_si512(_mm512_srl_epi64(x, _mm_cvtsi32_si128(16 * j as i32)), word);
        let value = |j| _mm512_or_si512(lane(v, j), _mm512_slli_epi64::<16>(lane(ones, j)));
        let pair = |j| {
            let next = lane(len, j + 1);
            let merged = _mm512_or_si512(_mm512_sllv_epi64(value(j), next), value(j + 1));
            (merged, _mm512_add_epi64(lane(len, j), next))
        };
        let ((a, la), (b, lb)) = (pair(0), pair(2));
        let total = _mm512_add_epi64(la, lb);
        if _mm512_cmpgt_epu64_mask(total, _mm512_set1_epi64(63)) == 0 {
            let four = _mm512_or_si512(_mm512_sllv_epi64(a, lb), b);
            _mm512_storeu_si512(out.tops.as_mut_ptr().cast(), top(four, total));
            _mm512_storeu_si512(out.lens.as_mut_ptr().cast(), total);
            return 8;
        }
        // a0 b0 a1 b1 ... in order of the samples.
        let first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        let store = |to: &mut [u64; 32], a, b| {
            _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_permutex2var_epi64(a, first, b));
            _mm512_storeu_si512(to.as_mut_ptr().add(8).cast(), _mm512_permutex2var_epi64(a, second, b));
        };
        store(&mut out.tops, top(a, la), top(b, lb));
        store(&mut out.lens, la, lb);
        16
    }
}

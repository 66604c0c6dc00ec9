//! Undoes linear prediction of up to sixteen segments, one per 32-bit lane of AVX-512 registers.

use core::arch::x86_64::*;

use super::linear_scalar::Row;
use super::linear_simd::{Lanes, lanes, undo_tiles};
use super::transpose_avx512::transpose;
use crate::v2::element::Word;

/// Undoes whole tiles of rows of 16-bit words. Returns the samples per row in these tiles.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn undo<W: Word>(rows: &mut [Row<W>]) -> usize {
    // SAFETY: this function has the features.
    unsafe { undo_tiles::<W, Avx512>(rows) }
}

struct Avx512;

impl Lanes for Avx512 {
    type V = __m512i;
    const N: usize = 16;
    lanes! {
        load(from: *const i32) -> __m512i { _mm512_loadu_si512(from.cast()) }
        store(to: *mut i32, x: __m512i) -> () { _mm512_storeu_si512(to.cast(), x) }
        zero() -> __m512i { _mm512_setzero_si512() }
        add(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi32(a, b) }
        madd(a: __m512i, b: __m512i) -> __m512i { _mm512_madd_epi16(a, b) }
        sra(a: __m512i, by: __m512i) -> __m512i { _mm512_srav_epi32(a, by) }
        low(a: __m512i) -> __m512i { _mm512_maskz_mov_epi16(0x5555_5555, a) }
        high(a: __m512i) -> __m512i { _mm512_srli_epi32::<16>(a) }
        pair(low: __m512i, high: __m512i) -> __m512i { _mm512_or_si512(low, _mm512_slli_epi32::<16>(high)) }
        transpose(rows: &mut [__m512i; 16]) -> () { *rows = transpose(*rows) }
    }
}

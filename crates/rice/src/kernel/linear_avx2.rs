//! Undoes linear prediction of up to eight segments, one per 32-bit lane of AVX2 registers.

use core::arch::x86_64::*;

use super::linear_scalar::{BATCH, Row};
use super::linear_simd::{Lanes, lanes, undo_tiles};
use crate::v2::element::Word;

/// Undoes whole tiles of rows of 16-bit words. Returns the samples per row in these tiles.
#[target_feature(enable = "avx2")]
pub(super) fn undo<W: Word>(rows: &mut [Row<W>]) -> usize {
    // SAFETY: this function has the features.
    unsafe { undo_tiles::<W, Avx2>(rows) }
}

struct Avx2;

impl Lanes for Avx2 {
    type V = __m256i;
    const N: usize = 8;
    lanes! {
        load(from: *const i32) -> __m256i { _mm256_loadu_si256(from.cast()) }
        store(to: *mut i32, x: __m256i) -> () { _mm256_storeu_si256(to.cast(), x) }
        zero() -> __m256i { _mm256_setzero_si256() }
        add(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi32(a, b) }
        madd(a: __m256i, b: __m256i) -> __m256i { _mm256_madd_epi16(a, b) }
        sra(a: __m256i, by: __m256i) -> __m256i { _mm256_srav_epi32(a, by) }
        low(a: __m256i) -> __m256i { _mm256_blend_epi16::<0xaa>(a, _mm256_setzero_si256()) }
        high(a: __m256i) -> __m256i { _mm256_srli_epi32::<16>(a) }
        pair(low: __m256i, high: __m256i) -> __m256i { _mm256_or_si256(low, _mm256_slli_epi32::<16>(high)) }
        transpose(rows: &mut [__m256i; 16]) -> () { transpose_eight(rows) }
    }
}

/// Transposes the first eight of `rows`, each of eight 32-bit words.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transpose_eight(rows: &mut [__m256i; BATCH]) {
    let mut quads = [_mm256_setzero_si256(); 8];
    for g in 0..2 {
        let r = &rows[4 * g..4 * g + 4];
        let (a, b) = (_mm256_unpacklo_epi32(r[0], r[1]), _mm256_unpackhi_epi32(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_epi32(r[2], r[3]), _mm256_unpackhi_epi32(r[2], r[3]));
        quads[4 * g] = _mm256_unpacklo_epi64(a, c);
        quads[4 * g + 1] = _mm256_unpackhi_epi64(a, c);
        quads[4 * g + 2] = _mm256_unpacklo_epi64(b, d);
        quads[4 * g + 3] = _mm256_unpackhi_epi64(b, d);
    }
    // Now 128-bit lane i of quads[4g + j] is column 4i + j of rows 4g..4g+4.
    for j in 0..4 {
        rows[j] = _mm256_permute2x128_si256::<0x20>(quads[j], quads[4 + j]);
        rows[4 + j] = _mm256_permute2x128_si256::<0x31>(quads[j], quads[4 + j]);
    }
}

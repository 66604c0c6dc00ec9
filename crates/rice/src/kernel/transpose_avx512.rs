//! A 16 by 16 transpose in AVX-512 registers.

use core::arch::x86_64::*;

/// Transposes sixteen rows of sixteen 32-bit words.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn transpose(rows: [__m512i; 16]) -> [__m512i; 16] {
    // Joins words to pairs and pairs to quads, within each group of four rows.
    let mut quads = [_mm512_setzero_si512(); 16];
    for g in 0..4 {
        let r = &rows[4 * g..4 * g + 4];
        let (a, b) = (_mm512_unpacklo_epi32(r[0], r[1]), _mm512_unpackhi_epi32(r[0], r[1]));
        let (c, d) = (_mm512_unpacklo_epi32(r[2], r[3]), _mm512_unpackhi_epi32(r[2], r[3]));
        quads[4 * g] = _mm512_unpacklo_epi64(a, c);
        quads[4 * g + 1] = _mm512_unpackhi_epi64(a, c);
        quads[4 * g + 2] = _mm512_unpacklo_epi64(b, d);
        quads[4 * g + 3] = _mm512_unpackhi_epi64(b, d);
    }
    // Now 128-bit lane i of quads[4g + j] is column 4i + j of rows 4g..4g+4.
    let mut columns = [_mm512_setzero_si512(); 16];
    for j in 0..4 {
        let (a, b, c, d) = (quads[j], quads[4 + j], quads[8 + j], quads[12 + j]);
        let (ab_low, ab_high) = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xee>(a, b));
        let (cd_low, cd_high) = (_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xee>(c, d));
        columns[j] = _mm512_shuffle_i32x4::<0x88>(ab_low, cd_low);
        columns[4 + j] = _mm512_shuffle_i32x4::<0xdd>(ab_low, cd_low);
        columns[8 + j] = _mm512_shuffle_i32x4::<0x88>(ab_high, cd_high);
        columns[12 + j] = _mm512_shuffle_i32x4::<0xdd>(ab_high, cd_high);
    }
    columns
}

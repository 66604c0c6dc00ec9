//! The AVX2 form of [`unalign`](super::unalign): makes a block from its aligned endpoints, its
//! indices and its first byte.
//!
//! The fields of each channel, in mode 6 of two channels, are moved to the bytes of a 32-bit lane.
//! Green is added in all lanes at once. Multiplications by powers of two then close the gaps
//! between the fields.

use core::arch::x86_64::*;

/// Shuffle index that gives 0.
const N: i8 = -1;

/// Combines the four fields of a 32-bit lane to one number. Multiplies bytes in odd positions by
/// `odd` and adds each to the byte before it. Then multiplies the upper of both sums by `pair` and
/// adds it to the lower. Fields are below 128.
#[inline]
#[target_feature(enable = "avx2")]
fn close_gaps(fields: __m128i, odd: i16, pair: i32) -> __m128i {
    let pairs = _mm_maddubs_epi16(_mm_set1_epi16((odd << 8) | 1), fields);
    _mm_madd_epi16(pairs, _mm_set1_epi32((pair << 16) | 1))
}

/// Adds lane 1, which is green, to lanes 0 and 2, and keeps the bits of each byte that `mask` has.
#[inline]
#[target_feature(enable = "avx2")]
fn add_green(fields: __m128i, mask: i8) -> __m128i {
    let green = _mm_and_si128(_mm_shuffle_epi32::<0b11_01_11_01>(fields), _mm_setr_epi32(-1, 0, -1, 0));
    _mm_and_si128(_mm_add_epi8(fields, green), _mm_set1_epi8(mask))
}

/// Mode 1. The endpoint bytes are R0 G0 B0 R1 G1 B1 R2 G2 B2 with 6 bits each. Their top two bits
/// are R3, G3, B3.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mode_1([endpoints, indices]: [__m128i; 2], first: u8) -> __m128i {
    let triples = _mm_shuffle_epi8(endpoints, _mm_setr_epi8(0, 3, 6, N, 1, 4, 7, N, 2, 5, 8, N, N, N, N, N));
    let spare = _mm_shuffle_epi8(endpoints, _mm_setr_epi8(0, 1, 2, N, 3, 4, 5, N, 6, 7, 8, N, N, N, N, N));
    let spare = _mm_and_si128(_mm_srli_epi16::<6>(spare), _mm_set1_epi8(3));
    let last = _mm_slli_epi32::<24>(close_gaps(spare, 4, 16));
    let fields = add_green(_mm_or_si128(_mm_and_si128(triples, _mm_set1_epi8(63)), last), 63);
    let colors = close_gaps(fields, 64, 1 << 12);
    let colors = _mm_shuffle_epi8(colors, _mm_setr_epi8(N, 0, 1, 2, 4, 5, 6, 8, 9, 10, N, N, N, N, N, N));
    let indices = _mm_shuffle_epi8(indices, _mm_setr_epi8(N, N, N, N, N, N, N, N, N, N, 0, 1, 2, 3, 4, 5));
    _mm_or_si128(_mm_or_si128(colors, indices), _mm_cvtsi32_si128(i32::from(first)))
}

/// Mode 3. The endpoint bytes are R0 G0 B0 R1 G1 B1 R2 G2 B2 R3 G3 with 7 bits each. Their top bits
/// are B3, then the four bits that follow the colours. The lowest two bits of the index bytes come
/// before the colours.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mode_3([endpoints, indices]: [__m128i; 2], first: u8) -> __m128i {
    let top = _mm_movemask_epi8(endpoints);
    let fields = _mm_shuffle_epi8(endpoints, _mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, N, N, N, N, N));
    let fields = _mm_and_si128(fields, _mm_set1_epi8(127));
    let fields = add_green(_mm_insert_epi8::<11>(fields, top & 127), 127);
    let colors = close_gaps(fields, 128, 1 << 14);
    let (red_green, blue) = (_mm_cvtsi128_si64(colors).cast_unsigned(), _mm_extract_epi32::<2>(colors));
    let red_green = (red_green & 0xfff_ffff) | (red_green >> 32 << 28);
    let rest = u64::from(_mm_cvtsi128_si32(indices).cast_unsigned());
    let parity = ((top >> 7) & 15).cast_unsigned();
    let low = u64::from(first) | ((rest & 3) << 8) | (red_green << 10);
    let high = (red_green >> 54)
        | (u64::from(blue.cast_unsigned()) << 2)
        | (u64::from(parity) << 30)
        | (rest >> 2 << 34);
    _mm_set_epi64x(high.cast_signed(), low.cast_signed())
}

/// Mode 6. The endpoint bytes are R0 G0 B0 A0 R1 G1 B1 with 7 bits each. Their top bits are A1.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mode_6([endpoints, indices]: [__m128i; 2], first: u8) -> __m128i {
    let last = (_mm_movemask_epi8(endpoints) & 127).cast_unsigned();
    let fields = _mm_shuffle_epi8(endpoints, _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, N, N, N, N, N, N, N, N, N));
    let green = _mm_shuffle_epi8(endpoints, _mm_setr_epi8(1, 5, N, N, 1, 5, N, N, N, N, N, N, N, N, N, N));
    let fields = _mm_and_si128(_mm_add_epi8(fields, green), _mm_set1_epi8(127));
    let colors = _mm_cvtsi128_si64(close_gaps(fields, 128, 1 << 14)).cast_unsigned();
    let colors = (colors & 0xfff_ffff) | (colors >> 32 << 28);
    let low =
        u64::from(first & 127) | (colors << 7) | (u64::from(last) << 56) | (u64::from(first >> 7) << 63);
    _mm_unpacklo_epi64(_mm_cvtsi64_si128(low.cast_signed()), indices)
}

//! Operations for the AVX2 tier: AVX2, BMI1, BMI2, LZCNT, POPCNT.

use core::arch::x86_64;

use super::isa::Isa;
use crate::entropy::huffman::Ranks;

/// The AVX2 tier.
pub(crate) struct Avx2;

#[repr(align(64))]
struct Rows([[u8; 16]; 5]);

/// Shuffles of four 32-bit lanes. Row `which` moves lane `which` to the front, and keeps the order
/// of the others. Row 4 equals row 3.
static TO_FRONT: Rows = Rows([
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15],
    [8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15],
    [12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    [12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
]);

/// Row `offset` has the numbers 0..16 modulo `offset`.
static MODULO: [[u8; 16]; 16] = {
    let mut rows = [[0; 16]; 16];
    let mut offset = 1;
    while offset < 16 {
        let mut i = 0;
        while i < 16 {
            rows[offset][i] = (i % offset) as u8;
            i += 1;
        }
        offset += 1;
    }
    rows
};

impl Isa for Avx2 {
    /// The offsets are in the low three lanes.
    type Repeats = x86_64::__m128i;

    #[inline(always)]
    unsafe fn repeats([a, b, c]: [u32; 3]) -> Self::Repeats {
        // SAFETY: the caller vouches for AVX2.
        unsafe { x86_64::_mm_setr_epi32(a as i32, b as i32, c as i32, 0) }
    }

    #[inline(always)]
    unsafe fn offsets(repeats: Self::Repeats) -> [u32; 3] {
        use x86_64::_mm_extract_epi32;
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            [
                _mm_extract_epi32::<0>(repeats),
                _mm_extract_epi32::<1>(repeats),
                _mm_extract_epi32::<2>(repeats),
            ]
            .map(|offset| offset as u32)
        }
    }

    #[inline(always)]
    unsafe fn select_repeat(repeats: &mut Self::Repeats, which: u32, new: u32) -> u32 {
        use x86_64::*;
        // SAFETY: the caller vouches for the row and for AVX2.
        unsafe {
            let row = _mm_load_si128(TO_FRONT.0.as_ptr().add(which as usize).cast());
            *repeats = _mm_shuffle_epi8(_mm_insert_epi32::<3>(*repeats, new as i32), row);
            _mm_cvtsi128_si32(*repeats) as u32
        }
    }

    #[inline(always)]
    unsafe fn repeat16(from: *const u8, to: *mut u8, offset: usize) {
        use x86_64::*;
        // SAFETY: the caller vouches for 16 bytes of both, for the row and for AVX2.
        unsafe {
            let row = _mm_loadu_si128(MODULO.as_ptr().add(offset).cast());
            _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), row));
        }
    }

    #[inline(always)]
    unsafe fn low_bits(word: u64, count: u32) -> u64 {
        // SAFETY: the caller vouches for BMI2, which comes with AVX2.
        unsafe { x86_64::_bzhi_u64(word, count) }
    }

    #[inline(always)]
    unsafe fn count(weights: &[[u8; 64]]) -> Ranks {
        // A loop, because `array::from_fn` compiles its closure without AVX2.
        let mut ranks = Ranks::default();
        for (weight, rank) in (0..).zip(&mut ranks) {
            for part in weights {
                // SAFETY: the caller vouches for AVX2.
                *rank += unsafe { equal(part, weight) }.count_ones() as u16;
            }
        }
        ranks
    }

    #[inline(always)]
    unsafe fn non_zero(bytes: &[u8; 64]) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        !unsafe { equal(bytes, 0) }
    }
}

/// Returns a bit for each byte, set if the byte is `value`. The first byte has the lowest bit.
///
/// # Safety
/// The CPU must support AVX2.
#[inline(always)]
unsafe fn equal(bytes: &[u8; 64], value: u8) -> u64 {
    use x86_64::*;
    // SAFETY: the caller vouches for AVX2; both halves are in `bytes`.
    unsafe {
        let half = |at: usize| {
            let half = _mm256_loadu_si256(bytes.as_ptr().add(at).cast());
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_set1_epi8(value as i8))) as u32
        };
        u64::from(half(32)) << 32 | u64::from(half(0))
    }
}

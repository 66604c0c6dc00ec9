//! Undoes linear prediction of segments of 32-bit words as long as their samples fit in 16 bits,
//! with two coefficients per multiplication. Up to eight segments lie in the 32-bit lanes of AVX2
//! registers.
//!
//! Residuals and samples are whole words, so that a sample which does not fit is noticed; only the
//! history consists of pairs of 16 bits. If the absolute values of the coefficients add up to at
//! most [`MAX_TAPS`], every sum stays within 32 bits, and results equal those of 64-bit arithmetic.

use core::arch::x86_64::*;

use super::linear_avx2::transpose_eight;
use super::linear_scalar::{BATCH, Row};
use super::linear_simd::{Taps, push};
use super::linear_wide_avx2::ROWS;

/// Maximum sum of the absolute values of the coefficients. 2^15 times that, plus the rounding term,
/// stays below 2^31.
const MAX_TAPS: u32 = 65_535;

/// Undoes up to `tiles` tiles of at most eight rows. Every row must have that many tiles. Stops
/// before a tile with a sample that does not fit in 16 bits. Returns the number of tiles undone;
/// the other tiles are unchanged.
#[target_feature(enable = "avx2")]
pub(super) fn undo<W>(rows: &mut [Row<W>], tiles: usize) -> usize {
    assert!(size_of::<W>() == 4);
    let sum =
        |row: &Row<W>| row.predictor.taps().iter().map(|tap| u32::from(tap.unsigned_abs())).sum::<u32>();
    if rows.iter().any(|row| sum(row) > MAX_TAPS) {
        return 0;
    }
    match rows.iter().map(|row| row.predictor.taps().len()).max().unwrap_or(0) {
        0..=2 => run::<W, 1>(rows, tiles),
        3..=4 => run::<W, 2>(rows, tiles),
        5..=6 => run::<W, 3>(rows, tiles),
        _ => run::<W, 4>(rows, tiles),
    }
}

/// The coefficients of eight rows, and their last samples.
struct Lanes<const PAIRS: usize> {
    first: [__m256i; PAIRS],
    second: [__m256i; PAIRS],
    latest: __m256i,
    round: __m256i,
    shift: __m256i,
    /// Pairs of samples, the later sample in the upper half, the latest pair first.
    before: [__m256i; PAIRS],
}

impl<const PAIRS: usize> Lanes<PAIRS> {
    #[target_feature(enable = "avx2")]
    fn of<W>(rows: &[Row<W>]) -> Self {
        let taps = Taps::of(rows);
        // SAFETY: 8 of 16 lanes.
        let load = |lanes: &[i32; BATCH]| unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
        Lanes {
            first: core::array::from_fn(|j| load(&taps.first[j])),
            second: core::array::from_fn(|j| load(&taps.second[j])),
            latest: load(&taps.latest),
            round: load(&taps.round),
            shift: load(&taps.shift),
            before: [_mm256_setzero_si256(); PAIRS],
        }
    }

    /// Returns the samples of two residuals.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn next(&mut self, residuals: [__m256i; 2]) -> [__m256i; 2] {
        let (mut a, mut b) = (self.round, self.round);
        // Adds the latest pair last, since it is ready last.
        for j in (0..PAIRS).rev() {
            a = _mm256_add_epi32(a, _mm256_madd_epi16(self.before[j], self.first[j]));
            b = _mm256_add_epi32(b, _mm256_madd_epi16(self.before[j], self.second[j]));
        }
        let one = _mm256_add_epi32(residuals[0], _mm256_srav_epi32(a, self.shift));
        // The upper half of `one` is multiplied by zero.
        let b = _mm256_add_epi32(b, _mm256_madd_epi16(one, self.latest));
        let two = _mm256_add_epi32(residuals[1], _mm256_srav_epi32(b, self.shift));
        push(&mut self.before, _mm256_blend_epi16::<0xaa>(one, _mm256_slli_epi32::<16>(two)));
        [one, two]
    }
}

#[target_feature(enable = "avx2")]
fn run<W, const PAIRS: usize>(rows: &mut [Row<W>], tiles: usize) -> usize {
    let mut lanes = Lanes::<PAIRS>::of(rows);
    let (bias, upper) = (_mm256_set1_epi32(1 << 15), _mm256_set1_epi32(-1 << 16));
    for t in 0..tiles {
        let mut tile = [_mm256_setzero_si256(); BATCH];
        for (row, to) in rows.iter().zip(&mut tile) {
            let words = &row.words[t * ROWS..][..ROWS];
            // SAFETY: 8 words of 32 bits.
            *to = unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
        }
        transpose_eight(&mut tile);
        let mut seen = _mm256_setzero_si256();
        for pair in tile[..ROWS].as_chunks_mut::<2>().0 {
            *pair = lanes.next(*pair);
            for &sample in &*pair {
                seen = _mm256_or_si256(seen, _mm256_add_epi32(sample, bias));
            }
        }
        if _mm256_testz_si256(seen, upper) == 0 {
            return t;
        }
        transpose_eight(&mut tile);
        for (row, &from) in rows.iter_mut().zip(&tile) {
            let words = &mut row.words[t * ROWS..][..ROWS];
            // SAFETY: 8 words of 32 bits.
            unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), from) };
        }
    }
    tiles
}

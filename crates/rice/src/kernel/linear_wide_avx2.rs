//! Undoes linear prediction of up to eight segments of 32-bit words in AVX2 registers. Segments
//! with even indices are in the 64-bit lanes of one register, segments with odd indices in those of
//! another. The two chains of dependent steps do not wait for each other.
//!
//! Only the lower halves of 64-bit lanes are multiplied, so upper halves need not be cleared. Sums
//! are shifted as unsigned numbers: a shift by at most 15 moves no sign bit into the lower half.
//!
//! Most 32-bit samples fit in 16 bits in their segment's own scale, so [`linear_narrow_avx2`] is
//! tried first.

use core::arch::x86_64::*;
use core::ops::Range;

use super::linear_avx2::transpose_eight;
use super::linear_narrow_avx2;
use super::linear_scalar::{BATCH, Row};
use super::linear_simd::push;
use crate::v2::element::Word;
use crate::v2::segment::MAX_ORDER;

/// Number of rows (segments) that are undone together, and number of samples of each row in a tile.
pub(super) const ROWS: usize = 8;

/// Undoes whole tiles of rows of 32-bit words. Returns the samples per row in these tiles.
#[target_feature(enable = "avx2")]
pub(super) fn undo<W: Word>(rows: &mut [Row<W>]) -> usize {
    assert!(W::BITS == 32);
    let tiles = rows.iter().map(|row| row.words.len()).min().unwrap_or(0) / ROWS;
    for rows in rows.chunks_mut(ROWS) {
        let tiles = linear_narrow_avx2::undo(rows, tiles)..tiles;
        match rows.iter().map(|row| row.predictor.taps().len()).max().unwrap_or(0) {
            0..=2 => run::<W, 2>(rows, tiles),
            3..=4 => run::<W, 4>(rows, tiles),
            5..=6 => run::<W, 6>(rows, tiles),
            _ => run::<W, MAX_ORDER>(rows, tiles),
        }
    }
    tiles * ROWS
}

/// The coefficients and last samples of the segments with even indices, or of the segments with odd
/// ones.
struct Chain<const ORDER: usize> {
    taps: [__m256i; ORDER],
    round: __m256i,
    shift: __m256i,
    /// The last samples, latest first.
    before: [__m256i; ORDER],
}

impl<const ORDER: usize> Chain<ORDER> {
    /// Makes the chain of every second segment from `first` on, in its state before sample `done`.
    #[target_feature(enable = "avx2")]
    fn of<W: Word>(rows: &[Row<W>], first: usize, done: usize) -> Self {
        let lanes = |value: &dyn Fn(&Row<W>) -> i64| {
            let [a, b, c, d] = [0, 2, 4, 6].map(|i| rows.get(first + i).map_or(0, value));
            _mm256_setr_epi64x(a, b, c, d)
        };
        Chain {
            taps: core::array::from_fn(|j| {
                lanes(&|row| row.predictor.taps().get(j).copied().unwrap_or(0).into())
            }),
            round: lanes(&|row| (1 << row.predictor.shift()) >> 1),
            shift: lanes(&|row| row.predictor.shift().into()),
            before: core::array::from_fn(|j| {
                lanes(&|row| row.words[..done].iter().rev().nth(j).map_or(0, |x| x.signed()))
            }),
        }
    }

    /// Returns the samples of residuals, both in the lower halves of lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn next(&mut self, residuals: __m256i) -> __m256i {
        let mut sum = self.round;
        // Adds the latest sample last, since it is ready last.
        for j in (0..ORDER).rev() {
            sum = _mm256_add_epi64(sum, _mm256_mul_epi32(self.before[j], self.taps[j]));
        }
        let samples = _mm256_add_epi64(residuals, _mm256_srlv_epi64(sum, self.shift));
        push(&mut self.before, samples);
        samples
    }
}

/// Undoes the tiles `tiles`, which all rows must have, with at most `ORDER` coefficients. The tiles
/// before them must be done.
#[target_feature(enable = "avx2")]
fn run<W: Word, const ORDER: usize>(rows: &mut [Row<W>], tiles: Range<usize>) {
    let done = tiles.start * ROWS;
    let (mut even, mut odd) = (Chain::<ORDER>::of(rows, 0, done), Chain::<ORDER>::of(rows, 1, done));
    for t in tiles {
        let mut tile = [_mm256_setzero_si256(); BATCH];
        for (row, to) in rows.iter().zip(&mut tile) {
            let words = &row.words[t * ROWS..][..ROWS];
            // SAFETY: 8 words of 32 bits.
            *to = unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
        }
        transpose_eight(&mut tile);
        for samples in &mut tile[..ROWS] {
            let a = even.next(*samples);
            let b = odd.next(_mm256_srli_epi64::<32>(*samples));
            *samples = _mm256_blend_epi32::<0xaa>(a, _mm256_slli_epi64::<32>(b));
        }
        transpose_eight(&mut tile);
        for (row, &from) in rows.iter_mut().zip(&tile) {
            let words = &mut row.words[t * ROWS..][..ROWS];
            // SAFETY: 8 words of 32 bits.
            unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), from) };
        }
    }
}

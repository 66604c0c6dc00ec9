//! Linear prediction of eight (AVX2) or sixteen (AVX-512) segments, one per 32-bit lane.
//!
//! A lane holds a pair of neighbouring samples, the later one in its upper half, so that a
//! multiplication takes two coefficients at a time. What is known of a pair's second sample
//! before its first is done does not wait for it.

use core::arch::x86_64::*;

use linerate_core::Tier;

use super::linear::{BATCH, Row};
use crate::v2::element::Word;
use crate::v2::segment::MAX_ORDER;

/// Registers of 32-bit lanes. All operations are unsafe in that the CPU must support them, and
/// [`Lanes::load`] and [`Lanes::store`] in that N lanes must be there.
#[allow(clippy::missing_safety_doc)]
trait Lanes {
    type V: Copy;
    /// Lanes.
    const N: usize;
    unsafe fn load(from: *const i32) -> Self::V;
    unsafe fn store(to: *mut i32, x: Self::V);
    unsafe fn zero() -> Self::V;
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    /// Sums of the products of both halves.
    unsafe fn madd(a: Self::V, b: Self::V) -> Self::V;
    /// Shifted right with the sign, each lane by that of `by`.
    unsafe fn sra(a: Self::V, by: Self::V) -> Self::V;
    /// The lower half, the upper one zero.
    unsafe fn low(a: Self::V) -> Self::V;
    /// The upper half as a lower one.
    unsafe fn high(a: Self::V) -> Self::V;
    /// The lower half of `high` above that of `low`, whose upper half is zero.
    unsafe fn pair(low: Self::V, high: Self::V) -> Self::V;
    /// N rows of N lanes to columns.
    unsafe fn transpose(rows: &mut [Self::V; BATCH]);
}

struct Eight;
struct Sixteen;

/// Operations that are nothing but an instruction or a few.
macro_rules! lanes {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty { $body:expr })*) => {$(
        #[inline(always)]
        unsafe fn $name($($arg: $type),*) -> $out {
            // SAFETY: the caller vouches for the CPU and for what pointers point to.
            unsafe { $body }
        }
    )*};
}

/// Undoes whole tiles of rows of 16-bit words. Returns how many samples of each row those are.
///
/// # Safety
/// The CPU must support the tier.
pub(super) unsafe fn undo<W: Word>(tier: Tier, rows: &mut [Row<W>]) -> usize {
    assert!(W::BITS == 16);
    match tier {
        // SAFETY: the caller vouches for the tier.
        Tier::Avx512 => unsafe { sixteen(rows) },
        // SAFETY: as above.
        Tier::Avx2 => unsafe { eight(rows) },
        _ => 0,
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn sixteen<W: Word>(rows: &mut [Row<W>]) -> usize {
    // SAFETY: this function has the features.
    unsafe { all::<W, Sixteen>(rows) }
}

#[target_feature(enable = "avx2")]
fn eight<W: Word>(rows: &mut [Row<W>]) -> usize {
    // SAFETY: this function has the features.
    unsafe { all::<W, Eight>(rows) }
}

/// # Safety
/// The CPU must support what `L` uses.
#[inline(always)]
unsafe fn all<W: Word, L: Lanes>(rows: &mut [Row<W>]) -> usize {
    let tiles = rows.iter().map(|row| row.words.len()).min().unwrap_or(0) / (2 * L::N);
    for rows in rows.chunks_mut(L::N) {
        let order = rows.iter().map(|row| row.predictor.taps().len()).max().unwrap_or(0);
        // SAFETY: the caller vouches for the CPU.
        unsafe {
            match order {
                0..=2 => run::<W, L, 1>(rows, tiles),
                3..=4 => run::<W, L, 2>(rows, tiles),
                5..=6 => run::<W, L, 3>(rows, tiles),
                _ => run::<W, L, { MAX_ORDER / 2 }>(rows, tiles),
            }
        }
    }
    tiles * 2 * L::N
}

/// Coefficients of all lanes, as they meet pairs of samples.
#[derive(Default)]
struct Taps {
    /// For the first sample of a pair: those of the pairs before, latest pair first.
    first: [[i32; BATCH]; MAX_ORDER / 2],
    /// For the second sample: that of the first, which is in a lower half,
    latest: [i32; BATCH],
    /// and those of the pairs before.
    second: [[i32; BATCH]; MAX_ORDER / 2],
    round: [i32; BATCH],
    shift: [i32; BATCH],
}

impl Taps {
    fn of<W>(rows: &[Row<W>]) -> Taps {
        let mut taps = Taps::default();
        for (lane, row) in rows.iter().enumerate() {
            let mut c = [0; MAX_ORDER + 1];
            c[..row.predictor.taps().len()].copy_from_slice(row.predictor.taps());
            let pair = |low: i16, high: i16| i32::from(low) & 0xffff | i32::from(high) << 16;
            for j in 0..MAX_ORDER / 2 {
                taps.first[j][lane] = pair(c[2 * j + 1], c[2 * j]);
                taps.second[j][lane] = pair(c[2 * j + 2], c[2 * j + 1]);
            }
            taps.latest[lane] = pair(c[0], 0);
            taps.shift[lane] = row.predictor.shift() as i32;
            taps.round[lane] = (1 << row.predictor.shift()) >> 1;
        }
        taps
    }
}

/// Undoes `tiles` tiles, each as many samples wide as a register holds, of at most N rows with at
/// most 2 PAIRS coefficients.
///
/// # Safety
/// Every row must have that many samples, and the CPU must support what `L` uses.
#[inline(always)]
unsafe fn run<W: Word, L: Lanes, const PAIRS: usize>(rows: &mut [Row<W>], tiles: usize) {
    let taps = Taps::of(rows);
    // SAFETY: arrays of at least N lanes; rows have `tiles` registers of samples each; and the
    // caller vouches for the CPU.
    unsafe {
        let load = |lanes: &[i32; BATCH]| L::load(lanes.as_ptr());
        let first: [L::V; PAIRS] = core::array::from_fn(|j| load(&taps.first[j]));
        let second: [L::V; PAIRS] = core::array::from_fn(|j| load(&taps.second[j]));
        let (latest, round, shift) = (load(&taps.latest), load(&taps.round), load(&taps.shift));
        let mut before = [L::zero(); PAIRS];
        for t in 0..tiles {
            let mut tile = [L::zero(); BATCH];
            for (row, to) in rows.iter().zip(&mut tile) {
                *to = L::load(row.words.as_ptr().cast::<i32>().add(t * L::N));
            }
            L::transpose(&mut tile);
            for pair in &mut tile[..L::N] {
                let (mut a, mut b) = (round, round);
                // The latest pair last: it is what everything waits for.
                for j in (0..PAIRS).rev() {
                    a = L::add(a, L::madd(before[j], first[j]));
                    b = L::add(b, L::madd(before[j], second[j]));
                }
                let one = L::low(L::add(*pair, L::sra(a, shift)));
                let b = L::add(b, L::madd(one, latest));
                *pair = L::pair(one, L::add(L::high(*pair), L::sra(b, shift)));
                before.rotate_right(1);
                before[0] = *pair;
            }
            L::transpose(&mut tile);
            for (row, &from) in rows.iter_mut().zip(&tile) {
                L::store(row.words.as_mut_ptr().cast::<i32>().add(t * L::N), from);
            }
        }
    }
}

impl Lanes for Sixteen {
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
        transpose(rows: &mut [__m512i; 16]) -> () { *rows = super::lockstep::transpose(*rows) }
    }
}

impl Lanes for Eight {
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

/// Transposes the first eight rows of eight 32-bit words.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose_eight(rows: &mut [__m256i; BATCH]) {
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

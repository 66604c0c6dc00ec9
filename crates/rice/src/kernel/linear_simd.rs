//! Undoes linear prediction of up to sixteen segments, one per 32-bit lane of any SIMD register.
//!
//! A lane holds a pair of neighbouring samples, the later one in its upper half, so that a
//! multiplication takes two coefficients at a time. The part of a pair's second sample that does not
//! depend on its first is computed without waiting for it.

use super::linear_scalar::{BATCH, Row};
use crate::v2::element::Word;
use crate::v2::segment::MAX_ORDER;

/// Registers of 32-bit lanes. All operations are unsafe because the CPU must support them, [`Lanes::load`]
/// and [`Lanes::store`] also because N lanes must be readable or writable.
#[allow(clippy::missing_safety_doc)]
pub(super) trait Lanes {
    type V: Copy;
    /// Number of lanes.
    const N: usize;
    unsafe fn load(from: *const i32) -> Self::V;
    unsafe fn store(to: *mut i32, x: Self::V);
    unsafe fn zero() -> Self::V;
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    /// Sums of the products of both halves.
    unsafe fn madd(a: Self::V, b: Self::V) -> Self::V;
    /// Arithmetic shift right, each lane by that of `by`.
    unsafe fn sra(a: Self::V, by: Self::V) -> Self::V;
    /// The lower half, the upper one zero.
    unsafe fn low(a: Self::V) -> Self::V;
    /// The upper half as a lower one.
    unsafe fn high(a: Self::V) -> Self::V;
    /// The lower half of `high` above that of `low`, whose upper half is zero.
    unsafe fn pair(low: Self::V, high: Self::V) -> Self::V;
    /// Transposes N rows of N lanes.
    unsafe fn transpose(rows: &mut [Self::V; BATCH]);
}

/// Defines operations of one or a few instructions.
macro_rules! lanes {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty { $body:expr })*) => {$(
        #[inline(always)]
        unsafe fn $name($($arg: $type),*) -> $out {
            // SAFETY: the caller vouches for the CPU and for what pointers point to.
            unsafe { $body }
        }
    )*};
}

pub(super) use lanes;

/// Undoes whole tiles of rows of 16-bit words. Returns their samples per row.
///
/// # Safety
/// The CPU must support what `L` uses.
#[inline(always)]
pub(super) unsafe fn undo_tiles<W: Word, L: Lanes>(rows: &mut [Row<W>]) -> usize {
    assert!(W::BITS == 16);
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

/// Coefficients of all lanes, arranged for pairs of samples.
#[derive(Default)]
pub(super) struct Taps {
    /// For the first sample of a pair: those of the pairs before, latest pair first.
    pub(super) first: [[i32; BATCH]; MAX_ORDER / 2],
    /// For the second sample: that of the first, in a lower half,
    pub(super) latest: [i32; BATCH],
    /// and those of the pairs before.
    pub(super) second: [[i32; BATCH]; MAX_ORDER / 2],
    pub(super) round: [i32; BATCH],
    pub(super) shift: [i32; BATCH],
}

impl Taps {
    pub(super) fn of<W>(rows: &[Row<W>]) -> Taps {
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

/// Puts the latest first. Moves one by one: `rotate_right` goes through memory, and each sample waits for the one before it.
#[inline(always)]
pub(super) fn push<V: Copy, const N: usize>(before: &mut [V; N], latest: V) {
    for j in (1..N).rev() {
        before[j] = before[j - 1];
    }
    before[0] = latest;
}

/// Undoes `tiles` tiles of at most N rows with at most 2 PAIRS coefficients. A tile has as many samples
/// of each row as a register holds.
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
                // The latest pair last: it is the one that is ready last.
                for j in (0..PAIRS).rev() {
                    a = L::add(a, L::madd(before[j], first[j]));
                    b = L::add(b, L::madd(before[j], second[j]));
                }
                let one = L::add(*pair, L::sra(a, shift));
                // The upper half of `one` meets a coefficient of zero.
                let b = L::add(b, L::madd(one, latest));
                *pair = L::pair(L::low(one), L::add(L::high(*pair), L::sra(b, shift)));
                push(&mut before, *pair);
            }
            L::transpose(&mut tile);
            for (row, &from) in rows.iter_mut().zip(&tile) {
                L::store(row.words.as_mut_ptr().cast::<i32>().add(t * L::N), from);
            }
        }
    }
}

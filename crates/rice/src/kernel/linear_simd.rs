//! Undoes linear prediction of up to sixteen segments of 16-bit words, one per 32-bit lane, for
//! registers of any width.
//!
//! A lane holds a pair of neighbouring samples, the later one in its upper half, so that one
//! multiplication applies two coefficients. The part of a pair's second sample that does not depend
//! on the first is computed without waiting for it.

use super::linear_scalar::{BATCH, Row};
use crate::v2::element::Word;
use crate::v2::segment::MAX_ORDER;

/// Registers of 32-bit lanes. All operations are unsafe because the CPU must support them,
/// [`Lanes::load`] and [`Lanes::store`] also because N lanes must be readable or writable.
#[allow(clippy::missing_safety_doc)]
pub(super) trait Lanes {
    type V: Copy;
    /// Number of lanes.
    const N: usize;
    unsafe fn load(from: *const i32) -> Self::V;
    unsafe fn store(to: *mut i32, x: Self::V);
    unsafe fn zero() -> Self::V;
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    /// Multiplies both halves of each lane and adds the two products.
    unsafe fn madd(a: Self::V, b: Self::V) -> Self::V;
    /// Shifts each lane right arithmetically, by the lane of `by`.
    unsafe fn sra(a: Self::V, by: Self::V) -> Self::V;
    /// Keeps the lower half of each lane; the upper half becomes zero.
    unsafe fn low(a: Self::V) -> Self::V;
    /// Moves the upper half of each lane to the lower half; the upper half becomes zero.
    unsafe fn high(a: Self::V) -> Self::V;
    /// Joins the lower half of `low`, whose upper half must be zero, with the lower half of `high`
    /// as the upper one.
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

/// Undoes whole tiles of rows of 16-bit words. Returns the samples per row in these tiles.
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
    /// Coefficients that predict the first sample of a pair from the pairs before it, latest pair
    /// first.
    pub(super) first: [[i32; BATCH]; MAX_ORDER / 2],
    /// Coefficient that predicts the second sample of a pair from the first one, in the lower half.
    pub(super) latest: [i32; BATCH],
    /// Coefficients that predict the second sample of a pair from the pairs before it, latest pair
    /// first.
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

/// Inserts `latest` at the front and drops the oldest. Moves values one by one, because
/// `rotate_right` goes through memory, and the next sample would wait for that.
#[inline(always)]
pub(super) fn push<V: Copy, const N: usize>(before: &mut [V; N], latest: V) {
    for j in (1..N).rev() {
        before[j] = before[j - 1];
    }
    before[0] = latest;
}

/// Undoes `tiles` tiles of at most N rows, each with at most 2 PAIRS coefficients. A tile has as
/// many samples of each row as a register holds.
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
                // Adds the latest pair last, since it is ready last.
                for j in (0..PAIRS).rev() {
                    a = L::add(a, L::madd(before[j], first[j]));
                    b = L::add(b, L::madd(before[j], second[j]));
                }
                let one = L::add(*pair, L::sra(a, shift));
                // The upper half of `one` is multiplied by zero.
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

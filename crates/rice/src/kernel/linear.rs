//! Undoing linear prediction. Each sample waits for the one before it, so segments go side by
//! side: one per 32-bit lane.

use linerate_core::Tier;

use super::isa::{Isa, Kernel, dispatch};
use crate::v2::element::Word;
use crate::v2::segment::{MAX_ORDER, Predictor};

/// Segments that are worth collecting before [`undo`] is called.
pub(crate) const BATCH: usize = 16;

/// A segment: residuals on the way in, and samples in the segment's own scale on the way out.
pub(crate) struct Row<'a, W> {
    pub(crate) words: &'a mut [W],
    pub(crate) predictor: Predictor,
}

/// Turns residuals into samples.
pub(crate) fn undo<W: Word>(tier: Tier, rows: &mut [Row<W>]) {
    for rows in rows.chunks_mut(BATCH) {
        let done = side_by_side(tier, rows);
        for row in rows {
            dispatch(tier, Alone { row, done });
        }
    }
}

/// Does as many samples of all rows as come in whole tiles.
fn side_by_side<W: Word>(tier: Tier, rows: &mut [Row<W>]) -> usize {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if W::BITS == 16 && rows.len() > 1 {
        // SAFETY: `Exec` holds only tiers that were detected.
        return unsafe { super::linear_x86::undo(tier, rows) };
    }
    let _ = (tier, rows);
    0
}

struct Alone<'a, 'b, W> {
    row: &'a mut Row<'b, W>,
    done: usize,
}

impl<W: Word> Kernel for Alone<'_, '_, W> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        match self.row.predictor.taps().len() {
            0..=2 => alone::<W, 2>(self.row, self.done),
            3..=4 => alone::<W, 4>(self.row, self.done),
            _ => alone::<W, MAX_ORDER>(self.row, self.done),
        }
    }
}

/// One row from sample `done` on. At most `ORDER` coefficients.
#[inline(always)]
fn alone<W: Word, const ORDER: usize>(row: &mut Row<W>, done: usize) {
    let Row { words, predictor } = row;
    let mut taps = [0; ORDER];
    taps[..predictor.taps().len()].copy_from_slice(predictor.taps());
    let mut history = [W::default(); ORDER];
    for (to, &word) in history.iter_mut().zip(words[..done].iter().rev()) {
        *to = word;
    }
    for word in &mut words[done..] {
        *word = word.plus(W::predict(&taps, predictor.shift(), history.iter().copied()));
        history.rotate_right(1);
        history[0] = *word;
    }
}

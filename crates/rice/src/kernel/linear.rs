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
        for rows in rows.chunks_mut(2) {
            dispatch(tier, Rest { rows, done });
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

/// One or two rows from sample `done` on.
struct Rest<'a, 'b, W> {
    rows: &'a mut [Row<'b, W>],
    done: usize,
}

impl<W: Word> Kernel for Rest<'_, '_, W> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        let order = self.rows.iter().map(|row| row.predictor.taps().len()).max();
        match order {
            None | Some(0..=2) => rest::<W, 2>(self.rows, self.done),
            Some(3..=4) => rest::<W, 4>(self.rows, self.done),
            _ => rest::<W, MAX_ORDER>(self.rows, self.done),
        }
    }
}

/// Two rows while both last, which take hardly longer than one since each waits for itself alone;
/// then what is left of either. At most `ORDER` coefficients each.
#[inline(always)]
fn rest<W: Word, const ORDER: usize>(rows: &mut [Row<W>], mut done: usize) {
    if let [a, b] = rows {
        let both = a.words.len().min(b.words.len());
        let (mut one, mut two) = (State::<W, ORDER>::of(a, done), State::<W, ORDER>::of(b, done));
        let (a, _) = a.words[done..both].as_chunks_mut::<ORDER>();
        let (b, _) = b.words[done..both].as_chunks_mut::<ORDER>();
        for (a, b) in a.iter_mut().zip(b) {
            for i in 0..ORDER {
                a[i] = one.next(a[i], i);
                b[i] = two.next(b[i], i);
            }
            done += ORDER;
        }
    }
    for row in rows {
        let mut state = State::<W, ORDER>::of(row, done);
        for words in row.words[done..].chunks_mut(ORDER) {
            for (i, word) in words.iter_mut().enumerate() {
                *word = state.next(*word, i);
            }
        }
    }
}

/// What a row remembers: the last `ORDER` samples, in a ring.
struct State<W: Word, const ORDER: usize> {
    taps: [i16; ORDER],
    shift: u32,
    ring: [W::Sum; ORDER],
}

impl<W: Word, const ORDER: usize> State<W, ORDER> {
    /// Before sample `done`, which goes to the start of the ring.
    #[inline(always)]
    fn of(row: &Row<W>, done: usize) -> Self {
        let mut taps = [0; ORDER];
        taps[..row.predictor.taps().len()].copy_from_slice(row.predictor.taps());
        let mut ring = [W::Sum::default(); ORDER];
        for (to, word) in ring.iter_mut().rev().zip(row.words[..done].iter().rev()) {
            *to = word.wide();
        }
        State { taps, shift: row.predictor.shift(), ring }
    }

    /// The sample whose residual this is. It goes to place `at` of the ring, where the oldest is.
    #[inline(always)]
    fn next(&mut self, residual: W, at: usize) -> W {
        let mut sum = W::half(self.shift);
        // The latest sample last: it is what everything waits for.
        for i in (0..ORDER).rev() {
            sum = W::add_product(sum, self.taps[i], self.ring[(at + ORDER - 1 - i) % ORDER]);
        }
        let word = residual.plus(W::shifted(sum, self.shift));
        self.ring[at] = word.wide();
        word
    }
}

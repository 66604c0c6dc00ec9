//! Undoes linear prediction on any CPU, two segments interleaved.

use super::isa::{Isa, Kernel};
use crate::v2::element::Word;
use crate::v2::segment::{MAX_ORDER, Predictor};

/// Maximum number of segments that [`linear::undo`](super::linear::undo) decodes at once, and
/// number that decoders collect for it if they have as many.
pub(crate) const BATCH: usize = 16;

/// A segment, whose residuals are replaced by samples in the segment's own scale.
pub(crate) struct Row<'a, W> {
    pub(crate) words: &'a mut [W],
    pub(crate) predictor: Predictor,
}

/// Undoes the prediction of one or two rows, from sample `done` on.
pub(super) struct Rest<'a, 'b, W> {
    pub(super) rows: &'a mut [Row<'b, W>],
    pub(super) done: usize,
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

/// Undoes two rows interleaved as far as both go, then the rest of the longer one. Two take hardly
/// longer than one, because each sample waits only for samples of its own row. Rows have at most
/// `ORDER` coefficients.
#[inline(always)]
fn rest<W: Word, const ORDER: usize>(rows: &mut [Row<W>], mut done: usize) {
    if let [a, b] = rows {
        let both = a.words.len().min(b.words.len());
        let (mut one, mut two) = (History::<W, ORDER>::of(a, done), History::<W, ORDER>::of(b, done));
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
        let mut state = History::<W, ORDER>::of(row, done);
        for words in row.words[done..].chunks_mut(ORDER) {
            for (i, word) in words.iter_mut().enumerate() {
                *word = state.next(*word, i);
            }
        }
    }
}

/// The last `ORDER` samples of a row, in a ring buffer.
struct History<W: Word, const ORDER: usize> {
    taps: [i16; ORDER],
    shift: u32,
    ring: [W::Sum; ORDER],
}

impl<W: Word, const ORDER: usize> History<W, ORDER> {
    /// Returns the state before sample `done`, which will go to the start of the ring.
    #[inline(always)]
    fn of(row: &Row<W>, done: usize) -> Self {
        let mut taps = [0; ORDER];
        taps[..row.predictor.taps().len()].copy_from_slice(row.predictor.taps());
        let mut ring = [W::Sum::default(); ORDER];
        for (to, word) in ring.iter_mut().rev().zip(row.words[..done].iter().rev()) {
            *to = word.wide();
        }
        History { taps, shift: row.predictor.shift(), ring }
    }

    /// Returns the sample of `residual`, and stores it at index `at` of the ring, where the oldest
    /// sample is.
    #[inline(always)]
    fn next(&mut self, residual: W, at: usize) -> W {
        let mut sum = W::half(self.shift);
        // Adds the product with the latest sample last, since that sample is ready last.
        for i in (0..ORDER).rev() {
            sum = W::add_product(sum, self.taps[i], self.ring[(at + ORDER - 1 - i) % ORDER]);
        }
        let word = residual.plus(W::shifted(sum, self.shift));
        self.ring[at] = word.wide();
        word
    }
}

//! Plans the encoding of a segment: scale, predictor, and Rice parameters of the blocks.

use alloc::vec::Vec;

use linerate_core::Tier;

use super::blocks;
use super::element::Word;
use super::lpc;
use super::references::References;
use super::segment::{Head, MAX_ORDER, Predictor, head_bytes};
use super::step;
use crate::kernel::covariance::{self, Covariances};
use crate::kernel::isa::Isa;
use crate::kernel::quotients::Sums;

/// Working memory for segments up to one length.
pub(crate) struct Scratch<W> {
    scaled: Vec<W>,
    covariances: Covariances,
    /// Zigzag residuals of the last planned segment.
    pub(super) z: Vec<W>,
    /// The modes of that segment's blocks.
    pub(super) modes: Vec<u8>,
}

impl<W: Word> Scratch<W> {
    pub(super) fn new(segment: usize) -> Scratch<W> {
        let words = || alloc::vec![W::default(); segment];
        Scratch { scaled: words(), covariances: Covariances::default(), z: words(), modes: Vec::new() }
    }
}

/// The plan for a segment.
pub(crate) enum Plan<W> {
    Raw,
    Coded {
        head: Head<W>,
        /// Bytes of fixed bits.
        fixed: usize,
        /// Bytes of the whole segment before padding to a whole word.
        bytes: usize,
    },
}

impl<W: Word> Plan<W> {
    /// Bytes of the encoded segment of `n` samples, a multiple of 4.
    pub(super) fn bytes(&self, n: usize) -> usize {
        match self {
            Plan::Raw => (super::segment::RAW_HEAD + n * W::BYTES).next_multiple_of(4),
            Plan::Coded { bytes, .. } => bytes.next_multiple_of(4),
        }
    }
}

/// One block in this many is used to choose the predictor. Using all blocks would save 0.1 % and
/// take twice the time.
const STRIDE: usize = 4;

/// Plans a segment; called through [`crate::kernel::planning`], which compiles it per tier.
#[inline(always)]
pub(crate) fn plan_here<W: Word, I: Isa>(
    sums: &Sums<I>,
    tier: Tier,
    words: &[W],
    signed: bool,
    references: Option<References>,
    scratch: &mut Scratch<W>,
) -> Plan<W> {
    let n = words.len();
    let Scratch { scaled, covariances, z, modes } = scratch;
    let (scaled, z) = (&mut scaled[..n], &mut z[..n]);
    let step = step::step(words, signed);
    let middle = step::middle(words, signed);
    step::scale(words, signed, middle, step, scaled);
    let predictor = match n >= covariance::MIN_SAMPLES {
        true => {
            covariances.fill(tier, scaled, STRIDE);
            lpc::best(tier, covariances, n)
        }
        false => shortest_fixed(scaled, z),
    };
    residuals(&predictor, scaled, z);
    let centre = if predictor.fixed_order().is_some_and(|o| o > 0) { words[0] } else { middle };
    let references = references.unwrap_or(References::NONE);
    let (allowed, cost) = blocks::choose(sums, z, modes);
    let head = Head { predictor, centre, step, modes: allowed, escapes: cost.escapes, references };

    let bytes = head_bytes(&head)
        + allowed.bytes(modes.len())
        + cost.fixed
        + cost.escapes * W::BYTES
        + cost.unary.div_ceil(8) as usize;
    match bytes < super::segment::RAW_HEAD + n * W::BYTES {
        true => Plan::Coded { head, fixed: cost.fixed, bytes },
        false => Plan::Raw,
    }
}

/// Returns the fixed predictor whose residuals take the fewest bits, by an estimate.
fn shortest_fixed<W: Word>(scaled: &[W], z: &mut [W]) -> Predictor {
    let [mut best, ..] = Predictor::FIXED;
    let mut least = u64::MAX;
    for predictor in Predictor::FIXED {
        residuals(&predictor, scaled, z);
        let bits = blocks::estimate(z);
        if bits < least {
            (least, best) = (bits, predictor);
        }
    }
    best
}

/// Writes the residuals of `scaled` samples under `predictor`, zigzag encoded. Samples before the
/// segment are zeros; the first two residuals of the fixed predictors of order 1 and 2 are those of
/// samples centred on the first one.
#[inline(always)]
fn residuals<W: Word>(predictor: &Predictor, scaled: &[W], z: &mut [W]) {
    let n = scaled.len();
    match predictor.fixed_order() {
        Some(0) => scaled.iter().zip(z).for_each(|(x, z)| *z = x.zigzag()),
        Some(1) => {
            z[0] = W::default();
            let pairs = scaled.windows(2).zip(&mut z[1..]);
            pairs.for_each(|(x, z)| *z = x[1].minus(x[0]).zigzag());
        }
        Some(_) => {
            z[0] = W::default();
            if n > 1 {
                z[1] = scaled[1].minus(scaled[0]).zigzag();
            }
            let threes = scaled.windows(3).zip(z.iter_mut().skip(2));
            threes.for_each(|(x, z)| *z = x[2].minus(x[1]).minus(x[1].minus(x[0])).zigzag());
        }
        None => match predictor.taps() {
            [a, b] => linear(&[*a, *b], predictor.shift(), scaled, z),
            [a, b, c, d] => linear(&[*a, *b, *c, *d], predictor.shift(), scaled, z),
            [a, b, c, d, e, f] => linear(&[*a, *b, *c, *d, *e, *f], predictor.shift(), scaled, z),
            taps => {
                let mut all = [0; MAX_ORDER];
                all[..taps.len()].copy_from_slice(taps);
                linear(&all, predictor.shift(), scaled, z);
            }
        },
    }
}

/// Writes the residuals of a linear prediction of a constant order.
#[inline(always)]
fn linear<W: Word, const ORDER: usize>(taps: &[i16; ORDER], shift: u32, scaled: &[W], z: &mut [W]) {
    let (early, late) = z.split_at_mut(ORDER.min(scaled.len()));
    for (i, z) in early.iter_mut().enumerate() {
        let history = scaled[..i].iter().rev().copied();
        *z = scaled[i].minus(W::predict(taps, shift, history)).zigzag();
    }
    for (i, z) in late.iter_mut().enumerate() {
        let history = (0..ORDER).map(|j| scaled[i + ORDER - 1 - j]);
        *z = scaled[i + ORDER].minus(W::predict(taps, shift, history)).zigzag();
    }
}

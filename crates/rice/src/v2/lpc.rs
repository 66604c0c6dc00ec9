//! Fits a linear prediction so that a segment takes few bits.
//!
//! Each block of 32 residuals is coded with a Rice parameter of its own, so a block of n samples
//! takes about n/2 log2 of the energy of its residuals: a loud block counts no more than a quiet
//! one. Plain least squares would weight each block by its energy. Here each block is weighted by
//! the inverse of the energy that its residuals had in the last fit, and the fit is repeated. This
//! is iteratively reweighted least squares, which find the most likely prediction for noise whose
//! power changes from block to block. The sums are over
//! [covariances of blocks](crate::kernel::covariance), so that repeating costs little.
//!
//! The IEEE operations have a fixed order and need no library functions, so every machine finds the
//! same coefficients.

use linerate_core::Tier;

use super::segment::{MAX_ORDER, Predictor};
use crate::kernel::covariance::{Covariances, Form, Pairs};

/// Maximum number of bits of a coefficient, with its sign.
pub(super) const PRECISION: i32 = 14;

/// Number of fits of the coefficients. The first one is weighted by the inverse energies of the
/// residuals of the best fixed predictor.
const FITS: usize = 3;

/// Ratio of a pivot to its diagonal element up to which the pivot counts as zero: this delay then
/// adds nothing to the delays before.
const SINGULAR: f64 = 1e-10;

/// Part of the energy that two more coefficients must save, beyond their size, to be worth their
/// time.
const MIN_GAIN: f64 = 0.005;

/// A linear prediction is chosen only if the best fixed predictor takes more bits by one part in
/// this many, since segments decode about 1.6 times as fast with a fixed one. With 1/128 no
/// measured recording is smaller by more than 0.3 %; with 1/40 some are larger than FLAC makes
/// them.
const MIN_SAVINGS: f64 = 64.0;

/// Returns the best predictor for a segment of `n` samples, blocks of which have these covariances.
pub(super) fn best(tier: Tier, covariances: &Covariances, n: usize) -> Predictor {
    let rate = |predictor: Predictor| (covariances.bits(tier, &form(&predictor)), predictor);
    let [first, rest @ ..] = Predictor::FIXED.map(rate);
    let (bits, fixed) = rest.into_iter().fold(first, |best, next| if next.0 < best.0 { next } else { best });
    let mut fit = Fit::new(&covariances.weighted(tier, &form(&fixed)));
    for _ in 1..FITS {
        fit = Fit::new(&covariances.weighted(tier, &Form::new(&fit.taps(MAX_ORDER))));
    }
    let order = fit.order(n);
    let Some(linear) = round(&fit.taps(order)[..order], PRECISION, true) else { return fixed };
    let head = linear.bytes() as f64 * 8.0 / n as f64;
    let pays = rate(linear).0 * (1.0 + 1.0 / MIN_SAVINGS) + head < bits;
    if pays { linear } else { fixed }
}

/// Returns the form that gives the energy of the residuals of `predictor`.
fn form(predictor: &Predictor) -> Form {
    let unit = 1.0 / f64::from(1u32 << predictor.shift());
    let mut taps = [0.0; MAX_ORDER];
    taps.iter_mut().zip(predictor.taps()).for_each(|(to, &tap)| *to = f64::from(tap) * unit);
    Form::new(&taps)
}

/// Least squares of all orders at once, by the factors L D L' of the covariances of delayed
/// samples.
struct Fit {
    lower: [[f64; MAX_ORDER]; MAX_ORDER],
    /// The solution of L z = covariances with the samples themselves, each divided by its pivot.
    solved: [f64; MAX_ORDER],
    /// The energy of the residuals with each number of coefficients.
    error: [f64; MAX_ORDER + 1],
}

impl Fit {
    fn new(pairs: &Pairs) -> Fit {
        let mut fit = Fit {
            lower: [[0.0; MAX_ORDER]; MAX_ORDER],
            solved: [0.0; MAX_ORDER],
            error: [pairs.of(0, 0); MAX_ORDER + 1],
        };
        let mut pivots = [0.0; MAX_ORDER];
        for k in 0..MAX_ORDER {
            let done = |row: &[f64; MAX_ORDER], with: &[f64; MAX_ORDER]| -> f64 {
                (0..k).map(|j| row[j] * with[j] * pivots[j]).sum()
            };
            let own = fit.lower[k];
            let column = pairs.of(k + 1, k + 1);
            let pivot = column - done(&own, &own);
            if pivot.is_nan() || pivot <= column * SINGULAR {
                // The coefficient is zero, and so are the factors below the pivot.
                fit.error[k + 1] = fit.error[k];
                continue;
            }
            for i in k + 1..MAX_ORDER {
                fit.lower[i][k] = (pairs.of(i + 1, k + 1) - done(&fit.lower[i], &own)) / pivot;
            }
            let rest: f64 =
                pairs.of(0, k + 1) - (0..k).map(|j| own[j] * fit.solved[j] * pivots[j]).sum::<f64>();
            fit.solved[k] = rest / pivot;
            pivots[k] = pivot;
            fit.error[k + 1] = fit.error[k] - rest * fit.solved[k];
        }
        fit
    }

    /// Returns the coefficients of this order, the coefficient of the latest sample first.
    fn taps(&self, order: usize) -> [f64; MAX_ORDER] {
        let mut taps = [0.0; MAX_ORDER];
        for k in (0..order).rev() {
            taps[k] = self.solved[k] - (k + 1..order).map(|i| self.lower[i][k] * taps[i]).sum::<f64>();
        }
        taps
    }

    /// Returns the order that pays in a segment of `n` samples, from 2 to [`MAX_ORDER`]. It is
    /// even, because decoders work on pairs of samples.
    fn order(&self, n: usize) -> usize {
        // A fall of the error to 1/x saves n/2 log2(x) bits.
        let pays = 1.0 - 48.0 / n as f64 - MIN_GAIN;
        let even = (4..=MAX_ORDER).step_by(2);
        even.fold(2, |best, order| if self.error[order] < self.error[best] * pays { order } else { best })
    }
}

/// Rounds coefficients to integers of `precision` bits over a power of two. With `carry`, the
/// rounding error of each coefficient is added to the next. This keeps their sum, and so the
/// prediction of low frequencies, where sound has most of its energy. `None` if they do not fit.
pub(super) fn round(taps: &[f64], precision: i32, carry: bool) -> Option<Predictor> {
    let largest = taps.iter().fold(0.0f64, |most, tap| most.max(tap.abs()));
    // The largest shift that keeps the largest coefficient within the precision.
    let shift =
        (0..=14).rev().find(|&shift| largest * f64::from(1u32 << shift) < f64::from(1 << (precision - 1)))?;
    let mut rounded = [0i16; MAX_ORDER];
    let mut rest = 0.0;
    for (to, tap) in rounded.iter_mut().zip(taps) {
        let scaled = tap * f64::from(1u32 << shift) + rest;
        *to = (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i16;
        if carry {
            rest = scaled - f64::from(*to);
        }
    }
    Some(Predictor::linear(&rounded[..taps.len()], shift))
}

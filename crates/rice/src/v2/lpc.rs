//! Fits a linear prediction to a segment: windowed autocorrelation, the Levinson-Durbin recursion
//! (Levinson 1947, Durbin 1960), then rounding of the coefficients.
//!
//! Integers and a fixed order of IEEE operations without library functions, so every machine finds the same
//! coefficients.

use alloc::vec::Vec;

use linerate_core::Tier;

use super::element::Word;
use super::segment::{MAX_ORDER, Predictor};
use crate::kernel::autocorrelation::{LAGS, autocorrelation};
use crate::kernel::autocorrelation_wide;

/// How a prediction is chosen and rounded.
struct Accuracy {
    /// Bits that the largest coefficient is rounded to, with its sign.
    precision: i32,
    /// Whether the rounding error of a coefficient is added to the next one. Coefficients then keep their sum, and low
    /// frequencies, which have most of the energy of sound, their prediction: it saves 2.5 % there.
    carry: bool,
    /// Part of the energy of residuals that two more coefficients must save beyond their own size, for the time they take.
    min_gain: f64,
    /// White noise added to the autocorrelation, as part of the energy.
    noise: f64,
}

/// For signals whose residuals are not far below their loudest parts: converters of detectors, for instance. Finer ones
/// save less than 0.1 % there.
const COARSE: Accuracy = Accuracy { precision: 12, carry: false, min_gain: 0.02, noise: 1e-9 };

/// For sound, whose spectrum is quiet at its upper end, and for channels.
const FINE: Accuracy = Accuracy { precision: PRECISION_OF_WEIGHTS, carry: true, min_gain: 0.005, noise: 0.0 };

/// Bits of the weights of references.
pub(super) const PRECISION_OF_WEIGHTS: i32 = 14;

/// Largest sum of the squares of coefficients of a coarse fit, which is the factor by which the prediction amplifies white
/// noise, such as the rounding of the windowed samples. Above it the fit is repeated with fine ones: coarse ones cost 10 %
/// on sound at 44 kHz. Signals of detectors hardly ever reach it.
const MAX_NOISE_GAIN: f64 = 8.0;

/// Minimum samples of a segment: fewer do not pay for coefficients.
const MIN_SAMPLES: usize = 64;

/// Working memory: samples under a window.
#[derive(Default)]
pub(super) struct Windowed {
    coarse: Vec<i16>,
    fine: Vec<i32>,
}

/// Fits a prediction to `scaled` samples, with `fine` accuracy or with as much as they need. `None` if no prediction pays.
#[inline(always)]
pub(super) fn fit<W: Word>(
    tier: Tier,
    scaled: &[W],
    windowed: &mut Windowed,
    fine: bool,
) -> Option<Predictor> {
    if scaled.len() < MIN_SAMPLES {
        return None;
    }
    if !fine {
        window(scaled, &mut windowed.coarse);
        let fit = durbin(&autocorrelation(tier, &windowed.coarse), scaled.len(), &COARSE)?;
        if fit.noise_gain() <= MAX_NOISE_GAIN {
            return round(fit.taps(), COARSE.precision, COARSE.carry);
        }
    }
    window_finely(scaled, &mut windowed.fine);
    let fit = durbin(&autocorrelation_wide::autocorrelation(tier, &windowed.fine), scaled.len(), &FINE)?;
    round(fit.taps(), FINE.precision, FINE.carry)
}

/// Samples in 14 bits under a parabola that is 1 in the middle and 0 just outside the segment
/// (Welch's window): the jumps at both ends are no part of the signal.
#[inline(always)]
fn window<W: Word>(scaled: &[W], out: &mut Vec<i16>) {
    let excess = significant_bits(scaled).saturating_sub(13);
    let weight = welch(scaled.len());
    out.clear();
    out.extend(
        (0..).zip(scaled).map(|(i, x)| (((x.signed() >> excess) as i32 * weight(i) as i32) >> 15) as i16),
    );
}

/// The same in 24 bits.
#[inline(always)]
fn window_finely<W: Word>(scaled: &[W], out: &mut Vec<i32>) {
    let bits = significant_bits(scaled);
    let excess = bits.saturating_sub(23);
    let shift = (bits - excess + 15).saturating_sub(23);
    let weight = welch(scaled.len());
    let weighted = |(i, x): (i32, &W)| (x.signed() >> excess) * i64::from(weight(i));
    out.clear();
    // Shifted without regard to the sign, which SIMD registers can: the lower 32 bits are those of an arithmetic shift.
    out.extend((0..).zip(scaled).map(weighted).map(|x| (x as u64 >> shift) as i32));
}

/// Bits of the largest absolute value.
#[inline(always)]
fn significant_bits<W: Word>(scaled: &[W]) -> u32 {
    let largest = scaled.iter().map(|x| x.signed().unsigned_abs()).max().unwrap_or(0);
    u64::BITS - largest.leading_zeros()
}

/// Welch's window for `n` samples: the weight of sample i in 2^-15.
#[inline(always)]
fn welch(n: usize) -> impl Fn(i32) -> u32 {
    let last = n as i32 - 1;
    // A step of 2 from the middle, in 2^-30 of the half width.
    let unit = (1 << 30) / (n as u32 / 2 + 1);
    move |i| {
        let from_middle = ((2 * i - last).unsigned_abs() * unit) >> 16;
        ((1 << 30) - from_middle * from_middle) >> 15
    }
}

/// A prediction before its coefficients are rounded.
#[derive(Clone, Copy)]
struct Fit {
    taps: [f64; MAX_ORDER],
    order: usize,
    /// Energy of the residuals.
    error: f64,
}

impl Fit {
    fn taps(&self) -> &[f64] {
        &self.taps[..self.order]
    }

    /// The energy that the prediction of white noise of energy 1 has.
    fn noise_gain(&self) -> f64 {
        self.taps().iter().map(|tap| tap * tap).sum()
    }
}

/// The prediction of the best order, or `None` if none pays. `n` is the number of samples.
fn durbin(r: &[i64; LAGS], n: usize, accuracy: &Accuracy) -> Option<Fit> {
    let r = r.map(|sum| sum as f64);
    if r[0] == 0.0 {
        return None;
    }
    // A little noise keeps the recursion stable where a segment is nearly periodic.
    let mut error = r[0] * (1.0 + accuracy.noise) + 1.0;
    let mut taps = [0.0; MAX_ORDER];
    let mut found: Option<Fit> = None;
    // Each order must pay for its coefficients (a fall of the error to 1/x saves n/2 log2(x) bits) and for the time it
    // takes.
    let pays = 1.0 - 48.0 / n as f64 - accuracy.min_gain;
    for i in 0..MAX_ORDER {
        let reflected: f64 = (0..i).map(|j| taps[j] * r[i - j]).sum();
        let reflection = (r[i + 1] - reflected) / error;
        let before = taps;
        taps[i] = reflection;
        (0..i).for_each(|j| taps[j] = before[j] - reflection * before[i - 1 - j]);
        error *= 1.0 - reflection * reflection;
        if !(error > 0.0 && error.is_finite()) {
            break;
        }
        // Even orders: decoders work on pairs of samples.
        if i % 2 == 1 && found.is_none_or(|found| error < found.error * pays) {
            found = Some(Fit { taps, order: i + 1, error });
        }
    }
    found
}

/// Coefficients to integers of `precision` bits over a power of two; with `carry` what is rounded off one is added to
/// the next. `None` if they do not fit.
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

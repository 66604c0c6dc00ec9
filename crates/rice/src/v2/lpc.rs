//! Fits a linear prediction to a segment: windowed autocorrelation, the Levinson-Durbin recursion
//! (Levinson 1947, Durbin 1960), then rounding of the coefficients.
//!
//! Integers and a fixed order of IEEE operations without library functions, so every machine finds the same
//! coefficients.

use alloc::vec::Vec;

use linerate_core::Tier;

use super::element::Word;
use super::segment::{MAX_ORDER, Predictor};
use crate::kernel::autocorrelation::autocorrelation;
use crate::kernel::autocorrelation_float::{self, PADDING};

/// Bits that the largest coefficient is rounded to, with its sign.
const PRECISION: i32 = 12;

/// The same for parts of channels, and for weights of references. 12 bits cost 2 % more on sound at 44 kHz.
pub(super) const PRECISION_OF_CHANNELS: i32 = 14;

/// Part of the energy of residuals that two more coefficients must save beyond their own size, for the time they take.
const MIN_GAIN: f64 = 0.02;

/// The same for parts of channels.
const MIN_GAIN_OF_CHANNELS: f64 = 0.005;

/// Minimum samples of a segment: fewer do not pay for coefficients.
const MIN_SAMPLES: usize = 64;

/// Working memory: samples under a window.
#[derive(Default)]
pub(super) struct Windowed {
    rounded: Vec<i16>,
    exact: Vec<f64>,
}

/// Fits a prediction to `scaled` samples. `None` if no prediction pays. Streams without channels keep the choices that
/// other encoders of theirs make, to the bit; channels are fitted more finely.
#[inline(always)]
pub(super) fn fit<W: Word>(
    tier: Tier,
    scaled: &[W],
    windowed: &mut Windowed,
    channels: bool,
) -> Option<Predictor> {
    if scaled.len() < MIN_SAMPLES {
        return None;
    }
    let (correlation, min_gain, precision) = if channels {
        window_exactly(scaled, &mut windowed.exact);
        let sums = autocorrelation_float::autocorrelation(tier, &windowed.exact);
        (sums, MIN_GAIN_OF_CHANNELS, PRECISION_OF_CHANNELS)
    } else {
        window(scaled, &mut windowed.rounded);
        let sums = autocorrelation(tier, &windowed.rounded);
        (sums.map(|sum| sum as f64), MIN_GAIN, PRECISION)
    };
    if correlation[0] == 0.0 {
        return None;
    }
    round(&durbin(&correlation, scaled.len(), min_gain)?, precision)
}

/// Samples under the same window, unrounded: rounding to 14 bits hides the quiet end of the spectrum of sound, and costs
/// 3 %.
#[inline(always)]
fn window_exactly<W: Word>(scaled: &[W], out: &mut Vec<f64>) {
    let last = (scaled.len() - 1) as f64;
    let half = 2.0 / (scaled.len() + 1) as f64;
    let weight = |i: i32| {
        let from_middle = (f64::from(i) - last / 2.0) * half;
        1.0 - from_middle * from_middle
    };
    out.clear();
    out.extend((0..).zip(scaled).map(|(i, x)| f64::from(x.signed() as i32) * weight(i)));
    out.resize(scaled.len() + PADDING, 0.0);
}

/// Samples in 14 bits under a parabola that is 1 in the middle and 0 just outside the segment
/// (Welch's window): the jumps at both ends are no part of the signal.
#[inline(always)]
fn window<W: Word>(scaled: &[W], out: &mut Vec<i16>) {
    let largest = scaled.iter().map(|x| x.signed().unsigned_abs()).max().unwrap_or(0);
    let excess = (u64::BITS - largest.leading_zeros()).saturating_sub(13);
    let last = scaled.len() as i32 - 1;
    // A step of 2 from the middle, in 2^-30 of the half width.
    let unit = (1 << 30) / (scaled.len() as u32 / 2 + 1);
    let weight = |i: i32| {
        let from_middle = ((2 * i - last).unsigned_abs() * unit) >> 16;
        ((1 << 30) - from_middle * from_middle) >> 15
    };
    out.clear();
    out.extend(
        (0..).zip(scaled).map(|(i, x)| (((x.signed() >> excess) as i32 * weight(i) as i32) >> 15) as i16),
    );
}

/// Coefficients of the best order, or `None` if none pays. `n` is the number of samples.
fn durbin(r: &[f64; MAX_ORDER + 1], n: usize, min_gain: f64) -> Option<Vec<f64>> {
    // A little noise keeps the recursion stable where a segment is nearly periodic.
    let mut error = r[0] * (1.0 + 1e-9) + 1.0;
    let mut taps = [0.0; MAX_ORDER];
    let mut found = None;
    let mut accepted = f64::INFINITY;
    for order in 0..MAX_ORDER {
        let reflected: f64 = (0..order).map(|j| taps[j] * r[order - j]).sum();
        let reflection = (r[order + 1] - reflected) / error;
        let before = taps;
        taps[order] = reflection;
        (0..order).for_each(|j| taps[j] = before[j] - reflection * before[order - 1 - j]);
        error *= 1.0 - reflection * reflection;
        if !(error > 0.0 && error.is_finite()) {
            break;
        }
        // Even orders: decoders work on pairs of samples. Each must pay for its coefficients (a
        // fall of the error to 1/x saves n/2 log2(x) bits) and for the time it takes.
        let pays = 1.0 - 48.0 / n as f64 - min_gain;
        if order % 2 == 1 && error < accepted * pays {
            accepted = error;
            found = Some(order + 1);
        }
    }
    found.map(|order| refit(r, order))
}

/// The coefficients of one order.
fn refit(r: &[f64; MAX_ORDER + 1], order: usize) -> Vec<f64> {
    let mut error = r[0] * (1.0 + 1e-9) + 1.0;
    let mut taps = alloc::vec![0.0; order];
    for i in 0..order {
        let reflected: f64 = (0..i).map(|j| taps[j] * r[i - j]).sum();
        let reflection = (r[i + 1] - reflected) / error;
        let before = taps.clone();
        taps[i] = reflection;
        (0..i).for_each(|j| taps[j] = before[j] - reflection * before[i - 1 - j]);
        error *= 1.0 - reflection * reflection;
    }
    taps
}

/// Coefficients to integers of `precision` bits over a power of two. `None` if they do not fit.
pub(super) fn round(taps: &[f64], precision: i32) -> Option<Predictor> {
    let largest = taps.iter().fold(0.0f64, |most, tap| most.max(tap.abs()));
    // The largest shift that keeps the largest coefficient within the precision.
    let shift =
        (0..=14).rev().find(|&shift| largest * f64::from(1u32 << shift) < f64::from(1 << (precision - 1)))?;
    let mut rounded = [0i16; MAX_ORDER];
    for (to, tap) in rounded.iter_mut().zip(taps) {
        let scaled = tap * f64::from(1u32 << shift);
        *to = (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i16;
    }
    Some(Predictor::linear(&rounded[..taps.len()], shift))
}

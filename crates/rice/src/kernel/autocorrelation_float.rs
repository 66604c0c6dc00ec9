//! Autocorrelation of unrounded samples.

use linerate_core::Tier;

use super::autocorrelation::LAGS;
use super::dispatch::dispatch;
use super::isa::{Isa, Kernel};

/// Sums that are kept apart, so that loops over them become SIMD registers with the same rounding on every CPU.
const LANES: usize = 8;

/// Zeros that must follow the samples.
pub(crate) const PADDING: usize = LANES + LAGS;

/// For each lag the sum of products of samples that far apart. The last [`PADDING`] elements of `x` must be zeros. A fixed
/// order of IEEE operations: the same result on every tier.
pub(crate) fn autocorrelation(tier: Tier, x: &[f64]) -> [f64; LAGS] {
    dispatch(tier, Autocorrelation { x })
}

struct Autocorrelation<'a> {
    x: &'a [f64],
}

impl Kernel for Autocorrelation<'_> {
    type Output = [f64; LAGS];

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> [f64; LAGS] {
        let mut sums = [0.0; LAGS];
        // As many lags at a time as registers hold.
        for (first, sums) in (0..).step_by(3).zip(sums.as_chunks_mut::<3>().0) {
            *sums = three_lags(self.x, first);
        }
        sums
    }
}

/// The sums of the lags `first`, `first + 1` and `first + 2`.
#[inline(always)]
fn three_lags(x: &[f64], first: usize) -> [f64; 3] {
    const { assert!(LAGS.is_multiple_of(3)) };
    let mut lanes = [[0.0; LANES]; 3];
    let early = x.as_chunks::<LANES>().0;
    let late = x[first..].windows(LANES + 2).step_by(LANES);
    for (early, late) in early.iter().zip(late) {
        for (lag, lanes) in lanes.iter_mut().enumerate() {
            for i in 0..LANES {
                lanes[i] += early[i] * late[i + lag];
            }
        }
    }
    lanes.map(|lanes| lanes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tier_finds_the_same_sums() {
        for n in [0, 1, 7, 8, 9, 40, 41, 255, 5000] {
            let mut x: Vec<f64> = (0..n).map(|i: i64| (i * i * 7919 % 16_384 - 8192) as f64).collect();
            // Integers, whose sums are exact.
            let want: Vec<f64> =
                (0..LAGS).map(|lag| x.iter().skip(lag).zip(&x).map(|(&a, &b)| a * b).sum()).collect();
            x.resize(x.len() + PADDING, 0.0);
            let thirds: Vec<f64> = x.iter().map(|x| x / 3.0).collect();
            let scalar = autocorrelation(Tier::Scalar, &thirds);
            for tier in Tier::ALL.into_iter().filter(|t| t.is_supported()) {
                assert_eq!(autocorrelation(tier, &x)[..], want[..], "{n} samples, {tier:?}");
                assert_eq!(autocorrelation(tier, &thirds), scalar, "{n} samples, {tier:?}");
            }
        }
    }
}

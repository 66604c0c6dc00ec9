//! Autocorrelation of 24-bit samples.

use linerate_core::Tier;

use super::autocorrelation::LAGS;
use super::dispatch::dispatch;
use super::isa::{Isa, Kernel};

/// For each lag the sum of products of samples that far apart. Samples must be within -2^23 and 2^23, and at most 65,536:
/// sums then fit in 63 bits.
pub(crate) fn autocorrelation(tier: Tier, x: &[i32]) -> [i64; LAGS] {
    debug_assert!(x.len() <= 1 << 16 && x.iter().all(|x| x.unsigned_abs() <= 1 << 23));
    dispatch(tier, Autocorrelation { x })
}

struct Autocorrelation<'a> {
    x: &'a [i32],
}

impl Kernel for Autocorrelation<'_> {
    type Output = [i64; LAGS];

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> [i64; LAGS] {
        let mut sums = [0; LAGS];
        // As many lags at a time as registers hold.
        for (first, sums) in (0..).step_by(3).zip(sums.as_chunks_mut::<3>().0) {
            *sums = three_lags(self.x, first);
        }
        sums
    }
}

/// The sums of the lags `first`, `first + 1` and `first + 2`.
#[inline(always)]
fn three_lags(x: &[i32], first: usize) -> [i64; 3] {
    const { assert!(LAGS.is_multiple_of(3)) };
    const LANES: usize = 8;
    let mut lanes = [[0i64; LANES]; 3];
    let late = x.get(first..).unwrap_or_default();
    let mut done = 0;
    for (early, late) in x.as_chunks::<LANES>().0.iter().zip(late.windows(LANES + 2).step_by(LANES)) {
        for (lag, lanes) in lanes.iter_mut().enumerate() {
            for i in 0..LANES {
                lanes[i] += i64::from(early[i]) * i64::from(late[i + lag]);
            }
        }
        done += LANES;
    }
    core::array::from_fn(|lag| {
        let rest = x[done..].iter().zip(late.get(done + lag..).unwrap_or_default());
        lanes[lag].iter().sum::<i64>() + rest.map(|(&a, &b)| i64::from(a) * i64::from(b)).sum::<i64>()
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn every_tier_finds_the_same_sums() {
        for n in [0, 1, 7, 8, 9, 10, 17, 40, 41, 255, 5000] {
            let x: Vec<i32> = (0..n).map(|i: i64| (i * i * 7919 % 16_777_216 - 8_388_608) as i32).collect();
            let want: Vec<i64> = (0..LAGS)
                .map(|lag| x.iter().skip(lag).zip(&x).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum())
                .collect();
            for tier in Tier::ALL.into_iter().filter(|t| t.is_supported()) {
                assert_eq!(autocorrelation(tier, &x)[..], want[..], "{n} samples, {tier:?}");
            }
        }
        let extremes = vec![-(1 << 23); 1 << 16];
        for tier in Tier::ALL.into_iter().filter(|t| t.is_supported()) {
            assert_eq!(autocorrelation(tier, &extremes)[8], ((1 << 16) - 8) << 46);
        }
    }
}

//! Selects even subsets of samples, and splits them into training and holdout samples.

/// One of this many samples is held out.
const HOLDOUT_EVERY: usize = 4;

/// Selects samples of at most `limit` bytes in total, evenly spread. Selects at least the first,
/// even if it is larger.
pub(crate) fn subsample<'a>(samples: &[&'a [u8]], limit: usize) -> Vec<&'a [u8]> {
    let total: usize = samples.iter().map(|sample| sample.len()).sum();
    let (mut passed, mut kept) = (0, 0);
    let mut is_due = |sample: &&&[u8]| {
        // The kept share of the bytes so far is at most the share of `limit` in all bytes.
        let due = kept as u128 * total as u128 <= passed as u128 * limit as u128;
        let fits = total <= limit || kept == 0 || kept + sample.len() <= limit;
        passed += sample.len();
        kept += if due && fits { sample.len() } else { 0 };
        total <= limit || (due && fits)
    };
    samples.iter().filter(|sample| is_due(sample)).copied().collect()
}

/// Samples to train with, and holdout samples to measure with.
pub(crate) struct Split<'a> {
    pub(crate) training: Vec<&'a [u8]>,
    pub(crate) holdout: Vec<&'a [u8]>,
}

impl<'a> Split<'a> {
    /// Holds out every fourth sample, or the last one if there are fewer than four.
    pub(crate) fn new(samples: &[&'a [u8]]) -> Split<'a> {
        let is_holdout = |i: usize| {
            if samples.len() < HOLDOUT_EVERY {
                i + 1 == samples.len()
            } else {
                i % HOLDOUT_EVERY == HOLDOUT_EVERY - 1
            }
        };
        let part = |holdout: bool| -> Vec<&'a [u8]> {
            samples.iter().enumerate().filter(|(i, _)| is_holdout(*i) == holdout).map(|(_, s)| *s).collect()
        };
        Split { training: part(false), holdout: part(true) }
    }

    /// Returns the number of bytes of the holdout samples.
    pub(crate) fn holdout_bytes(&self) -> usize {
        self.holdout.iter().map(|block| block.len()).sum()
    }
}

/// Scales a size that was `measured` with `of` bytes to `all` bytes, and rounds it up.
pub(crate) fn extrapolate(measured: usize, of: usize, all: u64) -> u64 {
    let product = measured as u128 * u128::from(all);
    u64::try_from(product.div_ceil(of.max(1) as u128)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsampling_is_even() {
        let samples: Vec<&[u8]> = vec![&[0; 10]; 100];
        assert_eq!(subsample(&samples, 1000).len(), 100);
        assert_eq!(subsample(&samples, 500).len(), 50);
        assert_eq!(subsample(&samples, 35).len(), 3);
        assert_eq!(subsample(&samples, 3).len(), 1);
        assert_eq!(subsample(&[], 3).len(), 0);
        let marked: Vec<Vec<u8>> = (0..100).map(|i| vec![i; 10]).collect();
        let marked: Vec<&[u8]> = marked.iter().map(Vec::as_slice).collect();
        let kept: Vec<u8> = subsample(&marked, 250).iter().map(|s| s[0]).collect();
        assert!(kept.iter().enumerate().all(|(i, &s)| usize::from(s).abs_diff(4 * i) <= 4), "{kept:?}");
    }

    #[test]
    fn a_quarter_is_held_out() {
        for (count, check) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 1), (7, 1), (8, 2), (100, 25)] {
            let samples: Vec<&[u8]> = vec![b"sample"; count];
            let split = Split::new(&samples);
            assert_eq!((split.training.len(), split.holdout.len()), (count - check, check));
        }
    }

    #[test]
    fn measured_bytes_are_extrapolated() {
        assert_eq!(extrapolate(10, 100, 1000), 100);
        assert_eq!(extrapolate(0, 0, 0), 0);
        assert_eq!(extrapolate(usize::MAX, 1, u64::MAX), u64::MAX);
    }
}

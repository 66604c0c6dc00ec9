//! Parameters for given samples: the exact best m, and a search for a filter.

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::filter::forward;
use crate::kernel::spec::{ESCAPE, ESCAPE_BITS, zigzag};
use crate::{Filter, MAX_TAPS, Params, Sample};

/// How often each zigzag value occurs once `filter` has been applied to each segment. It tells
/// the size for every m.
///
/// Takes 256 KiB, and as much again while it is made.
#[derive(Clone)]
pub struct Histogram {
    counts: Vec<u32>,
    segments: u64,
}

/// Counts are 32 bits wide, so this many samples are counted at most.
const MOST: usize = u32::MAX as usize;

impl Histogram {
    /// Counts `samples`, which are cut into segments of `segment` samples, or are one segment if
    /// that is `None`. Samples beyond the first 2^32 - 1, as many as a chunk can hold, are not
    /// counted.
    pub fn of<S: Sample>(samples: &[S], segment: Option<NonZeroU32>, filter: &Filter) -> Histogram {
        let samples = S::words(samples);
        let samples = &samples[..samples.len().min(MOST)];
        let whole = samples.len().max(1);
        let segment = segment.map_or(whole, |n| (n.get() as usize).min(whole));
        // Neighbours often have the same value. Counted in one place, each would wait for the one
        // before it; two tables take turns.
        let mut even = vec![0u32; 1 << 16];
        let mut odd = vec![0u32; 1 << 16];
        for segment in samples.chunks(segment) {
            count(segment, filter, &mut even, &mut odd);
        }
        even.iter_mut().zip(&odd).for_each(|(a, b)| *a += b);
        Histogram { counts: even, segments: samples.len().div_ceil(segment) as u64 }
    }

    /// Bits of all codes together with Rice parameter 2^k, k in 0..=15: the size of a chunk but
    /// for its lengths and the at most 31 bits that fill up each segment.
    pub fn bits(&self, k: u32) -> u64 {
        let short = (ESCAPE << k).min(1 << 16) as usize;
        let of_short = |q: u32, counts: &[u32]| sum(counts) * u64::from(q + 1 + k);
        let short_bits: u64 =
            (0..).zip(self.counts[..short].chunks(1 << k)).map(|(q, c)| of_short(q, c)).sum();
        short_bits + sum(&self.counts[short..]) * u64::from(ESCAPE_BITS)
    }

    /// The m that takes the fewest bits, and how many. Of several the smallest.
    pub fn best_m(&self) -> (u32, u64) {
        let all = (1..16).map(|k| (1 << k, self.bits(k)));
        all.min_by_key(|&(_, bits)| bits).unwrap_or((8, 0))
    }

    /// Segments that were counted.
    pub fn segments(&self) -> u64 {
        self.segments
    }
}

fn sum(counts: &[u32]) -> u64 {
    counts.iter().map(|&n| u64::from(n)).sum()
}

/// Counts a segment: samples with even numbers in one table, the others in the other.
fn count(segment: &[i16], filter: &Filter, even: &mut [u32], odd: &mut [u32]) {
    let even: &mut [u32; 1 << 16] = even.try_into().expect("one count per value");
    let odd: &mut [u32; 1 << 16] = odd.try_into().expect("one count per value");
    let mut filtered = [0; 2048];
    for start in (0..segment.len()).step_by(filtered.len()) {
        let filtered = &mut filtered[..(segment.len() - start).min(2048)];
        forward(filter, segment, start, filtered);
        for two in filtered.chunks(2) {
            even[usize::from(zigzag(two[0]))] += 1;
            if let Some(&y) = two.get(1) {
                odd[usize::from(zigzag(y))] += 1;
            }
        }
    }
}

/// The m that makes `samples` smallest, exact but for the filling up of segments to whole words.
/// One pass over the samples.
///
/// ```
/// use linerate_rice::{tune, Filter};
/// let sawtooth: Vec<i16> = (0..1000).map(|i| i % 20 * 50).collect(); // steps of 50, zigzag 100
/// assert_eq!(tune::best_m(&sawtooth, None, &Filter::DELTA), 64);
/// ```
pub fn best_m<S: Sample>(samples: &[S], segment: Option<NonZeroU32>, filter: &Filter) -> u32 {
    Histogram::of(samples, segment, filter).best_m().0
}

/// Samples that the search for a filter looks at: whole segments, evenly spread.
const LOOKED_AT: usize = 1 << 17;
/// Coefficients that the search goes up to.
const MOST_TAPS: usize = 4;

/// The filter and m that make `samples` smallest among the filters that a search comes upon:
/// known ones (none, first to third difference, and the difference of the second sample before),
/// then steps of one in each coefficient from the best so far, up to four coefficients, until no
/// step gains.
///
/// The search looks at 131,072 samples, or at one segment if that is longer; m is then exact for
/// all samples. The first coefficient is always 1, so nothing is lost.
pub fn best_filter<S: Sample>(samples: &[S], segment: Option<NonZeroU32>) -> Params {
    let words = S::words(samples);
    let looked_at = spread(words, segment);
    let bits = |taps: &[i32]| {
        let filter = Filter::new(taps).ok()?;
        Some((Histogram::of(&looked_at, segment, &filter).best_m().1, filter))
    };
    let known: [&[i32]; 5] = [&[1, -1], &[1], &[1, -2, 1], &[1, 0, -1], &[1, -3, 3, -1]];
    let less = |a: (u64, Filter), b: (u64, Filter)| if b.0 < a.0 { b } else { a };
    let start = known.into_iter().filter_map(bits).reduce(less).unwrap_or((0, Filter::DELTA));
    let mut best = start;
    loop {
        let next = steps(best.1.taps()).filter_map(|(n, taps)| bits(&taps[..n])).fold(best, less);
        if next.0 == best.0 {
            break;
        }
        best = next;
    }
    let m = Histogram::of(samples, segment, &best.1).best_m().0;
    Params::new(m, segment).unwrap_or_default().with_filter(best.1)
}

/// All filters that differ from `taps` by one in one coefficient behind the first, one more
/// coefficient than `taps` has included.
fn steps(taps: &[i32]) -> impl Iterator<Item = (usize, [i32; MAX_TAPS])> {
    let mut from = [0; MAX_TAPS];
    let n = taps.len().min(MAX_TAPS);
    from[..n].copy_from_slice(&taps[..n]);
    (1..(n + 1).min(MOST_TAPS)).flat_map(move |i| {
        [-1, 1].map(|by| {
            let mut next = from;
            next[i] += by;
            (n.max(i + 1), next)
        })
    })
}

/// Whole segments, evenly spread, of [`LOOKED_AT`] samples in all or little more.
fn spread(samples: &[i16], segment: Option<NonZeroU32>) -> Vec<i16> {
    let whole = samples.len().max(1);
    let segment = segment.map_or(whole, |n| (n.get() as usize).min(whole));
    let wanted = LOOKED_AT.div_ceil(segment);
    let every = samples.len().div_ceil(segment).div_ceil(wanted).max(1);
    samples.chunks(segment).step_by(every).flatten().copied().collect()
}

/// What another filter than the running difference has to gain before [`Params::auto`] takes it:
/// one part in this many. Decoding it takes a second pass.
const WORTH: u64 = 50;

impl Params {
    /// Parameters for `samples` in segments of `segment`: the exact best m, with the running
    /// difference, or with another filter (see [`best_filter`]) if that saves 2 % or more.
    ///
    /// ```
    /// use linerate_rice::Params;
    /// let ramp: Vec<u16> = (0..1000).map(|i| 3 * i).collect();
    /// assert_eq!(Params::auto(&ramp, None).filter().taps(), [1, -2, 1]);
    /// ```
    pub fn auto<S: Sample>(samples: &[S], segment: Option<NonZeroU32>) -> Params {
        let (m, plain) = Histogram::of(samples, segment, &Filter::DELTA).best_m();
        let params = Params::new(m, segment).unwrap_or_default();
        let other = best_filter(samples, segment);
        let bits = Histogram::of(samples, segment, other.filter()).bits(other.k());
        if bits + bits / WORTH < plain { other } else { params }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exec, encoded_len};

    fn wave(n: usize, noise: u32) -> Vec<i16> {
        let mut s = 9u32;
        (0..n)
            .map(|i| {
                s = s.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                let wave = 900.0 * (i as f64 / 50.0).sin();
                (wave as i32 + ((s >> 16) % noise) as i32) as i16
            })
            .collect()
    }

    #[test]
    fn bits_are_those_of_the_chunk() {
        for noise in [1, 10, 1000, 60_000] {
            let x = wave(3000, noise);
            let h = Histogram::of(&x, None, &Filter::DELTA);
            for k in 1..16 {
                let params = Params::new(1 << k, None).unwrap();
                let chunk = encoded_len(&params, &x, Exec::default()).unwrap();
                assert_eq!(chunk, 8 + h.bits(k).div_ceil(32) * 4, "noise {noise}, k {k}");
            }
        }
    }

    #[test]
    fn the_best_m_is_the_best() {
        let segment = NonZeroU32::new(700);
        for noise in [1, 3, 10, 100, 1000, 10_000] {
            let x = wave(7000, noise);
            let len = |m| encoded_len(&Params::new(m, segment).unwrap(), &x, Exec::default()).unwrap();
            let best = (1..16).map(|k| len(1 << k)).min().unwrap();
            let ours = len(best_m(&x, segment, &Filter::DELTA));
            // 10 segments, each filled up by less than 4 bytes.
            assert!(ours < best + 40, "noise {noise}: {ours} against {best}");
        }
    }

    #[test]
    fn a_filter_that_fits_is_found() {
        let smooth = wave(20_000, 1);
        let found = best_filter(&smooth, None);
        let len = |params: &Params| encoded_len(params, &smooth, Exec::default()).unwrap();
        let delta = Params::new(best_m(&smooth, None, &Filter::DELTA), None).unwrap();
        assert!(2 * len(&found) < len(&delta), "{found:?}");
        assert_eq!(Params::auto(&smooth, None), found);
    }

    #[test]
    fn noise_keeps_the_running_difference_or_less() {
        let steps = wave(20_000, 40);
        assert_eq!(Params::auto(&steps, None).filter(), &Filter::DELTA);
    }

    #[test]
    fn nothing_at_all_can_be_tuned() {
        assert!(Params::auto::<i16>(&[], None).m() >= 2);
        assert!(Params::auto(&[1u16], NonZeroU32::new(1)).m() >= 2);
    }
}

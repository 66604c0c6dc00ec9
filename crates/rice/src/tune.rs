//! Finds parameters for given samples: the best m exactly, and a filter by local search.

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::filter::forward;
use crate::kernel::code::{ESCAPE, ESCAPE_BITS, zigzag};
use crate::{Filter, MAX_TAPS, Params, Sample};

/// Histogram of the zigzag values of filtered segments, which gives the size for every m.
///
/// Takes 256 KiB, and twice that while it is built.
#[derive(Clone)]
pub struct Histogram {
    counts: Vec<u32>,
    segments: u64,
}

/// Maximum number of samples counted: counts have 32 bits.
const MAX_SAMPLES: usize = u32::MAX as usize;

impl Histogram {
    /// Counts `samples`, divided into segments of `segment` samples; `None` is one segment. Only
    /// the first 2^32 - 1 samples are counted, since a chunk holds no more.
    pub fn of<S: Sample>(samples: &[S], segment: Option<NonZeroU32>, filter: &Filter) -> Histogram {
        let samples = S::words(samples);
        let samples = &samples[..samples.len().min(MAX_SAMPLES)];
        let whole = samples.len().max(1);
        let segment = segment.map_or(whole, |n| (n.get() as usize).min(whole));
        // Neighbouring filtered samples are often equal. In a single table the second count would
        // wait for the first, so two tables alternate.
        let mut even = vec![0u32; 1 << 16];
        let mut odd = vec![0u32; 1 << 16];
        for segment in samples.chunks(segment) {
            count(segment, filter, &mut even, &mut odd);
        }
        even.iter_mut().zip(&odd).for_each(|(a, b)| *a += b);
        Histogram { counts: even, segments: samples.len().div_ceil(segment) as u64 }
    }

    /// Returns the bits of all codes with Rice parameter 2^k, for k in 0..=15. That is the size of
    /// a chunk without its lengths and the padding of each segment, which has at most 31 bits.
    pub(crate) fn bits(&self, k: u32) -> u64 {
        let short = (ESCAPE << k).min(1 << 16) as usize;
        let of_short = |q: u32, counts: &[u32]| sum(counts) * u64::from(q + 1 + k);
        let short_bits: u64 =
            (0..).zip(self.counts[..short].chunks(1 << k)).map(|(q, c)| of_short(q, c)).sum();
        short_bits + sum(&self.counts[short..]) * u64::from(ESCAPE_BITS)
    }

    /// Returns the m whose codes take the fewest bits, and the number of these bits. If several are
    /// equally good, returns the smallest.
    pub fn best_m(&self) -> (u32, u64) {
        let all = (1..16).map(|k| (1 << k, self.bits(k)));
        all.min_by_key(|&(_, bits)| bits).unwrap_or((8, 0))
    }

    /// Number of segments counted.
    pub fn segments(&self) -> u64 {
        self.segments
    }
}

fn sum(counts: &[u32]) -> u64 {
    counts.iter().map(|&n| u64::from(n)).sum()
}

/// Counts a segment: samples with even indices in `even`, samples with odd indices in `odd`.
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

/// Finds the m that makes `samples` smallest, in one pass. Exact, except that the padding of
/// segments to whole words is not counted.
///
/// ```
/// use linerate_rice::{tune, Filter};
/// let sawtooth: Vec<i16> = (0..1000).map(|i| i % 20 * 50).collect(); // steps of 50, zigzag 100
/// assert_eq!(tune::best_m(&sawtooth, None, &Filter::DELTA), 64);
/// ```
pub fn best_m<S: Sample>(samples: &[S], segment: Option<NonZeroU32>, filter: &Filter) -> u32 {
    Histogram::of(samples, segment, filter).best_m().0
}

/// Number of samples that the search for a filter uses, before rounding up to whole segments.
const SEARCH_SAMPLES: usize = 1 << 17;
/// Maximum number of coefficients in the search.
const MAX_SEARCH_TAPS: usize = 4;

/// Finds a filter and m by local search. It starts from the best of five filters: identity, first,
/// second and third difference, and the difference from the sample before the previous one. Then it
/// changes one coefficient by 1 at a time, with at most four coefficients, as long as that makes
/// the samples smaller.
///
/// The search uses evenly spread whole segments of together about 131,072 samples, or one segment
/// if segments are longer; m is then found from all samples. The first coefficient is always 1, so
/// the filter is lossless.
pub fn best_filter<S: Sample>(samples: &[S], segment: Option<NonZeroU32>) -> Params {
    let words = S::words(samples);
    let searched = spread(words, segment);
    let bits = |taps: &[i32]| {
        let filter = Filter::new(taps).ok()?;
        Some((Histogram::of(&searched, segment, &filter).best_m().1, filter))
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

/// All filters that differ from `taps` by 1 in one coefficient other than the first. The changed
/// coefficient may be a new one after the last.
fn steps(taps: &[i32]) -> impl Iterator<Item = (usize, [i32; MAX_TAPS])> {
    let mut from = [0; MAX_TAPS];
    let n = taps.len().min(MAX_TAPS);
    from[..n].copy_from_slice(&taps[..n]);
    (1..(n + 1).min(MAX_SEARCH_TAPS)).flat_map(move |i| {
        [-1, 1].map(|by| {
            let mut next = from;
            next[i] += by;
            (n.max(i + 1), next)
        })
    })
}

/// Returns evenly spread whole segments, at most as many as are needed for [`SEARCH_SAMPLES`].
fn spread(samples: &[i16], segment: Option<NonZeroU32>) -> Vec<i16> {
    let whole = samples.len().max(1);
    let segment = segment.map_or(whole, |n| (n.get() as usize).min(whole));
    let wanted = SEARCH_SAMPLES.div_ceil(segment);
    let every = samples.len().div_ceil(segment).div_ceil(wanted).max(1);
    samples.chunks(segment).step_by(every).flatten().copied().collect()
}

/// [`Params::auto`] prefers another filter to the running difference only if that makes the chunk
/// smaller by one part in this many, because undoing it takes a second pass.
const MIN_SAVINGS: u64 = 50;

impl Params {
    /// Chooses parameters for `samples` in segments of `segment` samples: the best m, with the
    /// running difference as filter, or with the filter of [`best_filter`] if that saves 2 %.
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
        if bits + bits / MIN_SAVINGS < plain { other } else { params }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, encoded_len};

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
    fn histogram_bits_equal_the_chunk_size() {
        for noise in [1, 10, 1000, 60_000] {
            let x = wave(3000, noise);
            let h = Histogram::of(&x, None, &Filter::DELTA);
            for k in 1..16 {
                let params = Params::new(1 << k, None).unwrap();
                let chunk = encoded_len(&params, &x, Options::new()).unwrap();
                assert_eq!(chunk, 8 + h.bits(k).div_ceil(32) * 4, "noise {noise}, k {k}");
            }
        }
    }

    #[test]
    fn best_m_gives_the_smallest_chunk() {
        let segment = NonZeroU32::new(700);
        for noise in [1, 3, 10, 100, 1000, 10_000] {
            let x = wave(7000, noise);
            let len = |m| encoded_len(&Params::new(m, segment).unwrap(), &x, Options::new()).unwrap();
            let best = (1..16).map(|k| len(1 << k)).min().unwrap();
            let ours = len(best_m(&x, segment, &Filter::DELTA));
            // Ten segments, each padded by less than 4 bytes.
            assert!(ours < best + 40, "noise {noise}: {ours} against {best}");
        }
    }

    #[test]
    fn smooth_samples_get_a_better_filter() {
        let smooth = wave(20_000, 1);
        let found = best_filter(&smooth, None);
        let len = |params: &Params| encoded_len(params, &smooth, Options::new()).unwrap();
        let delta = Params::new(best_m(&smooth, None, &Filter::DELTA), None).unwrap();
        assert!(2 * len(&found) < len(&delta), "{found:?}");
        assert_eq!(Params::auto(&smooth, None), found);
    }

    #[test]
    fn noise_keeps_the_running_difference() {
        let steps = wave(20_000, 40);
        assert_eq!(Params::auto(&steps, None).filter(), &Filter::DELTA);
    }

    #[test]
    fn empty_and_single_samples_can_be_tuned() {
        assert!(Params::auto::<i16>(&[], None).m() >= 2);
        assert!(Params::auto(&[1u16], NonZeroU32::new(1)).m() >= 2);
    }
}

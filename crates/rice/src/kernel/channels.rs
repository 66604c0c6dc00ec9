//! Loops over several channels: interleaving, prediction of a channel from others, and correlation.

use alloc::vec::Vec;

use linerate_core::Tier;

use super::dispatch::dispatch;
use super::isa::{Isa, Kernel};
use crate::v2::element::Word;

/// Number of frames interleaved or deinterleaved at a time: few enough to stay in the first-level
/// cache.
const TILE: usize = 64;

/// Divides frames, each of which has a sample of every channel, into channels one after another.
pub(crate) fn deinterleave<W: Word>(frames: &[W], channels: usize, out: &mut [W]) {
    let n = frames.len() / channels;
    for (tile, frames) in frames.chunks(TILE * channels).enumerate() {
        for (channel, out) in out.chunks_exact_mut(n).enumerate() {
            let from = frames[channel..].iter().step_by(channels);
            out[tile * TILE..].iter_mut().zip(from).for_each(|(to, &x)| *to = x);
        }
    }
}

/// The inverse of [`deinterleave`].
pub(crate) fn interleave<W: Word>(channels: &[W], count: usize, out: &mut [W]) {
    let n = out.len() / count;
    if count == 2 {
        let (left, right) = channels.split_at(n);
        let pairs = left.iter().zip(right);
        out.as_chunks_mut::<2>().0.iter_mut().zip(pairs).for_each(|(to, (&l, &r))| *to = [l, r]);
        return;
    }
    for (tile, out) in out.chunks_mut(TILE * count).enumerate() {
        for (channel, from) in channels.chunks_exact(n).enumerate() {
            let to = out[channel..].iter_mut().step_by(count);
            to.zip(&from[tile * TILE..]).for_each(|(to, &x)| *to = x);
        }
    }
}

/// Two channels with weights. Flipping the bits `sign` makes their samples signed numbers.
pub(crate) struct Weighted<'a, W> {
    pub(crate) channels: [&'a [W]; 2],
    pub(crate) weights: [i16; 2],
    pub(crate) shift: u32,
    pub(crate) sign: W,
}

impl<W: Word> Weighted<'_, W> {
    /// Adds the weighted sum to `words`.
    pub(crate) fn add_to(&self, tier: Tier, words: &mut [W]) {
        dispatch(tier, Predict::<W, false> { from: self, words });
    }

    /// Subtracts the weighted sum from `words`.
    pub(crate) fn subtract_from(&self, tier: Tier, words: &mut [W]) {
        dispatch(tier, Predict::<W, true> { from: self, words });
    }
}

struct Predict<'a, 'b, W, const SUBTRACT: bool> {
    from: &'a Weighted<'b, W>,
    words: &'a mut [W],
}

impl<W: Word, const SUBTRACT: bool> Kernel for Predict<'_, '_, W, SUBTRACT> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        let Weighted { channels: [a, b], weights, shift, sign } = *self.from;
        for ((word, &a), &b) in self.words.iter_mut().zip(a).zip(b) {
            let sum = W::add_product(W::half(shift), weights[0], a.flipped(sign).wide());
            let sum = W::add_product(sum, weights[1], b.flipped(sign).wide());
            let predicted = W::shifted(sum, shift);
            *word = if SUBTRACT { word.minus(predicted) } else { word.plus(predicted) };
        }
    }
}

/// Second differences of a channel, shifted right so that they fit 14 bits.
#[derive(Clone, Copy)]
pub(crate) struct Differences<'a> {
    pub(crate) values: &'a [i16],
    /// The factor that undoes the scaling.
    pub(crate) unit: f64,
}

/// Appends the second differences of `words` to `out`, shifted right so that they fit in 14 bits.
/// Returns by how many bits they were shifted.
pub(crate) fn second_differences<W: Word>(tier: Tier, words: &[W], out: &mut Vec<i16>) -> u32 {
    dispatch(tier, SecondDifferences { words, out })
}

struct SecondDifferences<'a, W> {
    words: &'a [W],
    out: &'a mut Vec<i16>,
}

impl<W: Word> Kernel for SecondDifferences<'_, W> {
    type Output = u32;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> u32 {
        let second = |x: &[W]| x[2].minus(x[1]).minus(x[1].minus(x[0])).signed();
        let windows = || self.words.windows(3).map(second);
        let largest = windows().fold(0, |largest, x| largest | x.unsigned_abs());
        let excess = (u64::BITS - largest.leading_zeros()).saturating_sub(13);
        self.out.extend(windows().map(|x| (x >> excess) as i16));
        excess
    }
}

/// Returns the sum of products of two channels' differences.
pub(crate) fn covariance(tier: Tier, a: Differences, b: Differences) -> f64 {
    let sum = dispatch(tier, Covariance { a: a.values, b: b.values });
    sum as f64 * a.unit * b.unit
}

struct Covariance<'a> {
    a: &'a [i16],
    b: &'a [i16],
}

impl Kernel for Covariance<'_> {
    type Output = i64;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> i64 {
        self.a.chunks(256).zip(self.b.chunks(256)).map(|(a, b)| correlate(a, b)).sum()
    }
}

/// Sums the products of at most 256 pairs of 14-bit numbers. The upper and lower halves of products
/// are summed apart, so that 32 bits are enough.
#[inline(always)]
fn correlate(a: &[i16], b: &[i16]) -> i64 {
    let (mut high, mut low) = (0i32, 0i32);
    for (&a, &b) in a.iter().zip(b) {
        let product = i32::from(a) * i32::from(b);
        high += product >> 16;
        low += product & 0xffff;
    }
    (i64::from(high) << 16) + i64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deinterleaved_channels_interleave_to_the_same_frames() {
        for channels in [1, 2, 3, 15, 100] {
            for frames in [1, 2, 63, 64, 65, 200] {
                let samples: Vec<u16> = (0..channels * frames).map(|i| i as u16).collect();
                let mut apart = vec![0; samples.len()];
                deinterleave(&samples, channels, &mut apart);
                let second = apart.get(frames).copied();
                assert_eq!(second, (channels > 1).then_some(1), "{channels} x {frames}");
                let mut together = vec![0; samples.len()];
                interleave(&apart, channels, &mut together);
                assert_eq!(together, samples, "{channels} x {frames}");
            }
        }
    }

    #[test]
    fn every_tier_adds_what_it_subtracts() {
        let noise = |seed: u32| (0..999u32).map(move |i| (i + seed).wrapping_mul(0x9e37_79b9).rotate_left(9));
        let [a, b, c] = [1, 5, 9].map(|seed| noise(seed).collect::<Vec<u32>>());
        let narrow = |x: &[u32]| x.iter().map(|&x| x as u16).collect::<Vec<u16>>();
        fn check<W: Word>(a: &[W], b: &[W], c: &[W], sign: W) {
            let from = Weighted { channels: [a, b], weights: [-32_768, 32_767], shift: 15, sign };
            let want: Vec<W> = (0..c.len())
                .map(|i| {
                    let at = |x: W| i128::from(x.flipped(sign).signed());
                    let bits = 2 * W::BITS;
                    let sum = -32_768 * at(a[i]) + 32_767 * at(b[i]) + (1 << 14);
                    // Wraps to twice the width of a word, in two's complement.
                    let sum = sum << (128 - bits) >> (128 - bits);
                    c[i].minus(W::of((sum >> 15) as u64))
                })
                .collect();
            for tier in Tier::ALL.into_iter().filter(|t| t.is_supported()) {
                let mut words = c.to_vec();
                from.subtract_from(tier, &mut words);
                assert_eq!(words, want, "{tier:?}");
                from.add_to(tier, &mut words);
                assert_eq!(words, c, "{tier:?}");
            }
        }
        for sign in [0, 1 << 31] {
            check(&a, &b, &c, sign);
        }
        for sign in [0, 1 << 15] {
            check(&narrow(&a), &narrow(&b), &narrow(&c), sign);
        }
    }
}

//! Divides segments into channels, and finds for each channel up to two channels before it that
//! predict it: least squares on second differences, one channel chosen after the other (orthogonal
//! matching pursuit; Pati, Rezaiifar, Krishnaprasad 1993).
//!
//! Sums are of integers and the rest is a fixed order of IEEE operations, so every machine finds
//! the same references.

use alloc::vec::Vec;

use linerate_core::Tier;

use super::element::Word;
use super::geometry::Geometry;
use super::plan::{Plan, Scratch};
use super::references::References;
use super::{Element, lpc};
use crate::Options;
use crate::kernel::channels::{Differences, covariance, deinterleave, second_differences};
use crate::kernel::planning::plan;

/// Maximum distance to a channel that is referred to.
const MAX_DISTANCE: usize = 16;

/// Maximum number of segments that decide whether samples are coded as channels.
const TRIED: usize = 3;

/// A planned part of a segment.
pub(super) struct Part<'a, W> {
    /// The samples.
    pub(super) words: &'a [W],
    pub(super) plan: Plan<W>,
    /// The part's residuals and modes.
    pub(super) scratch: &'a Scratch<W>,
}

/// Working memory to plan segments.
pub(super) struct Planner<W> {
    /// The samples of a segment, one channel after another.
    apart: Vec<W>,
    /// Samples less their prediction from other channels.
    rest: Vec<W>,
    correlation: Correlation,
    own: Scratch<W>,
    referring: Scratch<W>,
}

impl<W: Word> Planner<W> {
    pub(super) fn new(geometry: &Geometry) -> Planner<W> {
        let part = geometry.frames.min(geometry.samples);
        let with_channels = if geometry.channels > 1 { part } else { 0 };
        Planner {
            apart: Vec::new(),
            rest: alloc::vec![W::default(); with_channels],
            correlation: Correlation::default(),
            own: Scratch::new(part),
            referring: Scratch::new(with_channels),
        }
    }

    /// Plans the parts of a segment, each of which is passed to `put` before the next one is
    /// planned. `None` as soon as `put` returns that.
    pub(super) fn parts<T: Element<Word = W>>(
        &mut self,
        samples: &[T],
        channels: usize,
        options: Options,
        mut put: impl FnMut(Part<'_, W>) -> Option<()>,
    ) -> Option<()> {
        let (words, tier) = (T::words(samples), options.tier);
        if channels == 1 {
            let plan = plan(tier, words, T::SIGNED, None, &mut self.own);
            return put(Part { words, plan, scratch: &self.own });
        }
        let frames = words.len() / channels;
        self.apart.resize(words.len(), W::default());
        deinterleave(words, channels, &mut self.apart);
        self.correlation.begin();
        for (channel, words) in self.apart.chunks_exact(frames).enumerate() {
            let own = plan(tier, words, T::SIGNED, Some(References::NONE), &mut self.own);
            let references = self.correlation.references(tier, words);
            if let Some(weighted) = references.weighted(&self.apart, channel, frames, T::SIGN) {
                let rest = &mut self.rest[..frames];
                rest.copy_from_slice(words);
                weighted.subtract_from(tier, rest);
                let referring = plan(tier, rest, true, Some(references), &mut self.referring);
                if referring.bytes(frames) < own.bytes(frames) {
                    put(Part { words, plan: referring, scratch: &self.referring })?;
                    continue;
                }
            }
            put(Part { words, plan: own, scratch: &self.own })?;
        }
        Some(())
    }

    /// Bytes that the parts of a segment and their table entries take.
    fn bytes<T: Element<Word = W>>(&mut self, samples: &[T], channels: usize, options: Options) -> usize {
        let mut bytes = 0;
        self.parts(samples, channels, options, |part| {
            bytes += 4 + part.plan.bytes(part.words.len());
            Some(())
        });
        bytes
    }
}

/// Whether samples take over 1 % less as `channels` than as `plain`, judged by up to [`TRIED`]
/// segments.
pub(super) fn pay<T: Element>(
    samples: &[T],
    channels: &Geometry,
    plain: &Geometry,
    options: Options,
) -> bool {
    let (mut with, mut without) = (Planner::new(channels), Planner::new(plain));
    let (mut bytes, mut plain_bytes) = (0, 0);
    let tried = TRIED.min(channels.segments());
    for i in 0..tried {
        let samples = &samples[channels.samples_of(i * channels.segments() / tried)];
        bytes += with.bytes(samples, channels.channels, options);
        plain_bytes += samples.chunks(plain.frames).map(|s| without.bytes(s, 1, options)).sum::<usize>();
    }
    100 * bytes < 99 * plain_bytes
}

/// Covariances of the second differences of channels of one segment.
#[derive(Default)]
struct Correlation {
    /// Differences of all channels so far, one after another.
    values: Vec<i16>,
    units: Vec<f64>,
    /// For each channel, at index d, its covariance with the channel d before it.
    band: Vec<[f64; MAX_DISTANCE + 1]>,
}

impl Correlation {
    fn begin(&mut self) {
        self.values.clear();
        self.units.clear();
        self.band.clear();
    }

    /// Adds the next channel, and finds the channels that predict it.
    fn references(&mut self, tier: Tier, words: &[impl Word]) -> References {
        let excess = second_differences(tier, words, &mut self.values);
        self.units.push(f64::from(1u32 << excess));
        let n = words.len().saturating_sub(2);
        if n == 0 {
            return References::NONE;
        }
        let channel = self.band.len();
        let of = |i: usize| Differences { values: &self.values[i * n..][..n], unit: self.units[i] };
        let mut covariances = [0.0; MAX_DISTANCE + 1];
        for (distance, to) in covariances.iter_mut().enumerate().take(channel + 1) {
            *to = covariance(tier, of(channel), of(channel - distance));
        }
        self.band.push(covariances);
        self.fit(channel, n).unwrap_or(References::NONE)
    }

    /// The covariance of two channels.
    fn of(&self, a: usize, b: usize) -> f64 {
        self.band[a.max(b)][a.abs_diff(b)]
    }

    /// References of `channel` by least squares. `None` if none pays.
    fn fit(&self, channel: usize, n: usize) -> Option<References> {
        let with = |other: usize| self.of(channel, other);
        let candidates = || (channel.saturating_sub(MAX_DISTANCE)..channel).filter(|&j| self.of(j, j) > 0.0);
        // As for a linear prediction: a fall of the energy to 1/x saves n/2 log2(x) bits.
        let pays = 1.0 - 48.0 / n as f64 - 0.02;
        let energy = with(channel);
        let explained = |j: usize| with(j) * with(j) / self.of(j, j);
        let first = candidates().max_by(|&j, &k| explained(j).total_cmp(&explained(k)))?;
        let one = energy - explained(first);
        if one >= energy * pays {
            return None;
        }
        // With a second channel: two equations with two unknowns.
        let determinant =
            |k: usize| self.of(first, first) * self.of(k, k) - self.of(first, k) * self.of(first, k);
        let solve = |k: usize| {
            let a = (with(first) * self.of(k, k) - with(k) * self.of(first, k)) / determinant(k);
            let b = (with(k) * self.of(first, first) - with(first) * self.of(first, k)) / determinant(k);
            [a, b]
        };
        let explained_by_both = |k: usize| {
            let [a, b] = solve(k);
            a * with(first) + b * with(k)
        };
        let independent = |&k: &usize| determinant(k) > 1e-9 * self.of(first, first) * self.of(k, k);
        let second = candidates()
            .filter(|&k| k != first)
            .filter(independent)
            .max_by(|&j, &k| explained_by_both(j).total_cmp(&explained_by_both(k)))
            .filter(|&k| energy - explained_by_both(k) < one * pays);
        let distance = |other: usize| (channel - other) as u8;
        match second {
            Some(second) => rounded(&[distance(first), distance(second)], &solve(second)),
            None => rounded(&[distance(first)], &[with(first) / self.of(first, first)]),
        }
    }
}

/// References with rounded weights.
fn rounded(distances: &[u8], weights: &[f64]) -> Option<References> {
    let rounded = lpc::round(weights, lpc::PRECISION, false)?;
    Some(References::new(distances, rounded.taps(), rounded.shift() as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_that_is_the_difference_of_two_others_refers_to_both() {
        let noise = |i: u64| {
            let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 54) as u16
        };
        let a: Vec<u16> = (0..2000).map(noise).collect();
        let b: Vec<u16> = (5000..7000).map(noise).collect();
        let difference: Vec<u16> = a.iter().zip(&b).map(|(a, b)| a.wrapping_sub(*b)).collect();
        let mut correlation = Correlation::default();
        let mut found = [&a, &b, &difference].map(|words| correlation.references(Tier::Scalar, words));
        assert_eq!(found[..2], [References::NONE; 2]);
        let mut all = Vec::new();
        found[2].write(|bytes| all.extend(bytes));
        // Two references; the weights are 1 and -1 over 2^12.
        assert_eq!(all.remove(0), 2 | 12 << 4);
        let places = if all[0] == 2 { [4096i16, -4096] } else { [-4096, 4096] };
        assert_eq!(all[2..], places.map(i16::to_le_bytes).concat());
        found[0] = References::parse(2 | 12 << 4, &all, 2).unwrap();
        assert_eq!(found[0], found[2]);
        assert_eq!(References::parse(2 | 12 << 4, &all, 1), None);
    }
}

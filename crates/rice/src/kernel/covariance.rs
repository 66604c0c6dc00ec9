//! Computes covariances of the samples of short blocks. The energy of a block's residuals under a
//! linear prediction is a quadratic form of them, so predictions are compared, block by block,
//! without computing residuals.
//!
//! Eight blocks are computed at once, one in each lane of a register.

use alloc::vec::Vec;

use linerate_core::Tier;

use super::dispatch::dispatch;
use super::isa::{Isa, Kernel};
use super::lanes::Lanes;
use crate::v2::element::Word;
use crate::v2::segment::MAX_ORDER;

/// Number of samples in a block, as many as share a Rice parameter.
const BLOCK: usize = crate::v2::BLOCK;

/// Smallest number of samples that have covariances: a block and the samples that it is predicted
/// from.
pub(crate) const MIN_SAMPLES: usize = MAX_ORDER + BLOCK;

/// Added to the mean square of a block's residuals, so that all blocks far below it count alike, as
/// 0 bits per sample.
const QUIET: f64 = 1.0 / 16.0;

/// Number of pairs of delays from 0 to [`MAX_ORDER`], without regard to their order.
const PAIRS: usize = (MAX_ORDER + 1) * (MAX_ORDER + 2) / 2;

/// Number of lags whose sums are computed together: as many as registers hold.
const LAGS: usize = 3;

/// Number of weighted sums that are computed together; [`PAIRS`] is a multiple of it.
const SUMS: usize = 5;

/// Returns the index of the pair of delays `i` and `i + difference`.
const fn place(i: usize, difference: usize) -> usize {
    i * (MAX_ORDER + 1) - i * i.saturating_sub(1) / 2 + difference
}

/// A term for each pair of delays.
#[derive(Clone, Copy)]
pub(crate) struct Pairs([f64; PAIRS]);

impl Pairs {
    /// Returns the term of two delays.
    pub(crate) fn of(&self, i: usize, j: usize) -> f64 {
        self.0[place(i.min(j), i.abs_diff(j))]
    }
}

/// The quadratic form that gives the energy of the residuals of a prediction.
pub(crate) struct Form {
    weights: Pairs,
    /// Whether all delays above 2 have weights of zero.
    short: bool,
}

impl Form {
    /// Returns the form of the prediction by the sum of `taps` times the samples before, latest
    /// first.
    pub(crate) fn new(taps: &[f64; MAX_ORDER]) -> Form {
        let mut weights = [1.0; MAX_ORDER + 1];
        weights[1..].iter_mut().zip(taps).for_each(|(weight, tap)| *weight = -tap);
        let mut form = Pairs([0.0; PAIRS]);
        for i in 0..=MAX_ORDER {
            form.0[place(i, 0)] = weights[i] * weights[i];
            for j in i + 1..=MAX_ORDER {
                form.0[place(i, j - i)] = 2.0 * weights[i] * weights[j];
            }
        }
        Form { weights: form, short: taps[2..].iter().all(|&tap| tap == 0.0) }
    }
}

/// The covariances of blocks of a segment.
#[derive(Default)]
pub(crate) struct Covariances {
    /// The covariances of eight blocks in each group. The last group repeats the last block if
    /// there are fewer.
    groups: Vec<Group>,
    /// Bits by which samples were shifted right.
    excess: u32,
}

impl Covariances {
    /// Computes the covariances of every `stride`-th block of `scaled` that ends before the last
    /// sample. The block that ends with the last sample fills up the last group of eight. `scaled`
    /// must have at least [`MIN_SAMPLES`] samples.
    pub(crate) fn fill<W: Word>(&mut self, tier: Tier, scaled: &[W], stride: usize) {
        dispatch(tier, Fill { to: self, scaled, stride });
    }

    /// Estimates the bits that a sample takes under the prediction of `form`.
    pub(crate) fn bits(&self, tier: Tier, form: &Form) -> f64 {
        let bits = dispatch(tier, Bits { of: self, form });
        // A Rice code takes 2 bits where the mean square is 1.
        0.5 * (bits / (8 * self.groups.len()) as f64 - log2(BLOCK as f64)) + 2.0 + f64::from(self.excess)
    }

    /// Returns the sum of the covariances of all blocks, those of each block divided by the energy
    /// of its residuals under the prediction of `form`.
    pub(crate) fn weighted(&self, tier: Tier, form: &Form) -> Pairs {
        dispatch(tier, Weighted { of: self, form })
    }

    /// Returns [`QUIET`] for a block, in the scale of the covariances.
    fn quiet(&self) -> f64 {
        let lost = f64::from(1 << self.excess);
        QUIET * BLOCK as f64 / (lost * lost)
    }
}

/// Approximates log2 of a positive normal number, with an error of at most 0.01.
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    let fraction = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    f64::from(exponent) + fraction * (2.0 - fraction / 3.0) - 5.0 / 3.0
}

struct Fill<'a, W> {
    to: &'a mut Covariances,
    scaled: &'a [W],
    stride: usize,
}

impl<W: Word> Kernel for Fill<'_, W> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        let Fill { to, scaled, stride } = self;
        // Sums of 32 products of samples below 2^23 are below 2^51, so all sums are exact, in any
        // order.
        const EXACT: u32 = 23;
        to.excess = 0;
        if W::BITS > EXACT {
            let mut largest = 0;
            for x in scaled {
                largest |= x.signed().unsigned_abs();
            }
            to.excess = (u64::BITS - largest.leading_zeros()).saturating_sub(EXACT);
        }
        let excess = to.excess;
        let last = scaled.len() - MIN_SAMPLES;
        let samples_of_group = 8 * stride * BLOCK;
        // Existing groups are overwritten below.
        to.groups.resize_with(last.div_ceil(samples_of_group).max(1), || Group::ZERO);
        let mut samples = [[0.0; 8]; MIN_SAMPLES];
        for (i, group) in to.groups.iter_mut().enumerate() {
            for lane in 0..8 {
                let begin = (i * samples_of_group + lane * stride * BLOCK).min(last);
                for (to, x) in samples.iter_mut().zip(&scaled[begin..begin + MIN_SAMPLES]) {
                    to[lane] = (x.signed() >> excess) as f64;
                }
            }
            // SAFETY: the caller vouches for the CPU.
            unsafe { group.fill::<I::Lanes>(&samples) };
        }
    }
}

struct Bits<'a> {
    of: &'a Covariances,
    form: &'a Form,
}

impl Kernel for Bits<'_> {
    type Output = f64;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> f64 {
        let quiet = self.of.quiet();
        let mut bits = 0.0;
        // Energies are below 2^80 and above 2^-20, so products of eight are normal numbers.
        for groups in self.of.groups.chunks(8) {
            let mut products = [0.0; 8];
            // SAFETY: the caller vouches for the CPU.
            unsafe {
                let mut product = I::Lanes::splat(1.0);
                for group in groups {
                    product = product.mul(group.energies(self.form, quiet));
                }
                product.store(&mut products);
            }
            for product in products {
                bits += log2(product);
            }
        }
        bits
    }
}

struct Weighted<'a> {
    of: &'a Covariances,
    form: &'a Form,
}

impl Kernel for Weighted<'_> {
    type Output = Pairs;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Pairs {
        let quiet = self.of.quiet();
        let mut sums = Group::ZERO;
        for groups in self.of.groups.chunks(8) {
            let mut weights = [[0.0; 8]; 8];
            // SAFETY: the caller vouches for the CPU.
            unsafe {
                for (group, to) in groups.iter().zip(&mut weights) {
                    I::Lanes::splat(1.0).div(group.energies(self.form, quiet)).store(to);
                }
                // As many sums as registers hold, each in the order of the groups.
                for (i, sums) in sums.0.as_chunks_mut::<SUMS>().0.iter_mut().enumerate() {
                    let mut held = [I::Lanes::splat(0.0); SUMS];
                    for (held, sum) in held.iter_mut().zip(&*sums) {
                        *held = I::Lanes::load(sum);
                    }
                    for (group, weights) in groups.iter().zip(&weights) {
                        let weights = I::Lanes::load(weights);
                        for (held, terms) in held.iter_mut().zip(&group.0[i * SUMS..][..SUMS]) {
                            *held = held.add(I::Lanes::load(terms).mul(weights));
                        }
                    }
                    for (held, sum) in held.into_iter().zip(sums) {
                        held.store(sum);
                    }
                }
            }
        }
        Pairs(sums.0.map(|lanes| lanes.iter().sum()))
    }
}

/// The covariances of eight blocks.
///
/// # Safety
/// For all functions, the CPU must support the tier of `L`.
struct Group([[f64; 8]; PAIRS]);

impl Group {
    const ZERO: Group = Group([[0.0; 8]; PAIRS]);

    /// Returns the value of `form` for each block, at least 0, plus `quiet`.
    #[inline(always)]
    unsafe fn energies<L: Lanes>(&self, form: &Form, quiet: f64) -> L {
        // SAFETY: the caller vouches for the CPU.
        unsafe {
            let mut sums = [L::splat(0.0); 3];
            if form.short {
                // All other terms are zero, and each of these is added to the same sum as below.
                self.add_terms(form, [place(0, 0), place(0, 1), place(0, 2)], &mut sums);
                self.add_terms(form, [place(1, 0), place(1, 1), place(2, 0)], &mut sums);
            } else {
                for at in (0..PAIRS).step_by(3) {
                    self.add_terms(form, [at, at + 1, at + 2], &mut sums);
                }
            }
            sums[0].add(sums[1]).add(sums[2]).max(L::splat(0.0)).add(L::splat(quiet))
        }
    }

    /// Adds a term of `form` to each sum.
    #[inline(always)]
    unsafe fn add_terms<L: Lanes>(&self, form: &Form, places: [usize; 3], sums: &mut [L; 3]) {
        for i in 0..3 {
            let (terms, weight) = (&self.0[places[i]], form.weights.0[places[i]]);
            // SAFETY: the caller vouches for the CPU.
            unsafe { sums[i] = sums[i].add(L::load(terms).mul(L::splat(weight))) };
        }
    }

    /// Computes the covariances of blocks, from their samples and [`MAX_ORDER`] samples before
    /// each.
    #[inline(always)]
    unsafe fn fill<L: Lanes>(&mut self, x: &[[f64; 8]; MIN_SAMPLES]) {
        // SAFETY: the caller vouches for the CPU.
        unsafe {
            for first in (0..=MAX_ORDER).step_by(LAGS) {
                let mut sums = [L::splat(0.0); LAGS];
                for t in MAX_ORDER..MIN_SAMPLES {
                    let here = L::load(&x[t]);
                    for (lag, sum) in sums.iter_mut().enumerate() {
                        *sum = sum.add(here.mul(L::load(&x[t - first - lag])));
                    }
                }
                for (sum, to) in sums.into_iter().zip(&mut self.0[first..]) {
                    sum.store(to);
                }
            }
            // With both delays longer by one, the sum loses the product at the block's end, and
            // gains the one before its beginning.
            for i in 0..MAX_ORDER {
                let gained = &x[..MAX_ORDER - i];
                let lost = &x[..MIN_SAMPLES - i];
                for difference in 0..MAX_ORDER - i {
                    let sum = L::load(&self.0[place(i, difference)]);
                    let sum = sum.add(last_product(gained, difference)).sub(last_product(lost, difference));
                    sum.store(&mut self.0[place(i + 1, difference)]);
                }
            }
        }
    }
}

/// Returns the last sample times the one `delay` before it.
///
/// # Safety
/// The CPU must support the tier of `L`.
#[inline(always)]
unsafe fn last_product<L: Lanes>(x: &[[f64; 8]], delay: usize) -> L {
    let last = x.len() - 1;
    // SAFETY: the caller vouches for the CPU.
    unsafe { L::load(&x[last]).mul(L::load(&x[last - delay])) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns where the blocks of a group begin.
    fn begins(n: usize, group: usize, stride: usize) -> impl Iterator<Item = usize> {
        (0..8).map(move |lane| MAX_ORDER + ((8 * group + lane) * stride * BLOCK).min(n - MIN_SAMPLES))
    }

    #[test]
    fn terms_are_sums_of_products_of_delayed_samples() {
        for (n, stride, groups) in
            [(40, 1, 1), (41, 1, 1), (300, 1, 2), (296, 1, 1), (297, 1, 2), (900, 3, 2)]
        {
            let words: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 9).collect();
            let mut covariances = Covariances::default();
            covariances.fill(Tier::Scalar, &words, stride);
            assert_eq!((covariances.groups.len(), covariances.excess), (groups, 0), "{n} samples");
            for (g, group) in covariances.groups.iter().enumerate() {
                for (lane, begin) in begins(n, g, stride).enumerate() {
                    let product =
                        |t: usize, i: usize, j: usize| u64::from(words[t - i]) * u64::from(words[t - j]);
                    for i in 0..=MAX_ORDER {
                        for j in i..=MAX_ORDER {
                            let want: u64 = (begin..begin + BLOCK).map(|t| product(t, i, j)).sum();
                            assert_eq!(
                                group.0[place(i, j - i)][lane],
                                want as f64,
                                "{n} samples, delays {i}, {j}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn energies_are_those_of_residuals() {
        let words: Vec<u16> = (0..1000u32).map(|i| (i * i * 31 % 1000) as u16).collect();
        let mut covariances = Covariances::default();
        covariances.fill(Tier::Scalar, &words, 1);
        let taps = [1.5, -0.75, 0.0, 2.0, 0.25, 0.0, -1.0, 0.125];
        let residual = |t: usize| {
            let predicted: f64 =
                taps.iter().enumerate().map(|(i, tap)| tap * f64::from(words[t - 1 - i])).sum();
            f64::from(words[t]) - predicted
        };
        for (g, group) in covariances.groups.iter().enumerate() {
            let want = begins(words.len(), g, 1)
                .map(|begin| (begin..begin + BLOCK).map(|t| residual(t) * residual(t)).sum::<f64>());
            // SAFETY: every CPU supports the scalar tier.
            let energies = unsafe { group.energies::<[f64; 8]>(&Form::new(&taps), 0.0) };
            assert!(energies.into_iter().eq(want));
        }
    }

    #[test]
    fn samples_of_all_bits_are_shifted() {
        let mut covariances = Covariances::default();
        covariances.fill(Tier::Scalar, &[0x8000_0000u32; 80], 1);
        assert_eq!((covariances.excess, covariances.groups.len()), (9, 1));
        // Shifted by 9 bits the samples are -2^22.
        assert_eq!(covariances.groups[0].0[place(8, 0)], [(32u64 << 44) as f64; 8]);
    }
}

//! The scale of a segment: samples = centre + step x scaled, in wrapping arithmetic.
//!
//! Left-justified samples of converters, or samples multiplied by a constant, differ by multiples
//! of a step; dividing by it removes these bits from every sample.

use super::element::Word;

/// Number of samples used for the median of a segment.
const MEDIAN_SAMPLES: usize = 255;

fn value<W: Word>(word: W, signed: bool) -> i64 {
    if signed { word.signed() } else { word.get() as i64 }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest common divisor of all differences of samples, 1 if all samples are equal.
#[inline(always)]
pub(super) fn step<W: Word>(words: &[W], signed: bool) -> W {
    let Some((&first, rest)) = words.split_first() else { return W::of(1) };
    let first = value(first, signed);
    let mut step = 0;
    for &word in rest {
        let difference = value(word, signed).abs_diff(first);
        if difference.is_multiple_of(step) {
            continue;
        }
        step = gcd(step, difference);
        if step == 1 {
            break;
        }
    }
    // The largest step of 32-bit samples is 2^32 - 1.
    W::of(step.max(1))
}

/// Approximate median: the median of at most [`MEDIAN_SAMPLES`] evenly spread samples.
#[inline(always)]
pub(super) fn middle<W: Word>(words: &[W], signed: bool) -> W {
    // Values are in the order of unsigned numbers. Unused entries are the largest value, which is
    // never below another.
    let sign = W::of(if signed { 1 << (W::BITS - 1) } else { 0 });
    let mut some = [W::of(u64::MAX); MEDIAN_SAMPLES + 1];
    let stride = words.len().div_ceil(MEDIAN_SAMPLES).max(1);
    let spread = words.iter().step_by(stride);
    let half = spread.len() / 2;
    for (to, word) in some.iter_mut().zip(spread) {
        *to = word.flipped(sign);
    }
    // The largest value that at most half of the samples are below, bit by bit.
    let mut middle = W::default();
    for bit in (0..W::BITS).rev() {
        let next = middle.plus(W::of(1 << bit));
        let mut below = 0u16;
        for &x in &some {
            below += u16::from(x < next);
        }
        if usize::from(below) <= half {
            middle = next;
        }
    }
    if words.is_empty() { W::default() } else { middle.flipped(sign) }
}

/// Scales samples. `centre` must be one of them unless `step` is 1.
///
/// The result fits a signed word, because a step of 2 or more at least halves the range of the
/// differences.
#[inline(always)]
pub(super) fn scale<W: Word>(words: &[W], signed: bool, centre: W, step: W, out: &mut [W]) {
    if step == W::of(1) {
        words.iter().zip(out).for_each(|(x, out)| *out = x.minus(centre));
        return;
    }
    let (centre, step) = (value(centre, signed), step.get() as i64);
    words.iter().zip(out).for_each(|(&x, out)| *out = W::of(((value(x, signed) - centre) / step) as u64));
}

/// The inverse of [`scale`], in place.
pub(super) fn unscale<W: Word>(words: &mut [W], centre: W, step: W) {
    if step == W::of(1) {
        words.iter_mut().for_each(|x| *x = x.plus(centre));
    } else {
        words.iter_mut().for_each(|x| *x = x.times(step).plus(centre));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_is_the_gcd_of_differences() {
        assert_eq!(step(&[7u16, 7, 7], false), 1);
        assert_eq!(step(&[65_520u16, 16, 0, 48], false), 16);
        assert_eq!(step(&[(-5i16) as u16, 7, 19], true), 12);
        assert_eq!(step(&[0, u32::MAX], false), u32::MAX);
        assert_eq!(step::<u16>(&[], false), 1);
    }

    #[test]
    fn widest_ranges_round_trip() {
        for (words, step) in
            [([0u16, 65_535, 65_533], 1u16), ([1, 65_535, 65_533], 2), ([0, 65_535, 0], 65_535)]
        {
            assert_eq!(super::step(&words, false), step);
            for centre in words {
                let mut scaled = [0; 3];
                scale(&words, false, centre, step, &mut scaled);
                unscale(&mut scaled, centre, step);
                assert_eq!(scaled, words);
            }
        }
    }
}

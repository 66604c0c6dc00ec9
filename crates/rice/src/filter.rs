//! The FIR filter and its inverse, modulo 2^16. Zeros stand for the samples before a segment.

use crate::params::Filter;

/// Writes the filtered samples `start..start + out.len()` of a segment.
pub(crate) fn forward(filter: &Filter, segment: &[i16], start: usize, out: &mut [i16]) {
    out.copy_from_slice(&segment[start..start + out.len()]);
    let first = filter.taps()[0] as i16;
    out.iter_mut().for_each(|y| *y = y.wrapping_mul(first));
    for (lag, &tap) in filter.taps().iter().enumerate().skip(1) {
        // The first `lag` samples of a segment have nothing before them.
        let skip = lag.saturating_sub(start).min(out.len());
        let past = &segment[(start + skip).saturating_sub(lag)..];
        let tap = tap as i16; // arithmetic is modulo 2^16
        out[skip..].iter_mut().zip(past).for_each(|(y, &x)| *y = y.wrapping_add(tap.wrapping_mul(x)));
    }
}

/// Inverts the filter of a segment, in place.
///
/// A sample is y\[i\] - c\[1\] x\[i-1\] - ..., wrapped to 16 bits, divided by c\[0\] with
/// truncation toward zero, and wrapped again. So c\[0\] = -1 negates, and -32768 stays -32768.
pub(crate) fn inverse(filter: &Filter, segment: &mut [i16]) {
    match *filter.taps() {
        [1] => {}
        [1, a] => recur(segment, [a as i16]),
        [1, a, b] => recur(segment, [b as i16, a as i16]),
        [1, a, b, c] => recur(segment, [c as i16, b as i16, a as i16]),
        _ => inverse_any(filter.taps(), segment),
    }
}

/// The inverse for c\[0\] = 1 with the history in registers. `taps` are in reverse order, so
/// that they match `past`, which has the newest sample last.
fn recur<const N: usize>(segment: &mut [i16], taps: [i16; N]) {
    let mut past = [0i16; N];
    for sample in segment {
        let sum = (0..N).fold(*sample, |sum, j| sum.wrapping_sub(taps[j].wrapping_mul(past[j])));
        past.copy_within(1.., 0);
        past[N - 1] = sum;
        *sample = sum;
    }
}

/// The inverse for any coefficients.
fn inverse_any(taps: &[i32], segment: &mut [i16]) {
    for i in 0..segment.len() {
        let past = segment[i.saturating_sub(taps.len() - 1)..i].iter().rev();
        let sum = taps[1..]
            .iter()
            .zip(past)
            .fold(segment[i], |sum, (&tap, &x)| sum.wrapping_sub((tap as i16).wrapping_mul(x)));
        segment[i] = (i64::from(sum) / i64::from(taps[0])) as i16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize) -> Vec<i16> {
        let mut s = 1u32;
        (0..n)
            .map(|_| {
                s = s.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                (s >> 16) as i16
            })
            .collect()
    }

    #[test]
    fn filtering_in_pieces_round_trips() {
        let x = noise(1000);
        for taps in [
            &[1][..],
            &[1, -1],
            &[1, -2, 1],
            &[1, -1, 1, -1],
            &[1, -3, 3, -1],
            &[-1, 1],
            &[-1, 2, -1],
            &[1, 2, 3, 4, 5, 70_000],
        ] {
            let filter = Filter::new(taps).unwrap();
            for piece in [1, 3, 64, 1000] {
                let mut y = vec![0; x.len()];
                y.chunks_mut(piece).enumerate().for_each(|(i, out)| forward(&filter, &x, i * piece, out));
                inverse(&filter, &mut y);
                assert_eq!(y, x, "{taps:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn specialised_inverses_equal_the_general_one() {
        for taps in [&[1, -1][..], &[1, -2, 1], &[1, -3, 3, -1], &[1, 7, -9, 40_000]] {
            let (mut a, mut b) = (noise(300), noise(300));
            inverse(&Filter::new(taps).unwrap(), &mut a);
            inverse_any(taps, &mut b);
            assert_eq!(a, b, "{taps:?}");
        }
    }

    #[test]
    fn division_truncates_toward_zero_and_wraps() {
        let mut segment = [-32768, 0];
        inverse(&Filter::new(&[-1, 0]).unwrap(), &mut segment);
        assert_eq!(segment, [-32768, 0]);
        let mut segment = [-7, 7, 5];
        inverse(&Filter::new(&[2]).unwrap(), &mut segment);
        assert_eq!(segment, [-3, 3, 2]);
    }
}

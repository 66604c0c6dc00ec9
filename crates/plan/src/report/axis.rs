//! An axis of a chart: maps values to pixels, and chooses round values to mark.

use std::fmt::Write as _;

use crate::units;

/// Maps the values `low..=high` to the pixels from `from` to `to`. On a vertical axis `from` is the
/// larger, since pixels count downwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) logarithmic: bool,
}

impl Axis {
    /// Returns the pixel of a value. A value outside the axis gets the nearer end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let part = match self.logarithmic {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        self.from + part * (self.to - self.from)
    }

    /// Returns the value at a point of the axis, where `part` is 0 at `low` and 1 at `high`.
    pub(super) fn value(&self, part: f64) -> f64 {
        match self.logarithmic {
            true => self.low * (self.high / self.low).powf(part),
            false => self.low + part * (self.high - self.low),
        }
    }

    /// Returns at most `max` round values within the axis, to be marked on it.
    pub(super) fn ticks(&self, max: usize) -> Vec<f64> {
        if self.logarithmic {
            for mantissas in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
                let ticks = self.decades(mantissas);
                if (3..=max).contains(&ticks.len()) {
                    return ticks;
                }
            }
        }
        self.even(max)
    }

    /// Draws horizontal lines at no more than `max` round rates, from `left` to `right`, and writes
    /// each rate to the left of its line.
    pub(super) fn rate_grid(&self, svg: &mut String, max: usize, left: f64, right: f64) {
        for tick in self.ticks(max) {
            let at = self.at(tick);
            let (before, below) = (left - 8.0, at + 4.0);
            let _ = writeln!(svg, r#"<path class="grid" d="M{left} {at:.1}H{right:.1}"/>"#);
            let rate = units::rate(tick);
            let _ = writeln!(
                svg,
                r#"<text class="tick" x="{before}" y="{below:.1}" text-anchor="end">{rate}</text>"#
            );
        }
    }

    fn decades(&self, mantissas: &[f64]) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let ticks = decades.flat_map(|decade| mantissas.iter().map(move |m| m * 10f64.powi(decade)));
        ticks.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }

    /// Returns at most `max` values within the axis, equally spaced: multiples of 1, 2 or 5 times a
    /// power of ten.
    fn even(&self, max: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / max as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        (first..)
            .map(|n| n as f64 * step)
            .take_while(|tick| *tick <= self.high * (1.0 + 1e-9))
            .take(max)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64, logarithmic: bool) -> Axis {
        Axis { low, high, from: 0.0, to: 100.0, logarithmic }
    }

    #[test]
    fn values_become_pixels_and_ends_are_not_left() {
        assert_eq!([0.0, 5.0, 20.0].map(|v| axis(0.0, 10.0, false).at(v)), [0.0, 50.0, 100.0]);
        assert_eq!(axis(1.0, 100.0, true).at(10.0), 50.0);
        assert_eq!(axis(1.0, 100.0, true).value(0.5), 10.0);
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(axis(0.0, 10.0, false).ticks(6), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(axis(1.0, 100.0, true).ticks(8), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(axis(1.0, 1e6, true).ticks(8).len(), 7);
        assert_eq!(
            axis(1.0, 1.5, true).ticks(6),
            [1.0, 1.1, 1.2000000000000002, 1.3, 1.4000000000000001, 1.5]
        );
    }
}

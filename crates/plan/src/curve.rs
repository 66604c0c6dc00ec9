//! The speed of a candidate as a function of the number of cores, from measurements with several
//! numbers of threads.

use crate::measurement::{Scaling, Speed};

/// Largest number of cores that is tried, to find how many reach a speed.
const MAX_CORES: usize = 1024;
/// Share of a speed from which the speed counts as reached, and a pipe as saturated.
pub(crate) const SATURATED: f64 = 0.999;

/// Speed by number of cores: linear between measured points, and proportional to the cores below
/// the first point. Beyond the last point, each thread adds as much as between the last two points,
/// but at most the mean speed per thread. The curve never falls, since cores that do not help stay
/// idle.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The measured points in ascending order of threads. Their median speeds never fall.
    points: Vec<Scaling>,
}

impl Curve {
    /// Makes the curve through the speed of one thread and the speeds by number of threads. A point
    /// that is slower than the one before gets its speed. Returns `None` if no finite speed above
    /// zero was measured.
    pub fn new(one_thread: Option<Speed>, scaling: &[Scaling]) -> Option<Self> {
        let one_thread = one_thread.map(|speed| Scaling { threads: 1, speed });
        let mut points: Vec<Scaling> = scaling.iter().copied().chain(one_thread).filter(is_usable).collect();
        // The sort is stable: of points for the same number of threads the first stays, so
        // `scaling` has precedence over `one_thread`.
        points.sort_by_key(|point| point.threads);
        points.dedup_by_key(|point| point.threads);
        let mut best = *points.first()?;
        for point in &mut points {
            point.speed = in_order(point.speed);
            if point.speed.median < best.speed.median {
                point.speed = best.speed;
            }
            best = *point;
        }
        Some(Self { points })
    }

    /// Returns the measured points, each raised to at least the speed of the one before.
    pub(crate) fn points(&self) -> &[Scaling] {
        &self.points
    }

    /// Whether `cores` lies between the smallest and the largest measured number of threads.
    pub(crate) fn covers(&self, cores: usize) -> bool {
        self.points[0].threads <= cores && cores <= self.last().threads
    }

    /// Returns the largest measured number of threads.
    pub(crate) fn max_threads(&self) -> usize {
        self.last().threads
    }

    /// Returns the speed on `cores` cores.
    pub fn on(&self, cores: usize) -> Speed {
        let first = self.points[0];
        if cores <= first.threads {
            return scaled(first.speed, cores as f64 / first.threads as f64);
        }
        for pair in self.points.windows(2) {
            if cores <= pair[1].threads {
                return between(pair[0], pair[1], cores);
            }
        }
        let last = self.last();
        let more = (cores - last.threads) as f64;
        scaled(last.speed, 1.0 + more * self.last_gain() / last.speed.median)
    }

    /// Returns the fewest cores, up to `MAX_CORES`, whose median speed is at least 99.9 % of
    /// `speed`, in bytes of content per second. `None` if there are none.
    pub(crate) fn cores_for(&self, speed: f64) -> Option<usize> {
        (1..=MAX_CORES).find(|cores| self.on(*cores).median >= speed * SATURATED)
    }

    /// Returns the bytes per second that each thread added between the last two points, or the mean
    /// speed per thread at the last point if that is lower, since a larger gain is noise. With only
    /// one point, returns its speed per thread.
    fn last_gain(&self) -> f64 {
        let last = self.last();
        let share = last.speed.median / last.threads as f64;
        match self.points.len() {
            1 => share,
            n => {
                let before = self.points[n - 2];
                let gain = last.speed.median - before.speed.median;
                (gain / (last.threads - before.threads) as f64).min(share)
            }
        }
    }

    fn last(&self) -> &Scaling {
        &self.points[self.points.len() - 1]
    }
}

fn is_usable(point: &Scaling) -> bool {
    point.threads > 0 && point.speed.median.is_finite() && point.speed.median > 0.0
}

/// Lowers `low` to at most the median, and raises `high` to at least the median.
fn in_order(Speed { low, median, high }: Speed) -> Speed {
    // A `low` that is NaN or not above zero becomes the median, and so does a `high` that is not
    // finite.
    let low = if low > 0.0 { low.min(median) } else { median };
    Speed { low, median, high: if high.is_finite() { high.max(median) } else { median } }
}

fn scaled(speed: Speed, factor: f64) -> Speed {
    Speed { low: speed.low * factor, median: speed.median * factor, high: speed.high * factor }
}

fn between(a: Scaling, b: Scaling, threads: usize) -> Speed {
    let part = (threads - a.threads) as f64 / (b.threads - a.threads) as f64;
    let mix = |a: f64, b: f64| a + (b - a) * part;
    Speed {
        low: mix(a.speed.low, b.speed.low),
        median: mix(a.speed.median, b.speed.median),
        high: mix(a.speed.high, b.speed.high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(median: f64) -> Speed {
        Speed { low: median * 0.9, median, high: median * 1.1 }
    }

    fn at(threads: usize, median: f64) -> Scaling {
        Scaling { threads, speed: speed(median) }
    }

    #[test]
    fn measured_points_are_kept_and_others_are_interpolated() {
        let curve = Curve::new(Some(speed(100.0)), &[at(2, 190.0), at(4, 300.0)]).unwrap();
        assert_eq!([1, 2, 4].map(|n| curve.on(n).median), [100.0, 190.0, 300.0]);
        assert_eq!(curve.on(3).median, 245.0);
        assert!(curve.covers(3) && !curve.covers(5));
    }

    #[test]
    fn beyond_the_last_point_the_last_gain_continues() {
        let curve = Curve::new(Some(speed(100.0)), &[at(2, 160.0)]).unwrap();
        assert_eq!(curve.on(4).median, 280.0);
        let one = Curve::new(Some(speed(100.0)), &[]).unwrap();
        assert_eq!(one.on(3).median, 300.0);
        let superlinear = Curve::new(Some(speed(100.0)), &[at(2, 300.0)]).unwrap();
        assert_eq!(superlinear.on(3).median, 450.0);
    }

    #[test]
    fn threads_that_slow_it_down_stay_idle() {
        let curve = Curve::new(Some(speed(100.0)), &[at(2, 80.0)]).unwrap();
        assert_eq!(curve.on(2).median, 100.0);
        assert_eq!(curve.cores_for(101.0), None);
    }

    #[test]
    fn cores_for_a_speed_are_the_fewest() {
        let curve = Curve::new(Some(speed(100.0)), &[at(2, 200.0)]).unwrap();
        assert_eq!(curve.cores_for(100.0), Some(1));
        assert_eq!(curve.cores_for(100.2), Some(2));
        assert_eq!(curve.cores_for(550.0), Some(6));
        assert_eq!(curve.cores_for(f64::INFINITY), None);
    }

    #[test]
    fn points_without_a_speed_are_left_out() {
        let nothing = Speed::default();
        let odd = Speed { median: f64::NAN, ..nothing };
        assert_eq!(Curve::new(Some(nothing), &[Scaling { threads: 2, speed: odd }, at(0, 5.0)]), None);
        let only_median = Curve::new(Some(Speed { median: 5.0, ..nothing }), &[]).unwrap();
        assert_eq!(only_median.on(1), Speed { low: 5.0, median: 5.0, high: 5.0 });
    }
}

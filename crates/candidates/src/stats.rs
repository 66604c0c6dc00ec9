//! Computes the best and the median of repeated measurements, and speeds from bytes and times.

use std::time::Duration;

/// Returns the shortest time, or `None` if there are no times.
pub fn best(times: &[Duration]) -> Option<Duration> {
    times.iter().min().copied()
}

/// Returns the median time: the middle one in order of length, or the mean of the two middle ones.
/// Returns `None` if there are no times.
pub fn median(times: &[Duration]) -> Option<Duration> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some((sorted[low] + sorted[high]) / 2)
}

/// Returns the median: the middle number in order of size, or the mean of the two middle ones.
/// Returns 0 if there are no numbers.
pub fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    match numbers.len() {
        0 => 0.0,
        n => (numbers[(n - 1) / 2] + numbers[n / 2]) / 2.0,
    }
}

/// Returns megabytes (10^6 bytes) per second. Zero time gives infinity, or NaN for zero bytes.
pub fn speed(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(times: &[u64]) -> Vec<Duration> {
        times.iter().copied().map(Duration::from_millis).collect()
    }

    #[test]
    fn best_is_the_shortest() {
        assert_eq!(best(&ms(&[9, 3, 5])), Some(Duration::from_millis(3)));
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn median_is_the_middle_in_any_order() {
        assert_eq!(median(&ms(&[9, 3, 5])), Some(Duration::from_millis(5)));
        assert_eq!(median(&ms(&[9, 3, 5, 100])), Some(Duration::from_millis(7)));
        assert_eq!(median(&ms(&[4])), Some(Duration::from_millis(4)));
        assert_eq!(median(&[]), None);
        assert_eq!(middle(vec![2.0, 8.0, 1.0, 4.0]), 3.0);
        assert_eq!(middle(vec![2.0, 8.0, 1.0]), 2.0);
        assert_eq!(middle(vec![]), 0.0);
    }

    #[test]
    fn speed_counts_decimal_megabytes() {
        assert_eq!(speed(5_000_000, Duration::from_millis(500)), 10.0);
        assert_eq!(speed(1, Duration::ZERO), f64::INFINITY);
    }
}

//! Formats numbers for people, with few digits and a unit.

/// Formats bytes per second in decimal units, as for drives and networks: `3.4 GB/s`.
pub fn rate(bytes_per_second: f64) -> String {
    with_unit(bytes_per_second, 1000.0, &["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])
}

/// Formats bytes of memory or of a file in binary units: `1.5 MiB`.
pub fn size(bytes: u64) -> String {
    with_unit(bytes as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// Formats seconds: `12.4 us`, `3.4 ms`.
pub fn time(seconds: f64) -> String {
    with_unit(seconds * 1e9, 1000.0, &["ns", "us", "ms", "s"])
}

/// Formats a ratio: `1.04x`, `2.1x`, `110x`.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if r < 1.995 => format!("{r:.2}x"),
        r if r < 9.95 => format!("{r:.1}x"),
        r => format!("{r:.0}x"),
    }
}

/// Formats a number of cores: `1 core`, `2 cores`.
pub fn cores(count: usize) -> String {
    match count {
        1 => "1 core".into(),
        _ => format!("{count} cores"),
    }
}

fn with_unit(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    // A value from `step - 0.5` on would be rounded to `step` (such as `1000`), so it gets the next
    // unit.
    while value.abs() >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value.abs() < 99.95);
    let number = format!("{value:.digits$}");
    format!("{} {}", number.strip_suffix(".0").unwrap_or(&number), units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_few_digits_and_a_unit() {
        assert_eq!(rate(3.44e9), "3.4 GB/s");
        assert_eq!(rate(7e9), "7 GB/s");
        assert_eq!(rate(550e6), "550 MB/s");
        assert_eq!(rate(999.7e6), "1 GB/s");
        assert_eq!(rate(0.0), "0 B/s");
        assert_eq!(rate(-2e6), "-2 MB/s");
        assert_eq!(size(512), "512 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(64 << 20), "64 MiB");
        assert_eq!(time(12.4e-6), "12.4 us");
        assert_eq!(time(0.0034), "3.4 ms");
        assert_eq!(ratio(1.0), "1.00x");
        assert_eq!(ratio(2.13), "2.1x");
        assert_eq!(ratio(110.4), "110x");
    }
}

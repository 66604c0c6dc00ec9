//! Parses sizes and counts on the command line: whole numbers, optionally with K, M or G in either
//! case. K is 1024 in sizes and 1000 in counts; M and G are the square and the cube of K.

use std::ops::{Range, RangeInclusive};

/// Parses a number of bytes, such as 17, 64K, 1M or 2GiB. KB and KiB are the same as K.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    scaled(text, 1024, &["B", "KB", "MB", "GB", "KIB", "MIB", "GIB"])
        .ok_or_else(|| format!("`{text}` is not a size; give a whole number, optionally with K, M or G"))?
        .ok_or_else(|| format!("`{text}` is too large"))
}

/// Parses a range of bytes: START+LENGTH, or START+ for all bytes from START, whose end is
/// [`u64::MAX`]. START and LENGTH are sizes.
pub(crate) fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, len) = text
        .split_once('+')
        .ok_or_else(|| format!("`{text}` is not a range; give START+LENGTH, such as 10M+64K, or START+"))?;
    let start = parse(start)?;
    let end = if len.is_empty() { Some(u64::MAX) } else { start.checked_add(parse(len)?) };
    end.map(|end| start..end).ok_or_else(|| format!("`{text}` is too large"))
}

/// Makes the parser of a count that must be within `range`.
pub(crate) fn count(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| {
        let count = scaled(text, 1000, &[]).ok_or_else(|| {
            format!("`{text}` is not a count; give a whole number, optionally with K, M or G")
        })?;
        count.filter(|count| range.contains(count)).ok_or_else(|| match *range.end() {
            u64::MAX => format!("`{text}` is not a count of {} or more", range.start()),
            end => format!("`{text}` is not a count from {} to {end}", range.start()),
        })
    }
}

/// Parses a number and multiplies it by the power of `base` that its suffix means: none, K, M, G or
/// one of `more`, which count by their first letter. Returns `None` if `text` is no such number,
/// and `Some(None)` if the number or the product exceeds 64 bits.
fn scaled(text: &str, base: u64, more: &[&str]) -> Option<Option<u64>> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let suffix = text[digits.len()..].to_ascii_uppercase();
    let is_known = matches!(&suffix[..], "" | "K" | "M" | "G") || more.contains(&&suffix[..]);
    let power = "KMG".find(suffix.chars().next().unwrap_or('B')).map_or(0, |at| at as u32 + 1);
    // The standard library's `parse` would accept a sign.
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_known && is_number)
        .then(|| digits.parse().ok().and_then(|number: u64| number.checked_mul(base.pow(power))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_with_or_without_suffix_is_a_size_in_bytes() {
        for (text, bytes) in
            [("0", 0), ("17", 17), ("4k", 4096), ("128K", 131_072), ("1M", 1 << 20), ("2GiB", 2 << 30)]
        {
            assert_eq!(parse(text), Ok(bytes));
        }
    }

    #[test]
    fn ranges_are_a_start_and_a_length() {
        assert_eq!(range("10+5"), Ok(10..15));
        assert_eq!(range("1G+1M"), Ok((1 << 30)..(1 << 30) + (1 << 20)));
        assert_eq!(range("4K+"), Ok(4096..u64::MAX));
        for text in ["", "+", "+5", "10", "10-20", "1+2+3", "1+-2", "18446744073709551615+1"] {
            assert!(range(text).is_err(), "{text}");
        }
    }

    #[test]
    fn signs_fractions_unknown_suffixes_and_overflow_are_errors() {
        for text in ["", "K", "-1", "+1", "1.5M", "4X", "k4", "99999999999999999999", "99999999999G", "4 K"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn suffixes_of_counts_are_those_of_sizes_with_powers_of_1000() {
        let parse = count(1..=10_000_000_000);
        for (text, number) in [
            ("1", 1),
            ("20k", 20_000),
            ("20K", 20_000),
            ("3m", 3_000_000),
            ("3M", 3_000_000),
            ("10g", 10_000_000_000),
        ] {
            assert_eq!(parse(text), Ok(number), "{text}");
        }
        for text in ["", "k", "0", "11G", "1KiB", "1B", "-1", "+1", "1.5k", "99999999999G"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse("0").unwrap_err(), "`0` is not a count from 1 to 10000000000");
    }
}

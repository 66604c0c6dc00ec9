//! Sizes on the command line: a number of bytes, or with K, M or G a multiple of 1024.

/// Parses a number of bytes.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let bad = || format!("`{text}` is not a size: give bytes, or a number with K, M or G");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err(bad()),
    };
    let number: u64 = digits.parse().map_err(|_| bad())?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` is too large"))
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
    fn signs_fractions_unknown_suffixes_and_overflow_are_errors() {
        for text in ["", "K", "-1", "1.5M", "4X", "k4", "99999999999999999999", "99999999999G", "4 K"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

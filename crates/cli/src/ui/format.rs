//! Compression ratios for tables and `--json`.

/// Compression ratio: `content`, the bytes of content, divided by `bytes`, the compressed bytes. 0
/// compressed bytes count as 1.
pub(crate) fn ratio(content: u64, bytes: u64) -> f64 {
    content as f64 / bytes.max(1) as f64
}

/// The [`ratio`] rounded to four decimal places, for `--json`.
pub(crate) fn rounded(content: u64, bytes: u64) -> f64 {
    (ratio(content, bytes) * 1e4).round() / 1e4
}

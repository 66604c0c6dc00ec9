//! Parses filters of contenders, chunk sizes, and numbers of bytes.

use std::fmt;
use std::str::FromStr;

/// Chooses contenders by a comma-separated list of parts of their names, without regard to case. An
/// empty list chooses all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter(Vec<String>);

impl Filter {
    /// Whether the filter chooses a contender with this label, which is its name and format.
    pub fn admits(&self, label: &str) -> bool {
        let label = label.to_lowercase();
        self.0.is_empty() || self.0.iter().any(|part| holds(&label, part))
    }
}

/// Whether `label` contains `part`, and `part` does not end within a number: the label `zlib 12`
/// does not hold the part `zlib 1`.
fn holds(label: &str, part: &str) -> bool {
    let ends_in_digit = part.ends_with(|c: char| c.is_ascii_digit());
    label
        .match_indices(part)
        .any(|(at, _)| !(ends_in_digit && label[at + part.len()..].starts_with(|c: char| c.is_ascii_digit())))
}

impl FromStr for Filter {
    type Err = std::convert::Infallible;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ok(Filter(s.split(',').map(|p| p.trim().to_lowercase()).filter(|p| !p.is_empty()).collect()))
    }
}

/// The part of a file that one call of a contender gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// This many bytes, at least one; at the end of a file, fewer.
    Bytes(usize),
    /// The whole file.
    Whole,
}

impl Chunk {
    /// The size of the pieces that files are cut into, in bytes; `usize::MAX` for whole files.
    pub fn size(self) -> usize {
        match self {
            Chunk::Bytes(n) => n,
            Chunk::Whole => usize::MAX,
        }
    }
}

impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Chunk::Whole => f.write_str("whole"),
            Chunk::Bytes(n) if n % (1 << 20) == 0 => write!(f, "{}M", n >> 20),
            Chunk::Bytes(n) if n % (1 << 10) == 0 => write!(f, "{}K", n >> 10),
            Chunk::Bytes(n) => write!(f, "{n}"),
        }
    }
}

impl FromStr for Chunk {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if s == "whole" {
            return Ok(Chunk::Whole);
        }
        match usize::try_from(parse_bytes(s)?) {
            Ok(n) if n > 0 => Ok(Chunk::Bytes(n)),
            _ => Err(format!("`{s}`: a chunk has at least one byte")),
        }
    }
}

/// Parses a number of bytes: digits, then nothing, `K` or `k` (1024), or `M` or `m` (1024^2).
///
/// # Errors
/// A sentence that quotes the text, if it is no such number or does not fit 64 bits.
pub fn parse_bytes(s: &str) -> Result<u64, String> {
    let (digits, shift) = match s.as_bytes().last() {
        Some(b'K' | b'k') => (&s[..s.len() - 1], 10),
        Some(b'M' | b'm') => (&s[..s.len() - 1], 20),
        _ => (s, 0),
    };
    let n: u64 = digits.parse().map_err(|_| format!("`{s}`: not a number of bytes (16384, 16K, 1M)"))?;
    n.checked_mul(1 << shift).ok_or_else(|| format!("`{s}`: too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_takes_parts_of_names_but_cuts_no_number() {
        let filter: Filter = "libdeflate 1, ISA-L".parse().unwrap();
        assert!(filter.admits("libdeflate 1 deflate") && filter.admits("ISA-L 3 deflate"));
        assert!(!filter.admits("libdeflate 12 deflate") && !filter.admits("zlib 1 deflate"));
    }
}

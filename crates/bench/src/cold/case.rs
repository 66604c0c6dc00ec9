//! A case of the shape "cold": the size of blocks, and the size and number of dictionaries; and how
//! sentences and records write these.

use crate::harness::filter::Chunk;

/// Size of blocks, and size and number of dictionaries, that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Bytes of a block.
    pub block: usize,
    /// Bytes of a dictionary.
    pub dictionary: usize,
    /// Number of dictionaries, which are all different.
    pub count: usize,
}

impl Case {
    /// Number of blocks: one per dictionary, or if that is more, as many as fit into `least` bytes
    /// of content. At least one.
    pub(crate) fn blocks(&self, least: usize) -> usize {
        self.count.max(least / self.block).max(1)
    }
}

/// A size as records write it: `4K`.
pub(crate) fn size(bytes: usize) -> String {
    Chunk::Bytes(bytes).to_string()
}

/// A size as sentences write it: `4 KiB`, or `1000 B` if it is no multiple of 1024 bytes.
pub(crate) fn kib(bytes: usize) -> String {
    match bytes % 1024 {
        0 => format!("{} KiB", bytes / 1024),
        _ => format!("{bytes} B"),
    }
}

/// Number and size of dictionaries as sentences write them: `2,500 dictionaries of 8 KiB`.
pub(crate) fn dictionaries(count: usize, bytes: usize) -> String {
    let noun = if count == 1 { "dictionary" } else { "dictionaries" };
    format!("{} {noun} of {}", grouped(count), kib(bytes))
}

/// A count as sentences write it: `30,000`.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let first = digits.len() % 3;
    let mut text = digits[..first].to_owned();
    for (i, digit) in digits[first..].chars().enumerate() {
        if i % 3 == 0 && !text.is_empty() {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let shown: Vec<_> = [0, 7, 100, 2500, 30_000, 1_234_567].map(grouped).into();
        assert_eq!(shown, ["0", "7", "100", "2,500", "30,000", "1,234,567"]);
        assert_eq!(dictionaries(1, 8192), "1 dictionary of 8 KiB");
        assert_eq!((kib(4096), kib(1000), size(8192)), ("4 KiB".into(), "1000 B".into(), "8K".into()));
    }

    #[test]
    fn few_dictionaries_have_many_blocks_each() {
        let blocks = |block, count| Case { block, dictionary: 8192, count }.blocks(8 << 20);
        assert_eq!((blocks(4096, 1), blocks(4096, 30_000), blocks(1 << 30, 1)), (2048, 30_000, 1));
    }
}

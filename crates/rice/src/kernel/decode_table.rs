//! The decoder's lookup table: the next 12 bits of a segment select up to three values at once.

#[cfg(feature = "std")]
use std::sync::OnceLock;

#[cfg(feature = "std")]
use super::code::read;

/// Number of bits of an index. With 12, the table's 4096 entries of 8 bytes stay in the first-level
/// cache.
pub(crate) const BITS: u32 = 12;
/// Maximum number of values in an entry.
pub(crate) const MAX_VALUES: usize = 3;

/// The whole codes at the beginning of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(8))]
pub(crate) struct Entry {
    /// The zigzag values of these codes, then zeros.
    pub(crate) values: [u16; MAX_VALUES],
    /// The length of these codes together, in bits.
    pub(crate) used: u8,
    /// The number of these codes; 0 if the first code is longer than the index.
    pub(crate) count: u8,
}

/// One entry per value of the next [`BITS`] bits.
pub(crate) type Table = [Entry; 1 << BITS];

/// Returns the table for k. It has 32 KiB, is built on first use, and is shared by all threads.
#[cfg(feature = "std")]
pub(crate) fn table(k: u32) -> &'static Table {
    static TABLES: [OnceLock<Box<Table>>; 16] = [const { OnceLock::new() }; 16];
    TABLES[k as usize].get_or_init(|| build(k))
}

#[cfg(feature = "std")]
fn build(k: u32) -> Box<Table> {
    let windows = (0..1u32 << BITS).map(|bits| build_entry(bits << (32 - BITS), k));
    let table: Box<[Entry]> = windows.collect();
    table.try_into().expect("the length of a table")
}

#[cfg(feature = "std")]
fn build_entry(window: u32, k: u32) -> Entry {
    let mut entry = Entry::default();
    let mut used = 0;
    for value in &mut entry.values {
        match read(window << used, k) {
            Some((z, len)) if used + len <= BITS => {
                *value = z;
                used += len;
                entry.count += 1;
            }
            _ => break,
        }
    }
    Entry { used: used as u8, ..entry }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn entries_hold_whole_codes_only() {
        // k = 3: 1000 and 1001 are z = 0 and 1; 0100 0... is q = 1, r = 0: z = 8.
        let entry = |bits: usize| table(3)[bits << (BITS - 12)];
        assert_eq!(entry(0b1001_1001_0000), Entry { values: [1, 1, 0], used: 8, count: 2 });
        assert_eq!(entry(0b1000_1001_1000), Entry { values: [0, 1, 0], used: 12, count: 3 });
        assert_eq!(entry(0b0100_0000_0000), Entry { values: [8, 0, 0], used: 5, count: 1 });
        assert_eq!(entry(0).count, 0, "an escape is longer than the window");
    }
}

//! The table of the decoder: the next 12 bits of a segment select up to three samples at once.

use std::sync::OnceLock;

use super::spec::{read, unzigzag};

/// Bits that select an entry. 4096 entries of 8 bytes stay in the first-level cache.
pub(crate) const BITS: u32 = 12;
/// Most samples of an entry.
pub(crate) const MOST: u64 = 3;

/// One entry per value of the next [`BITS`] bits. From the low end: bits used in 8 bits, number
/// of samples in 8 bits (0: the first code is longer than the window), three samples of 16 bits.
/// With the running difference these are sums from the start of the entry; the last sample is
/// repeated, so that the highest lane is what the next entry goes on from.
pub(crate) type Table = [u64; 1 << BITS];

/// The table for k, made on first use and shared by all threads: 32 KiB each.
pub(crate) fn table(k: u32, delta: bool) -> &'static Table {
    static TABLES: [[OnceLock<Box<Table>>; 16]; 2] = [const { [const { OnceLock::new() }; 16] }; 2];
    TABLES[usize::from(delta)][k as usize].get_or_init(|| build(k, delta))
}

fn build(k: u32, delta: bool) -> Box<Table> {
    let mut table: Box<Table> =
        vec![0; 1 << BITS].into_boxed_slice().try_into().expect("the length of a table");
    for (bits, entry) in (0u32..).zip(table.iter_mut()) {
        *entry = build_entry(bits << (32 - BITS), k, delta);
    }
    table
}

fn build_entry(window: u32, k: u32, delta: bool) -> u64 {
    let (mut used, mut count, mut last, mut samples) = (0, 0, 0i16, [0u16; 3]);
    while count < MOST {
        match read(window << used, k) {
            Some((z, len)) if used + len <= BITS => {
                let y = unzigzag(z);
                last = if delta { last.wrapping_add(y) } else { y };
                samples[count as usize..].fill(last as u16);
                (used, count) = (used + len, count + 1);
            }
            _ => break,
        }
    }
    let lanes = samples.iter().rev().fold(0, |lanes, &s| (lanes << 16) | u64::from(s));
    (lanes << 16) | (count << 8) | u64::from(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_hold_whole_codes_only() {
        // k = 3: 1000 and 1001 are y = 0 and -1; 0100 0... is q = 1, r = 0: z = 8, y = 4.
        let entry = |bits: u64, delta| table(3, delta)[(bits << (12 - 8)) as usize];
        let lanes = |e: u64| [e >> 16, e >> 32, e >> 48].map(|x| x as i16);
        let two = entry(0b1001_1001, true);
        assert_eq!((two & 0xff, two >> 8 & 0xff, lanes(two)), (8, 2, [-1, -2, -2]));
        assert_eq!(lanes(entry(0b1001_1001, false)), [-1, -1, -1]);
        let three = table(3, true)[0b1000_1001_1000];
        assert_eq!((three & 0xff, three >> 8 & 0xff, lanes(three)), (12, 3, [0, -1, -1]));
        let one = entry(0b0100_0000, true);
        assert_eq!((one & 0xff, one >> 8 & 0xff, lanes(one)), (5, 1, [4, 4, 4]));
        assert_eq!(entry(0, true) >> 8 & 0xff, 0, "an escape is longer than the window");
    }
}

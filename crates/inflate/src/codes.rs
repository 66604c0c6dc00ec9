//! Entries of Huffman decode tables: values of symbols, and lengths of codes and extra bits.

/// Number of bits of a literal/length code that index the primary table. Longer codes continue in a
/// subtable.
pub(crate) const LITLEN_ROOT: u32 = 11;
/// Like [`LITLEN_ROOT`], for distance codes.
pub(crate) const DISTANCE_ROOT: u32 = 8;
/// Like [`LITLEN_ROOT`], for blocks of a short input. A smaller table is built faster and takes
/// less of the cache. No fixed code is longer.
pub(crate) const SHORT_ROOT: u32 = if cfg!(feature = "small") { LITLEN_ROOT } else { 9 };
/// Length of the longest code, in bits.
pub(crate) const MAX_LEN: u32 = 15;
/// Length of the shortest match, in bytes.
pub(crate) const MIN_MATCH: usize = 3;
/// Length of the longest match, in bytes.
pub(crate) const MAX_MATCH: usize = 258;

/// Maximum number of entries for a complete literal/length code of 288 symbols, including
/// subtables, with a primary table of 11 bits, as computed by zlib's `enough 288 11 15`. The 286
/// symbols of a block need two fewer; a primary table of 9 bits needs 852, and the fixed codes 512.
pub(crate) const LITLEN_ENTRIES: usize = 2342;
/// Maximum number of entries for a complete distance code of 30 symbols, including subtables, with
/// a primary table of 8 bits, as computed by zlib's `enough 30 8 15`.
pub(crate) const DISTANCE_ENTRIES: usize = 400;

/// An entry of a decode table.
///
/// | bits | content |
/// |---|---|
/// | 0 to 7 | bits of the code plus extra bits |
/// | 8 to 11 | bits of the code alone, or index bits of a subtable |
/// | 13 | two symbols: a literal and the symbol after it |
/// | 14 | neither a literal nor a base: bits 12 and 13 give the kind |
/// | 15 | one literal or two |
/// | 16 to 23 | a literal |
/// | 24 to 31 | a second literal, or the base of a length minus [`MIN_MATCH`] |
///
/// Entries of distances, subtables and the code length code have one value in bits 16 to 31. The
/// lower half of an entry of two symbols is that of the second symbol, with the bits of both codes.
pub(crate) type Entry = u32;

const PAIR: Entry = 1 << 13;
const SPECIAL: Entry = 1 << 14;
const LITERAL: Entry = 1 << 15;
const END: Entry = SPECIAL;
const SUBTABLE: Entry = SPECIAL | 2 << 12;
const INVALID: Entry = SPECIAL | 1 << 12;
const KIND: Entry = SPECIAL | 3 << 12;

/// The entry of an unused code.
pub(crate) const UNUSED: Entry = TOO_FAR | INVALID | 1 << 8 | 1;

/// The value of invalid entries, which as a distance is beyond any window.
const TOO_FAR: Entry = 0xffff << 16;

/// Returns the number of bits of the codes in this table plus extra bits.
#[inline(always)]
pub(crate) fn bits(entry: Entry) -> u32 {
    entry & 0xff
}

/// Returns the number of bits of the codes in this table, or of index bits of the subtable.
#[inline(always)]
pub(crate) fn code_bits(entry: Entry) -> u32 {
    entry >> 8 & 15
}

#[inline(always)]
pub(crate) fn value(entry: Entry) -> u32 {
    entry >> 16
}

/// Returns the literal of an entry that has one, or the first of two.
#[inline(always)]
pub(crate) fn literal(entry: Entry) -> u8 {
    (entry >> 16) as u8
}

/// Returns the length of a match.
#[inline(always)]
pub(crate) fn length(entry: Entry, extra: usize) -> usize {
    (entry >> 24) as usize + MIN_MATCH + extra
}

/// Returns the distance of a match.
#[inline(always)]
pub(crate) fn distance(entry: Entry, extra: usize) -> usize {
    value(entry) as usize + extra
}

/// Returns the extra bits of an entry, which follow its code in `buffer`.
pub(crate) fn extra(entry: Entry, buffer: u64) -> usize {
    ((buffer & ((1 << bits(entry)) - 1)) >> code_bits(entry)) as usize
}

/// Returns how many literals precede the last symbol of an entry: 0 or 1. The entry must not refer
/// to a subtable.
#[inline(always)]
pub(crate) fn before(entry: Entry) -> usize {
    usize::from(entry & PAIR != 0)
}

/// Prepares an entry to be the second of a [`pair`]. The end of a block, subtables and unused codes
/// get more code bits than any pair has room for.
#[inline(always)]
pub(crate) fn second(entry: Entry) -> Entry {
    // A second literal is in the upper byte, where the base of a length is.
    let upper = (entry & 0xff_0000) << 8 | entry & 0xff00_0000;
    if !is_special(entry) { upper | entry & 0xffff | PAIR } else { 15 << 8 }
}

/// Returns the entry of a literal of `len` bits and the symbol after it if the second code has at
/// most `max_bits` bits, and otherwise the first entry.
#[inline(always)]
pub(crate) fn pair(first: Entry, second: Entry, len: u32, max_bits: u32) -> Entry {
    let both = with_len(second, len) + (first & 0xff_0000);
    if second & 0xf00 <= max_bits << 8 { both } else { first }
}

#[inline(always)]
pub(crate) fn is_literal(entry: Entry) -> bool {
    entry & LITERAL != 0
}

/// Returns whether the entry is neither a literal nor a base.
#[inline(always)]
pub(crate) fn is_special(entry: Entry) -> bool {
    entry & SPECIAL != 0
}

#[inline(always)]
pub(crate) fn is_subtable(entry: Entry) -> bool {
    entry & KIND == SUBTABLE
}

#[inline(always)]
pub(crate) fn is_end(entry: Entry) -> bool {
    entry & KIND == END
}

/// Returns the entry that refers to a subtable of `1 << bits` entries at index `at`.
pub(crate) fn subtable(at: usize, bits: u32, root: u32) -> Entry {
    (at as u32) << 16 | SUBTABLE | bits << 8 | root
}

/// Adds the code length in this table to the entry of a symbol.
#[inline(always)]
pub(crate) const fn with_len(entry: Entry, len: u32) -> Entry {
    entry + (len << 8 | len)
}

/// The entries of literals, end of block and lengths (RFC 1951, section 3.2.5), without code
/// lengths.
pub(crate) static LITLEN: [Entry; 288] = {
    const BASES: [u32; 29] = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163,
        195, 227, 258,
    ];
    let mut entries = [INVALID; 288];
    let mut symbol = 0;
    while symbol < 286 {
        entries[symbol] = match symbol {
            0..256 => (symbol as u32) << 16 | LITERAL,
            256 => END,
            257..265 | 285 => (BASES[symbol - 257] - MIN_MATCH as u32) << 24,
            _ => (BASES[symbol - 257] - MIN_MATCH as u32) << 24 | ((symbol as u32 - 261) / 4),
        };
        symbol += 1;
    }
    entries
};

/// The entries of distances (RFC 1951, section 3.2.5), without code lengths.
pub(crate) static DISTANCES: [Entry; 32] = {
    let mut entries = [TOO_FAR | INVALID; 32];
    let mut symbol = 0;
    while symbol < 30 {
        entries[symbol as usize] = if symbol < 4 {
            (symbol + 1) << 16
        } else {
            let extra = symbol / 2 - 1;
            ((((2 + symbol % 2) << extra) + 1) << 16) | extra
        };
        symbol += 1;
    }
    entries
};

/// The entries of the code length alphabet (RFC 1951, section 3.2.7).
pub(crate) static LENGTHS: [Entry; 19] = {
    let mut entries = [0; 19];
    let mut symbol = 0;
    while symbol < 19 {
        entries[symbol] = (symbol as u32) << 16;
        symbol += 1;
    }
    entries
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Each base is the previous one plus the range of its extra bits.
    #[test]
    fn bases_follow_each_other() {
        let mut next = 3;
        for &entry in &LITLEN[257..285] {
            assert_eq!(length(entry, 0), next);
            assert!(!is_literal(entry) && !is_special(entry));
            next += 1 << bits(entry);
        }
        // Length 258 is also reachable through the previous symbol, but has a symbol of its own.
        assert_eq!((next, length(LITLEN[285], 0), bits(LITLEN[285])), (259, 258, 0));
        let mut next = 1;
        for &entry in &DISTANCES[..30] {
            assert_eq!(value(entry), next);
            next += 1 << bits(entry);
        }
        assert_eq!(next, (32 << 10) + 1);
        assert!(is_special(LITLEN[286]) && is_special(DISTANCES[30]));
        assert!(is_end(LITLEN[256]) && is_literal(LITLEN[255]) && literal(LITLEN[255]) == 255);
    }
}

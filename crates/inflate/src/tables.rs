//! Huffman decode tables: a primary table, and subtables for longer codes, as in zlib's
//! `inflate_table`.

use crate::codes::{
    self, DISTANCE_ENTRIES, DISTANCE_ROOT, Entry, LITLEN_ENTRIES, LITLEN_ROOT, MAX_LEN, SHORT_ROOT, UNUSED,
};
use crate::lengths::{CodeLength, Lengths, PackedLengths};
use crate::pairs::{self, MIN_INPUT};

/// Number of input bytes, from a block on, below which its literal/length table has [`SHORT_ROOT`]
/// bits. Such a block usually has only a few hundred symbols.
const SHORT_INPUT: usize = 1024;
const _: () = assert!(SHORT_INPUT <= MIN_INPUT);

/// The decode tables of a block. Only this module makes them, and guarantees that every index of
/// [`root`](Self::root) or [`DISTANCE_ROOT`] bits, and every index into a subtable, is inside its
/// table.
#[derive(Clone, Copy)]
pub(crate) struct Codes<'t> {
    /// Distances, then literals and lengths, so that the hot loop needs one register for both.
    tables: &'t [Entry],
    /// The lengths of the codes, or [`NO_LENGTHS`] for the fixed codes.
    lengths: &'t PackedLengths,
    /// Whether there are entries of two symbols.
    pub(crate) has_pairs: bool,
    is_short: bool,
}

impl<'t> Codes<'t> {
    /// Returns whether the primary table of literals and lengths has [`SHORT_ROOT`] bits instead of
    /// [`LITLEN_ROOT`].
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// Returns the number of index bits of the primary table of literals and lengths.
    #[inline(always)]
    pub(crate) fn root(&self) -> u32 {
        primary_bits(self.is_short)
    }

    #[inline(always)]
    pub(crate) fn litlen(&self) -> &'t [Entry] {
        &self.tables[DISTANCE_ENTRIES..]
    }

    /// Returns the entry of the first symbol for an entry of literals and lengths that may have
    /// two.
    pub(crate) fn first(&self, entry: Entry) -> Entry {
        if codes::before(entry) == 0 {
            return entry;
        }
        let literal = codes::literal(entry).into();
        codes::with_len(codes::LITLEN[literal], self.lengths.get(literal))
    }

    /// Returns how many bits the hot loop has consumed for a match: the bits of the two entries,
    /// including a literal before the length, and for codes in subtables the index bits of the
    /// primary table. The loop does not remember whether it was in a subtable, but the lengths of
    /// the codes show it.
    #[cold]
    pub(crate) fn match_bits(&self, length: Entry, distance: Entry) -> u32 {
        let is_length = |entry: &Entry| entry >> 24 == length >> 24;
        let is_distance = |entry: &Entry| codes::value(*entry) == codes::value(distance);
        let of_length = codes::LITLEN[257..].iter().position(is_length).map(|symbol| 257 + symbol);
        let of_distance = codes::DISTANCES.iter().position(is_distance);
        let of_distance = of_distance.map(|symbol| usize::from(self.lengths.symbols) + symbol);
        let len = |symbol: Option<usize>| symbol.map_or(0, |symbol| self.lengths.get(symbol));
        let mut all = codes::bits(length) + codes::bits(distance);
        // If a literal precedes the length, both codes are in the primary table.
        if codes::before(length) == 0 && len(of_length) > self.root() {
            all += self.root();
        }
        if len(of_distance) > DISTANCE_ROOT {
            all += DISTANCE_ROOT;
        }
        all
    }

    #[inline(always)]
    pub(crate) fn distances(&self) -> &'t [Entry] {
        &self.tables[..DISTANCE_ENTRIES]
    }
}

const fn primary_bits(is_short: bool) -> u32 {
    if is_short { SHORT_ROOT } else { LITLEN_ROOT }
}

/// The fixed codes (RFC 1951, section 3.2.6). A third of small messages use them.
pub(crate) static FIXED: Codes<'static> =
    Codes { tables: &FIXED_TABLES, lengths: &NO_LENGTHS, has_pairs: false, is_short: true };

/// Placeholder for the lengths of the fixed codes. Lengths matter only for pairs and for codes
/// longer than a primary table's index, and the fixed codes have neither.
static NO_LENGTHS: PackedLengths = PackedLengths::new();

static FIXED_TABLES: [Entry; DISTANCE_ENTRIES + (1 << SHORT_ROOT)] = {
    let mut tables = [UNUSED; DISTANCE_ENTRIES + (1 << SHORT_ROOT)];
    let mut index = 0;
    while index < 1 << DISTANCE_ROOT {
        let symbol = (index as u8).reverse_bits() as usize >> 3;
        tables[index] = codes::with_len(codes::DISTANCES[symbol], 5);
        index += 1;
    }
    index = 0;
    while index < 1 << SHORT_ROOT {
        let code = (index as u16).reverse_bits() as usize >> 7 & 0x1ff;
        let (symbol, len) = match code {
            0..0x060 => (256 + (code >> 2), 7),
            0x060..0x180 => ((code >> 1) - 0x30, 8),
            0x180..0x190 => (280 + (code >> 1) - 0xc0, 8),
            _ => (144 + code - 0x190, 9),
        };
        tables[DISTANCE_ENTRIES + index] = codes::with_len(codes::LITLEN[symbol], len);
        index += 1;
    }
    tables
};

/// The decode tables of dynamic blocks. Primary tables for shorter codes are repeated up to their
/// full size, so that the hot loop's index has a constant number of bits.
pub(crate) struct Tables {
    /// Distances, then literals and lengths, as in [`Codes`].
    tables: [Entry; DISTANCE_ENTRIES + LITLEN_ENTRIES],
    /// The lengths that the tables were built from.
    built_from: PackedLengths,
    /// Whether the tables are complete.
    is_built: bool,
    has_pairs: bool,
    is_short: bool,
    /// The lengths of the codes as a list.
    lengths: Lengths,
    /// The symbols in the order of their codes.
    order: Sorted,
}

impl Tables {
    pub(crate) const fn new() -> Self {
        Tables {
            tables: [UNUSED; DISTANCE_ENTRIES + LITLEN_ENTRIES],
            built_from: PackedLengths::new(),
            is_built: false,
            has_pairs: false,
            is_short: false,
            lengths: Lengths::new(),
            order: Sorted::new(),
        }
    }

    pub(crate) fn codes(&self) -> Codes<'_> {
        Codes {
            tables: &self.tables,
            lengths: &self.built_from,
            has_pairs: self.has_pairs,
            is_short: self.is_short,
        }
    }

    /// Returns the list of lengths, filled with the known ones. The caller appends the other
    /// lengths before it calls [`prepare`](Self::prepare).
    pub(crate) fn list(&mut self, known: &PackedLengths) -> &mut Lengths {
        self.lengths.unpack(known);
        &mut self.lengths
    }

    /// Like [`prepare`](Self::prepare), but fills the list itself. It is for the middle of a block,
    /// because another stream may have used the scratch in the meantime.
    pub(crate) fn restore(&mut self, lengths: &PackedLengths, input_left: usize) -> Result<(), &'static str> {
        if self.are_built_from(lengths) {
            return Ok(());
        }
        self.lengths.unpack(lengths);
        self.prepare(lengths, input_left)
    }

    fn are_built_from(&self, lengths: &PackedLengths) -> bool {
        self.is_built && self.built_from == *lengths
    }

    /// Builds the tables from `lengths`, unless they were last built from the same lengths. The
    /// [list](Self::list) must hold the same lengths. `input_left` is the number of bytes that the
    /// caller has of the rest of the input.
    ///
    /// # Errors
    /// Returns the first fault of the lengths, in the order of zlib's checks.
    pub(crate) fn prepare(&mut self, lengths: &PackedLengths, input_left: usize) -> Result<(), &'static str> {
        const END: usize = 256;
        if self.are_built_from(lengths) {
            return Ok(());
        }
        self.is_built = false;
        if lengths.get(END) == 0 {
            return Err("a deflate block has no end-of-block code");
        }
        let symbols = usize::from(lengths.symbols);
        let (litlen_lengths, distance_lengths) = self.lengths.split(symbols);
        let (distances, litlen) = self.tables.split_at_mut(DISTANCE_ENTRIES);
        let order = &mut self.order;
        let root = order
            .fill(distances, DISTANCE_ROOT, distance_lengths, symbols, &codes::DISTANCES)
            .ok_or("the distance code of a deflate block is invalid");
        self.is_short = input_left < SHORT_INPUT;
        let bits = primary_bits(self.is_short);
        // An error of the literal/length code is reported before one of the distance code, and the
        // pairs below need the order of its symbols.
        let litlen_root = order
            .fill(litlen, bits, litlen_lengths, 0, &codes::LITLEN)
            .ok_or("the literal/length code of a deflate block is invalid")?;
        widen(litlen, litlen_root, bits);
        widen(distances, root?, DISTANCE_ROOT);
        self.has_pairs = input_left >= MIN_INPUT && pairs::fill(litlen, order);
        (self.built_from, self.is_built) = (*lengths, true);
        Ok(())
    }

    /// Builds the decode table of the code length code from lengths of three bits each. Returns its
    /// number of index bits, or `None` for an invalid code. As in zlib, if there are no codes,
    /// either value of one bit means the length 0.
    pub(crate) fn fill_code_lengths(
        &mut self,
        table: &mut [Entry; 1 << LENGTHS_ROOT],
        lens: u64,
    ) -> Option<u32> {
        if lens == 0 {
            table[..2].fill(codes::with_len(codes::LENGTHS[0], 1));
            return Some(1);
        }
        let mut used = [CodeLength::default(); 19];
        let (mut count, mut sum) = (0, 0);
        for symbol in 0..19 {
            let len = (lens >> (3 * symbol) & 7) as u32;
            if len > 0 {
                used[count] = CodeLength::new(symbol, len);
                count += 1;
                sum += 1 << (LENGTHS_ROOT - len);
            }
        }
        if sum != 1 << LENGTHS_ROOT {
            return None;
        }
        self.order.fill(table, LENGTHS_ROOT, &used[..count], 0, &codes::LENGTHS)
    }
}

/// Repeats a primary table of `root` bits so that it has `bits` bits.
fn widen(table: &mut [Entry], root: u32, bits: u32) {
    for bits in root..bits {
        table.copy_within(..1 << bits, 1 << bits);
    }
}

/// Number of bits of the longest code in the code length code.
pub(crate) const LENGTHS_ROOT: u32 = 7;

/// Increments a bit-reversed code of `len` bits. After the last code comes 0.
pub(crate) fn next(code: u32, len: u32) -> u32 {
    let all = (1 << len) - 1;
    let Some(top) = (code ^ all).checked_ilog2() else { return 0 };
    // This is an addition with carries towards the low bits: the leading ones become zero, and the
    // next bit is set.
    code & ((1 << top) - 1) | 1 << top
}

/// Symbols in the order of their codes.
pub(crate) struct Sorted {
    /// Number of codes of each length.
    pub(crate) counts: [u16; MAX_LEN as usize + 1],
    pub(crate) symbols: [u16; 288],
    longest: u32,
    /// Whether some bit strings are not codes.
    is_incomplete: bool,
}

impl Sorted {
    pub(crate) const fn new() -> Self {
        Sorted { counts: [0; _], symbols: [0; _], longest: 0, is_incomplete: true }
    }

    /// Builds the decode table of a canonical Huffman code: a primary table of at most `max_root`
    /// bits, and subtables for longer codes. Entry 0 of `entries` is that of symbol `first`.
    /// Returns the number of index bits of the primary table, or `None` for an invalid code.
    /// Complete prefix codes, a single code of one bit, and no codes at all are valid.
    pub(crate) fn fill(
        &mut self,
        table: &mut [Entry],
        max_root: u32,
        lengths: &[CodeLength],
        first: usize,
        entries: &[Entry],
    ) -> Option<u32> {
        self.sort(lengths, first)?;
        if self.is_incomplete {
            table[..2].fill(UNUSED);
            match lengths {
                [] => {}
                [only] if only.len() == 1 => table[0] = codes::with_len(entries[only.symbol() - first], 1),
                _ => return None,
            }
            return Some(1);
        }
        let root = self.longest.min(max_root);
        let mut symbols = self.symbols[..lengths.len()].iter().map(|&s| usize::from(s));
        let mut code = 0;
        // An entry of a short code is repeated for all values of the bits after it, so the table
        // doubles with each bit.
        for len in 1..=root {
            for symbol in symbols.by_ref().take(self.counts[len as usize].into()) {
                table[code as usize] = codes::with_len(entries[symbol], len);
                code = next(code, len);
            }
            if len < root {
                table.copy_within(..1 << len, 1 << len);
            }
        }
        fill_subtables(table, root, &self.counts, code, symbols, entries).then_some(root)
    }

    /// Sorts used symbols by the length of their codes. Returns `None` if the code is
    /// oversubscribed.
    fn sort(&mut self, lengths: &[CodeLength], first: usize) -> Option<()> {
        let mut counts = [0u16; MAX_LEN as usize + 1];
        for code in lengths {
            counts[code.len()] += 1;
        }
        let mut next_index = [0u16; MAX_LEN as usize + 2];
        let mut left = 1i32;
        self.longest = 0;
        for len in 1..=MAX_LEN as usize {
            next_index[len + 1] = next_index[len] + counts[len];
            left = 2 * left - i32::from(counts[len]);
            if left < 0 {
                return None;
            }
            if counts[len] > 0 {
                self.longest = len as u32;
            }
        }
        for code in lengths {
            let index = &mut next_index[code.len()];
            self.symbols[usize::from(*index)] = (code.symbol() - first) as u16;
            *index += 1;
        }
        (self.counts, self.is_incomplete) = (counts, left > 0);
        Some(())
    }
}

/// Builds the subtables for codes longer than `root` bits, one per prefix of `root` bits. Returns
/// false if the table is too small.
fn fill_subtables(
    table: &mut [Entry],
    root: u32,
    counts: &[u16; MAX_LEN as usize + 1],
    mut code: u32,
    mut symbols: impl Iterator<Item = usize>,
    entries: &[Entry],
) -> bool {
    let mask = (1 << root) - 1;
    let (mut begin, mut end) = (0usize, 1usize << root);
    let mut prefix = None;
    for len in root + 1..=MAX_LEN {
        for done in 0..counts[len as usize] {
            let Some(symbol) = symbols.next() else { return false };
            if prefix != Some(code & mask) {
                prefix = Some(code & mask);
                begin = end;
                let bits = subtable_bits(len - root, root, counts, counts[len as usize] - done);
                end = begin + (1 << bits);
                if end > table.len() {
                    return false;
                }
                table[(code & mask) as usize] = codes::subtable(begin, bits, root);
            }
            let step = 1 << (len - root);
            let first = begin + (code >> root) as usize;
            let value = codes::with_len(entries[symbol], len - root);
            table[first..end].iter_mut().step_by(step).for_each(|c| *c = value);
            code = next(code, len);
        }
    }
    true
}

/// Returns the number of index bits of a subtable whose first code has `bits` more bits than the
/// root, if `count` codes of that length are left. It is enough for the codes that complete the
/// prefix.
fn subtable_bits(mut bits: u32, root: u32, counts: &[u16; MAX_LEN as usize + 1], count: u16) -> u32 {
    let mut left = (1i32 << bits) - i32::from(count);
    while left > 0 && root + bits < MAX_LEN {
        bits += 1;
        left = 2 * left - i32::from(counts[(root + bits) as usize]);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_tables_match_the_fixed_lengths() {
        let of_symbol = |symbol| match symbol {
            144..256 => 9,
            256..280 => 7,
            _ => 8,
        };
        let lens: Vec<_> = (0..288).map(|symbol| CodeLength::new(symbol, of_symbol(symbol))).collect();
        let mut table = [UNUSED; LITLEN_ENTRIES];
        assert_eq!(Sorted::new().fill(&mut table, LITLEN_ROOT, &lens, 0, &codes::LITLEN), Some(9));
        // With the feature `small`, the fixed table has more bits than its longest code.
        assert!((0..1 << SHORT_ROOT).all(|index| FIXED.litlen()[index] == table[index % (1 << 9)]));
        let lens: Vec<_> = (0..32).map(|symbol| CodeLength::new(symbol, 5)).collect();
        assert_eq!(Sorted::new().fill(&mut table, DISTANCE_ROOT, &lens, 0, &codes::DISTANCES), Some(5));
        assert!((0..256).all(|index| FIXED.distances()[index] == table[index % 32]));
    }

    #[test]
    fn next_increments_the_bit_reversed_code() {
        let all: Vec<u32> = core::iter::successors(Some(0), |&code| Some(next(code, 3))).take(8).collect();
        assert_eq!(all, [0b000, 0b100, 0b010, 0b110, 0b001, 0b101, 0b011, 0b111]);
        assert_eq!(next(7, 3), 0);
    }

    /// Returns the used symbols.
    fn used(lens: &[u8]) -> Vec<CodeLength> {
        let all = lens.iter().enumerate().filter(|(_, len)| **len > 0);
        all.map(|(symbol, &len)| CodeLength::new(symbol, len.into())).collect()
    }

    /// Looks a code up as a decoder does.
    fn find(table: &[Entry], root: u32, bits: u32) -> (u32, u32) {
        let entry = table[(bits & ((1 << root) - 1)) as usize];
        if !codes::is_subtable(entry) {
            return (codes::value(entry), codes::code_bits(entry));
        }
        let index = (bits >> root) & ((1 << codes::code_bits(entry)) - 1);
        let inner = table[(codes::value(entry) + index) as usize];
        (codes::value(inner), root + codes::code_bits(inner))
    }

    /// Looks up every code of random complete codes.
    #[test]
    fn lookup_finds_every_code() {
        let mut seed = 1u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        // All 300 codes take Miri more than half an hour.
        for _ in 0..if cfg!(miri) { 2 } else { 300 } {
            // Splitting a random leaf gives a complete code of one more symbol.
            let mut lens = vec![0u8];
            let skew = random(4);
            let count = 2 + random(284) as usize;
            while lens.len() < count {
                let tries = 1 + skew;
                let deepest = (0..tries).map(|_| random(lens.len() as u64) as usize).max_by_key(|&i| lens[i]);
                let i = deepest.unwrap();
                if lens[i] < 15 {
                    lens[i] += 1;
                    lens.push(lens[i]);
                } else if lens.iter().all(|&len| len == 15) {
                    break;
                }
            }
            let plain: Vec<Entry> = (0..lens.len() as u32).map(|s| s << 16).collect();
            let mut table = [UNUSED; LITLEN_ENTRIES];
            let root = Sorted::new().fill(&mut table, LITLEN_ROOT, &used(&lens), 0, &plain).unwrap();
            assert_eq!(root, u32::from(*lens.iter().max().unwrap()).min(LITLEN_ROOT));
            let mut order: Vec<usize> = (0..lens.len()).collect();
            order.sort_by_key(|&s| (lens[s], s));
            let mut code = 0;
            for s in order {
                let len = lens[s].into();
                for above in [0u32, 1, 0x1555, 0x1fff] {
                    assert_eq!(find(&table, root, code | above << len), (s as u32, len));
                }
                code = next(code, len);
            }
        }
    }

    #[test]
    fn incomplete_and_oversubscribed_codes_are_invalid() {
        let mut table = [UNUSED; DISTANCE_ENTRIES];
        let mut try_lens = |lens: &[u8]| {
            Sorted::new().fill(&mut table, DISTANCE_ROOT, &used(lens), 0, &codes::DISTANCES).is_some()
        };
        assert!(!try_lens(&[1, 1, 1]));
        assert!(!try_lens(&[1, 2]));
        assert!(!try_lens(&[2]));
        assert!(!try_lens(&[0, 15, 15]));
        assert!(try_lens(&[0, 1]));
        assert!(try_lens(&[0, 0]));
        assert!(try_lens(&[2, 1, 2]));
    }
}

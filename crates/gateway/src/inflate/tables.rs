//! Tables that a code's bits lead through.

use std::sync::LazyLock;

use super::codes::{self, Cell, DISTANCE_CELLS, DISTANCE_ROOT, MAX_LEN, NOTHING, SYMBOL_CELLS, SYMBOL_ROOT};
use super::lengths::{Coded, Lengths};

/// Codes for literals and lengths, and for distances, that are not sent but agreed.
const FIXED_SYMBOLS: usize = 288;
const FIXED_DISTANCES: usize = 32;

/// The tables of a block. Their first parts have as many bits as the longest code, so that small blocks
/// have small tables, but no more than [`SYMBOL_ROOT`] and [`DISTANCE_ROOT`].
pub(crate) struct Tables {
    pub(crate) symbols: [Cell; SYMBOL_CELLS],
    pub(crate) distances: [Cell; DISTANCE_CELLS],
    pub(crate) symbol_root: u32,
    pub(crate) distance_root: u32,
    /// What they are made of.
    pub(crate) lengths: Lengths,
}

impl Tables {
    pub(crate) fn new() -> Self {
        Tables {
            symbols: [NOTHING; SYMBOL_CELLS],
            distances: [NOTHING; DISTANCE_CELLS],
            symbol_root: 1,
            distance_root: 1,
            lengths: Lengths::new(),
        }
    }

    /// The tables of the agreed codes. A third of small messages uses them, so they are made once.
    pub(crate) fn agreed() -> &'static Tables {
        static AGREED: LazyLock<Tables> = LazyLock::new(|| {
            let mut tables = Tables::new();
            tables.agree();
            tables
        });
        &AGREED
    }

    fn agree(&mut self) {
        const SYMBOLS: [Coded; FIXED_SYMBOLS] = {
            let mut all = [Coded::new(0, 8); FIXED_SYMBOLS];
            let mut symbol = 0;
            while symbol < FIXED_SYMBOLS {
                let len = match symbol {
                    0..144 | 280.. => 8,
                    144..256 => 9,
                    _ => 7,
                };
                all[symbol] = Coded::new(symbol, len);
                symbol += 1;
            }
            all
        };
        const DISTANCES: [Coded; FIXED_DISTANCES] = {
            let mut all = [Coded::new(0, 5); FIXED_DISTANCES];
            let mut symbol = 0;
            while symbol < FIXED_DISTANCES {
                all[symbol] = Coded::new(symbol, 5);
                symbol += 1;
            }
            all
        };
        let symbols = fill(&mut self.symbols, SYMBOL_ROOT, &SYMBOLS, 0, &codes::SYMBOLS);
        let distances = fill(&mut self.distances, DISTANCE_ROOT, &DISTANCES, 0, &codes::DISTANCES);
        (self.symbol_root, self.distance_root) = (symbols.unwrap_or(1), distances.unwrap_or(1));
        debug_assert!(symbols.is_some() && distances.is_some());
    }

    /// Makes the tables of the codes whose lengths were listed: those of literals and lengths below
    /// `symbols`, those of distances from there on.
    pub(crate) fn make(&mut self, symbols: usize) -> Result<(), &'static str> {
        const END: usize = 256;
        let (of_symbols, of_distances) = self.lengths.split(symbols);
        let last = of_symbols.iter().rev().find(|coded| coded.symbol() <= END);
        if last.is_none_or(|coded| coded.symbol() != END) {
            return Err("a deflate block has no code for its end");
        }
        self.symbol_root = fill(&mut self.symbols, SYMBOL_ROOT, of_symbols, 0, &codes::SYMBOLS)
            .ok_or("the code for literals and lengths of a deflate block is none")?;
        self.distance_root =
            fill(&mut self.distances, DISTANCE_ROOT, of_distances, symbols, &codes::DISTANCES)
                .ok_or("the code for distances of a deflate block is none")?;
        Ok(())
    }
}

/// The code that comes after `code` among those of `len` bits, whose first bit is the lowest. The last
/// one is followed by 0.
fn next(code: u32, len: u32) -> u32 {
    let all = (1 << len) - 1;
    let Some(top) = (code ^ all).checked_ilog2() else { return 0 };
    // Adding one from the other end: the highest bits that are set become zero, the next one is set.
    code & ((1 << top) - 1) | 1 << top
}

/// Makes the table of the code of these symbols, which count from `first`: a table of the longest code's
/// bits, at most `most`, and tables for what is longer. Returns the bits of the first one, or none if it is
/// no code: that is prefixes of none, all used up; or a single code of one bit; or none at all.
pub(crate) fn fill(
    table: &mut [Cell],
    most: u32,
    coded: &[Coded],
    first: usize,
    cells: &[Cell],
) -> Option<u32> {
    let mut counts = [0u16; MAX_LEN as usize + 1];
    for coded in coded {
        counts[coded.len()] += 1;
    }
    let mut place = [0u16; MAX_LEN as usize + 2];
    let mut left = 1i32;
    let mut longest = 0;
    for len in 1..=MAX_LEN as usize {
        place[len + 1] = place[len] + counts[len];
        left = 2 * left - i32::from(counts[len]);
        if left < 0 {
            return None;
        }
        if counts[len] > 0 {
            longest = len as u32;
        }
    }
    if left > 0 {
        table[..2].fill(NOTHING);
        match coded {
            [] => {}
            [only] if only.len() == 1 => table[0] = codes::coded(cells[only.symbol() - first], 1),
            _ => return None,
        }
        return Some(1);
    }
    let mut sorted = [0u16; 288];
    for coded in coded {
        let place = &mut place[coded.len()];
        sorted[usize::from(*place)] = (coded.symbol() - first) as u16;
        *place += 1;
    }
    let root = longest.min(most);
    let mut symbols = sorted[..coded.len()].iter().map(|&s| usize::from(s));
    let mut code = 0;
    // What is said of short codes holds whatever comes behind them: the table doubles with each bit.
    for len in 1..=root {
        for symbol in symbols.by_ref().take(counts[len as usize].into()) {
            table[code as usize] = codes::coded(cells[symbol], len);
            code = next(code, len);
        }
        if len < root {
            table.copy_within(..1 << len, 1 << len);
        }
    }
    longer(table, root, &counts, code, symbols, cells).then_some(root)
}

/// The part of a code that is longer than `root` bits: a further table for each beginning of it.
fn longer(
    table: &mut [Cell],
    root: u32,
    counts: &[u16; MAX_LEN as usize + 1],
    mut code: u32,
    mut symbols: impl Iterator<Item = usize>,
    cells: &[Cell],
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
                let bits = width(len - root, root, counts, counts[len as usize] - done);
                end = begin + (1 << bits);
                if end > table.len() {
                    return false;
                }
                table[(code & mask) as usize] = codes::further(begin, bits, root);
            }
            let step = 1 << (len - root);
            let first = begin + (code >> root) as usize;
            let value = codes::coded(cells[symbol], len - root);
            table[first..end].iter_mut().step_by(step).for_each(|c| *c = value);
            code = next(code, len);
        }
    }
    true
}

/// Bits that a further table needs whose first code has `bits` more than the root, when `count` codes of
/// that length are left: as many as use up what the beginning leaves.
fn width(mut bits: u32, root: u32, counts: &[u16; MAX_LEN as usize + 1], count: u16) -> u32 {
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
    fn codes_count_up_from_the_other_end() {
        let all: Vec<u32> = std::iter::successors(Some(0), |&code| Some(next(code, 3))).take(8).collect();
        assert_eq!(all, [0b000, 0b100, 0b010, 0b110, 0b001, 0b101, 0b011, 0b111]);
        assert_eq!(next(7, 3), 0);
    }

    /// The symbols that have a code.
    fn coded(lens: &[u8]) -> Vec<Coded> {
        let all = lens.iter().enumerate().filter(|(_, len)| **len > 0);
        all.map(|(symbol, &len)| Coded::new(symbol, len.into())).collect()
    }

    /// Looks a code up as a decoder does.
    fn find(table: &[Cell], root: u32, bits: u32) -> (u32, u32) {
        let cell = table[(bits & ((1 << root) - 1)) as usize];
        if !codes::is_table(cell) {
            return (codes::value(cell), codes::code_bits(cell));
        }
        let index = (bits >> root) & ((1 << codes::code_bits(cell)) - 1);
        let inner = table[(codes::value(cell) + index) as usize];
        (codes::value(inner), root + codes::code_bits(inner))
    }

    /// Every code of every length leads to its symbol, for random sound codes.
    #[test]
    fn every_code_is_found() {
        let mut seed = 1u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..300 {
            // Splitting a random leaf makes a sound code of one more symbol.
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
            let plain: Vec<Cell> = (0..lens.len() as u32).map(|s| s << 16).collect();
            let mut table = [NOTHING; SYMBOL_CELLS];
            let root = fill(&mut table, SYMBOL_ROOT, &coded(&lens), 0, &plain).unwrap();
            assert_eq!(root, u32::from(*lens.iter().max().unwrap()).min(SYMBOL_ROOT));
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
    fn what_is_no_code_is_refused() {
        let mut table = [NOTHING; DISTANCE_CELLS];
        let mut try_lens =
            |lens: &[u8]| fill(&mut table, DISTANCE_ROOT, &coded(lens), 0, &codes::DISTANCES).is_some();
        assert!(!try_lens(&[1, 1, 1]));
        assert!(!try_lens(&[1, 2]));
        assert!(!try_lens(&[2]));
        assert!(!try_lens(&[0, 15, 15]));
        assert!(try_lens(&[0, 1]));
        assert!(try_lens(&[0, 0]));
        assert!(try_lens(&[2, 1, 2]));
    }
}

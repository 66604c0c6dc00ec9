//! Tables that a code's bits lead through.

use super::codes::{self, Cell, DISTANCE_CELLS, DISTANCE_ROOT, MAX_LEN, NOTHING, SYMBOL_CELLS, SYMBOL_ROOT};

/// Codes for literals and lengths, and for distances, that are not sent but agreed.
const FIXED_SYMBOLS: usize = 288;
const FIXED_DISTANCES: usize = 32;

/// The tables of a block.
pub(crate) struct Tables {
    pub(crate) symbols: [Cell; SYMBOL_CELLS],
    pub(crate) distances: [Cell; DISTANCE_CELLS],
    /// Whether they are those of the agreed codes, which then need not be made again.
    fixed: bool,
}

impl Tables {
    pub(crate) fn new() -> Self {
        Tables { symbols: [NOTHING; SYMBOL_CELLS], distances: [NOTHING; DISTANCE_CELLS], fixed: false }
    }

    /// Makes the tables of the agreed codes.
    pub(crate) fn fix(&mut self) {
        if self.fixed {
            return;
        }
        let mut lens = [8u8; FIXED_SYMBOLS];
        lens[144..256].fill(9);
        lens[256..280].fill(7);
        let sound = fill(&mut self.symbols, SYMBOL_ROOT, &lens, &codes::SYMBOLS)
            && fill(&mut self.distances, DISTANCE_ROOT, &[5; FIXED_DISTANCES], &codes::DISTANCES);
        debug_assert!(sound);
        self.fixed = true;
    }

    /// Makes the tables of codes of these lengths.
    pub(crate) fn make(&mut self, symbols: &[u8], distances: &[u8]) -> Result<(), &'static str> {
        self.fixed = false;
        if symbols.get(256).is_none_or(|&len| len == 0) {
            return Err("a deflate block has no code for its end");
        }
        if !fill(&mut self.symbols, SYMBOL_ROOT, symbols, &codes::SYMBOLS) {
            return Err("the code for literals and lengths of a deflate block is none");
        }
        if !fill(&mut self.distances, DISTANCE_ROOT, distances, &codes::DISTANCES) {
            return Err("the code for distances of a deflate block is none");
        }
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

/// Makes the table of a code, and tables for what is longer than `root` bits. Returns whether it is
/// one: prefixes of none, all used up; or a single code of one bit; or none at all.
pub(crate) fn fill(table: &mut [Cell], root: u32, lens: &[u8], cells: &[Cell]) -> bool {
    let mut counts = [0u16; MAX_LEN as usize + 1];
    for &len in lens {
        counts[len as usize] += 1;
    }
    let used = lens.len() - usize::from(counts[0]);
    counts[0] = 0;
    let mut left = 1i32;
    for &count in &counts[1..] {
        left = 2 * left - i32::from(count);
        if left < 0 {
            return false;
        }
    }
    if left > 0 {
        table[..1 << root].fill(NOTHING);
        if used > 1 || (used == 1 && counts[1] == 0) {
            return false;
        }
        if let Some(only) = lens.iter().position(|&len| len == 1) {
            table[..1 << root].iter_mut().step_by(2).for_each(|c| *c = codes::coded(cells[only], 1));
        }
        return true;
    }
    let mut sorted = [0u16; 288];
    let mut place = [0u16; MAX_LEN as usize + 2];
    for len in 1..=MAX_LEN as usize {
        place[len + 1] = place[len] + counts[len];
    }
    for (symbol, &len) in lens.iter().enumerate().filter(|(_, len)| **len > 0) {
        sorted[usize::from(place[usize::from(len)])] = symbol as u16;
        place[usize::from(len)] += 1;
    }
    let mut symbols = sorted[..used].iter().map(|&s| usize::from(s));
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
    longer(table, root, &counts, code, symbols, cells)
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
            assert!(fill(&mut table, SYMBOL_ROOT, &lens, &plain));
            let mut order: Vec<usize> = (0..lens.len()).collect();
            order.sort_by_key(|&s| (lens[s], s));
            let mut code = 0;
            for s in order {
                let len = lens[s].into();
                for above in [0u32, 1, 0x1555, 0x1fff] {
                    assert_eq!(find(&table, SYMBOL_ROOT, code | above << len), (s as u32, len));
                }
                code = next(code, len);
            }
        }
    }

    #[test]
    fn what_is_no_code_is_refused() {
        let mut table = [NOTHING; DISTANCE_CELLS];
        let mut try_lens = |lens: &[u8]| fill(&mut table, DISTANCE_ROOT, lens, &codes::DISTANCES);
        assert!(!try_lens(&[1, 1, 1]));
        assert!(!try_lens(&[1, 2]));
        assert!(!try_lens(&[2]));
        assert!(!try_lens(&[0, 15, 15]));
        assert!(try_lens(&[0, 1]));
        assert!(try_lens(&[0, 0]));
        assert!(try_lens(&[2, 1, 2]));
    }
}

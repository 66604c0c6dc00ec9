//! Fills in entries of two symbols: a literal, and the literal or length after it.
//!
//! Pairs save lookups and, more important, mispredicted branches: one branch tests two symbols for
//! a length. Filling them in takes a pass over the table, so blocks that are short or have few
//! pairs have none.

use crate::codes::{self, Entry, LITLEN_ROOT};
use crate::tables::{Sorted, next};

/// Minimum number of input bytes, from a block on, for which it may get pairs. They have a few
/// thousand symbols, which are worth the pass over the table.
pub(crate) const MIN_INPUT: usize = 4096;

/// Minimum number of the 2^[`LITLEN_ROOT`] indexes that have two symbols in a block with pairs.
const MIN_SHARE: u32 = 1 << (LITLEN_ROOT - 3);

const END_OF_BLOCK: u16 = 256;

/// Replaces literals in the primary table of literals and lengths by entries of two symbols if both
/// codes fit. Returns false, and leaves the table unchanged, if there would be too few pairs.
pub(crate) fn fill(table: &mut [Entry], order: &Sorted) -> bool {
    let Some(shortest) = order.counts.iter().position(|&count| count > 0) else { return false };
    let shortest = shortest as u32;
    if 2 * shortest > LITLEN_ROOT || share(order) < MIN_SHARE {
        return false;
    }
    // The second symbol of a pair, by the bits after the literal's code.
    let mut seconds = [0; 1 << (LITLEN_ROOT - 1)];
    for (second, &entry) in seconds[..1 << (LITLEN_ROOT - shortest)].iter_mut().zip(&*table) {
        *second = codes::second(entry);
    }
    each_code(order, LITLEN_ROOT - shortest, |symbol, code, len| {
        if symbol < END_OF_BLOCK {
            let first = codes::with_len(codes::LITLEN[usize::from(symbol)], len);
            let places = table[code as usize..1 << LITLEN_ROOT].iter_mut().step_by(1 << len);
            for (place, &second) in places.zip(&seconds[..1 << (LITLEN_ROOT - len)]) {
                *place = codes::pair(first, second, len, LITLEN_ROOT - len);
            }
        }
    });
    true
}

/// Returns how many of the 2^[`LITLEN_ROOT`] indexes have a literal and another code after it.
fn share(order: &Sorted) -> u32 {
    let mut up_to = [0; LITLEN_ROOT as usize + 1];
    for len in 1..=LITLEN_ROOT as usize {
        up_to[len] = up_to[len - 1] + (u32::from(order.counts[len]) << (LITLEN_ROOT as usize - len));
    }
    let mut share = 0;
    each_code(order, LITLEN_ROOT - 1, |symbol, _, len| {
        if symbol < END_OF_BLOCK {
            share += up_to[(LITLEN_ROOT - len) as usize] >> len;
        }
    });
    share
}

/// Calls `f` with symbol, bit-reversed code and length of each code of at most `longest` bits.
#[inline(always)]
fn each_code(order: &Sorted, longest: u32, mut f: impl FnMut(u16, u32, u32)) {
    let mut symbols = order.symbols.iter();
    let mut code = 0;
    for len in 1..=longest {
        for &symbol in symbols.by_ref().take(order.counts[len as usize].into()) {
            f(symbol, code, len);
            code = next(code, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::codes::{self, LITLEN_ROOT, is_literal, is_special};
    use crate::lengths::PackedLengths;
    use crate::pairs::MIN_INPUT;
    use crate::tables::Tables;

    /// Returns lengths as in text: short codes for some literals and match lengths, and longer
    /// ones, up to 12 bits, for some other symbols. The remaining symbols have no code.
    fn lengths() -> PackedLengths {
        let mut lengths = PackedLengths::new();
        (lengths.symbols, lengths.distances) = (286, 30);
        for symbol in 0..286 {
            let len = match symbol {
                0x61..0x69 => 4,
                0x69..0x6d => 5,
                257..261 => 4,
                0x41..0x43 | 256 | 261 => 6,
                0x20..0x24 => 7,
                _ => continue,
            };
            lengths.set(symbol, len);
        }
        (0x80..0x90).for_each(|symbol| lengths.set(symbol, 10));
        (0x90..0xa0).for_each(|symbol| lengths.set(symbol, 12));
        lengths
    }

    #[test]
    fn each_pair_equals_two_entries_of_the_table_without_pairs() {
        let mut lengths = lengths();
        // The symbols of further match lengths complete the code.
        let used: u32 = (0..286).map(|at| (lengths.get(at) > 0) as u32 * (1 << 15 >> lengths.get(at))).sum();
        let mut left = (1 << 15) - used;
        for symbol in 262..286 {
            if left > 0 {
                let len = (15 - left.ilog2()).max(1);
                lengths.set(symbol, len);
                left -= 1 << (15 - len);
            }
        }
        assert_eq!(left, 0);
        (286..316).for_each(|at| lengths.set(at, if at < 288 { 4 } else { 5 }));
        let (mut single, mut paired) = (Tables::new(), Tables::new());
        single.restore(&lengths, MIN_INPUT - 1).unwrap();
        paired.restore(&lengths, MIN_INPUT).unwrap();
        let mut pairs = 0;
        for index in 0..1 << LITLEN_ROOT {
            let (first, entry) = (single.codes().litlen()[index], paired.codes().litlen()[index]);
            if is_special(first) {
                assert_eq!(entry, first);
                continue;
            }
            assert_eq!(codes::before(first), 0);
            assert_eq!(paired.codes().first(entry), first);
            let second =
                single.codes().litlen()[if is_literal(first) { index >> codes::bits(first) } else { 0 }];
            let fits = is_literal(first)
                && !is_special(second)
                && codes::bits(first) + codes::code_bits(second) <= LITLEN_ROOT;
            assert_eq!(codes::before(entry) == 1, fits);
            if fits {
                pairs += 1;
                assert_eq!(codes::bits(entry), codes::bits(first) + codes::bits(second));
                assert_eq!(is_literal(entry), is_literal(second));
                if is_literal(second) {
                    assert_eq!((entry >> 24) as u8, codes::literal(second));
                } else {
                    let extra = 0x5a5a_5a5a << codes::code_bits(second) | u64::from(u32::MAX) << 32;
                    let both = extra << codes::bits(first);
                    assert_eq!(codes::length(entry, codes::extra(entry, both)), {
                        codes::length(second, codes::extra(second, extra))
                    });
                }
            }
        }
        assert!(pairs > 500, "{pairs}");
    }

    #[test]
    fn block_with_few_pairs_gets_none() {
        let mut lengths = PackedLengths::new();
        (lengths.symbols, lengths.distances) = (257, 1);
        (0..256).for_each(|at| lengths.set(at, if at == 255 { 9 } else { 8 }));
        lengths.set(256, 9);
        lengths.set(257, 1);
        let mut tables = Tables::new();
        tables.restore(&lengths, usize::MAX).unwrap();
        assert!(tables.codes().litlen()[..1 << LITLEN_ROOT].iter().all(|&entry| codes::before(entry) == 0));
    }
}

//! Tokens: the output of a parse and the input of the emitter.
//!
//! A token holds two symbols and at most 13 extra bits in 31 bits, so that the same instructions
//! emit a literal pair and a match, without a branch:
//!
//! | bits | literal(s) | match |
//! |---|---|---|
//! | 0-8 | the literal | 256 + length - 3 |
//! | 9-17 | 30 for none, or 32 + the next literal | distance symbol |
//! | 18-30 | 0 | extra bits of the distance |

/// Maximum number of tokens of a block, except at levels 8 and 9, which write a longer block in
/// parts of this many.
pub(crate) const CAPACITY: usize = 24 << 10;
/// Maximum number of tokens of a block at levels 2 and 3, except where level 3 parses lazily. These
/// levels thus leave the rest of the token memory untouched.
pub(crate) const GREEDY_CAPACITY: usize = 8 << 10;
/// Maximum number of tokens that one iteration of a parse writes between checks.
pub(crate) const SLACK: usize = 32;
/// Number of values of bits 0 to 8 of a token, called `first`: 256 literals, and 256 lengths, 3 to
/// 258.
pub(crate) const FIRSTS: usize = 512;
/// Number of values of bits 9 to 17 of a token, called `second`: 30 distance symbols, [`NONE`], one
/// unused, and 256 literals.
pub(crate) const SECONDS: usize = 288;
/// The `second` of a single literal.
pub(crate) const NONE: u32 = 30;

/// The tokens of a block, and symbol counts of all of them or of its last piece.
pub(crate) struct Tokens {
    pub(crate) list: [u32; CAPACITY + SLACK],
    pub(crate) len: usize,
    pub(crate) firsts: [u16; FIRSTS],
    pub(crate) seconds: [u16; SECONDS],
}

impl Tokens {
    pub(crate) const fn new() -> Self {
        Tokens { list: [0; CAPACITY + SLACK], len: 0, firsts: [0; FIRSTS], seconds: [0; SECONDS] }
    }

    /// Forgets all tokens and counts, for another block.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.clear_counts();
    }

    /// Sets the counts to zero, so that they cover the tokens appended from now on.
    pub(crate) fn clear_counts(&mut self) {
        self.firsts.fill(0);
        self.seconds.fill(0);
    }

    /// Returns the number of different literals that each make up more than 1/1,024 of all
    /// literals.
    pub(crate) fn common_literals(&self) -> usize {
        let counts = self.firsts[..256].iter().zip(&self.seconds[32..]);
        let counts = counts.map(|(&first, &second)| u32::from(first) + u32::from(second));
        let all: u32 = counts.clone().sum();
        counts.filter(|&count| count > all >> 10).count()
    }

    /// Forgets the first `count` tokens.
    pub(crate) fn drop_first(&mut self, count: usize) {
        self.list.copy_within(count..self.len, 0);
        self.len -= count;
    }
}

/// Returns the parts of a token: first, second, extra bits of the distance.
#[inline(always)]
pub(crate) fn parts(token: u32) -> (usize, usize, u32) {
    ((token & 0x1ff) as usize, (token >> 9 & 0x1ff) as usize, token >> 18)
}

/// Returns the symbol and the extra bits of a distance from 1 to 32,768 (RFC 1951, 3.2.5).
///
/// With v = distance - 1, the table is indexed by v below 256, else by v / 128, which also
/// determines the symbol.
#[inline(always)]
pub(crate) fn distance_symbol(distance: u32) -> (u32, u32) {
    let v = distance - 1;
    let place = if v < 256 { v } else { 256 + (v >> 7) };
    let (symbol, extra_bits) = DISTANCE_SYMBOLS[place as usize & 511];
    (u32::from(symbol), v & ((1 << extra_bits) - 1))
}

/// Symbol and number of extra bits: for each v below 256, then for each v / 128.
static DISTANCE_SYMBOLS: [(u8, u8); 512] = {
    let mut table = [(0, 0); 512];
    let mut symbol = 0;
    let mut v = 0;
    while symbol < 30 {
        let extra_bits = distance_extra_bits(symbol);
        let end = v + (1 << extra_bits);
        while v < end {
            let entry = (symbol as u8, extra_bits as u8);
            if v < 256 {
                table[v] = entry;
            } else {
                table[256 + (v >> 7)] = entry;
            }
            v += if v < 256 { 1 } else { 128 };
        }
        symbol += 1;
    }
    table
};

/// Returns the number of extra bits of a distance symbol.
pub(crate) const fn distance_extra_bits(symbol: usize) -> u32 {
    if symbol < 4 { 0 } else { symbol as u32 / 2 - 1 }
}

/// The first length and the number of extra bits of length symbol 257 + i.
pub(crate) const LENGTH_CODES: [(u16, u8); 29] = {
    let mut codes = [(0, 0); 29];
    let (mut i, mut length) = (0, 3);
    while i < 28 {
        let extra = if i < 8 { 0 } else { i as u8 / 4 - 1 };
        codes[i] = (length, extra);
        length += 1 << extra;
        i += 1;
    }
    codes[28] = (258, 0);
    codes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_symbols_match_the_rfc() {
        let mut first = 1;
        for symbol in 0..30u32 {
            let bits = distance_extra_bits(symbol as usize);
            for extra in 0..1 << bits {
                assert_eq!(distance_symbol(first + extra), (symbol, extra));
            }
            first += 1 << bits;
        }
        assert_eq!(first, 32_769);
    }

    #[test]
    fn length_codes_match_the_rfc() {
        assert_eq!(LENGTH_CODES[7], (10, 0));
        assert_eq!(LENGTH_CODES[8], (11, 1));
        assert_eq!(LENGTH_CODES[16], (35, 3));
        assert_eq!(LENGTH_CODES[27], (227, 5));
        assert_eq!(LENGTH_CODES[28], (258, 0));
    }
}

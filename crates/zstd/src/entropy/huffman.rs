//! Huffman coding of literals (RFC 8878, section 4.2): builds a decoding table, sized to the
//! longest code, from a tree description.
//!
//! A cell has two bytes: the symbol, and below it the length of its code, so that the cell itself
//! can serve as a shift count. A table for codes of 11 bits takes 4 KiB.

use core::array;

use linerate_core::{Error, Kind, Result};

use super::bits::BackwardBitReader;
use super::fse::{self, NormalizedCounts};

/// The longest code, in bits.
pub(crate) const MAX_LOG: u32 = 11;
/// Number of cells of the largest table.
pub(crate) const MAX_CELLS: usize = 1 << MAX_LOG;
/// Accuracy_Log limit of the FSE table of weights.
const WEIGHTS_LOG: u32 = 6;
/// Largest number of weights in a description; the last weight is implied.
const MAX_DESCRIBED: usize = 255;

/// Number of symbols of each weight. Weight 0 also counts padding, and is not used.
pub(crate) type Ranks = [u16; MAX_LOG as usize + 1];

/// A Huffman tree as the weight of each symbol. The weight is 0 without a code, else 1 + longest
/// code length - code length.
pub(crate) struct Weights {
    weights: [u8; 256],
    /// Number of symbols, up to the last that has a code.
    len: usize,
    ranks: Ranks,
    /// Length of the longest code.
    pub(crate) log: u32,
}

const CUT_OFF: Error = Error::new(Kind::Truncated, 0, "a Huffman tree is cut off");
pub(crate) const LITERALS_CUT_OFF: Error = Error::corrupt("a section of literals is cut off");
const TOO_LONG: Error = Error::corrupt(
    "a Huffman tree has codes of more than 11 bits, which RFC 8878 forbids, though libzstd reads 12",
);

impl Weights {
    pub(crate) const fn new() -> Self {
        Weights { weights: [0; 256], len: 0, ranks: [0; _], log: 0 }
    }

    /// Reads a description from the beginning of `src`, and returns its length in bytes. `self`
    /// must be new. `count` is the function [`count`] or a faster form.
    #[inline(always)]
    pub(crate) fn read(&mut self, src: &[u8], count: impl Fn(&[[u8; 64]]) -> Ranks) -> Result<usize> {
        let header = usize::from(*src.first().ok_or(CUT_OFF)?);
        let used = if header >= 128 {
            let count = header - 127;
            let packed = src.get(1..1 + count.div_ceil(2)).ok_or(CUT_OFF)?;
            for (pair, byte) in self.weights.as_chunks_mut().0.iter_mut().zip(packed) {
                *pair = [byte >> 4, byte & 15];
            }
            self.len = count;
            1 + packed.len()
        } else {
            self.read_coded(src.get(1..1 + header).ok_or(CUT_OFF)?)?;
            1 + header
        };
        self.complete(count)?;
        Ok(used)
    }

    /// Reads FSE-compressed weights. Two interleaved states share one table.
    #[inline(always)]
    fn read_coded(&mut self, src: &[u8]) -> Result<()> {
        let mut cells = [0; 1 << WEIGHTS_LOG];
        // The description may include impossible weights, as long as they do not occur.
        let mut few = NormalizedCounts::<16>::new();
        let read = if cfg!(feature = "small") { None } else { few.read(src, WEIGHTS_LOG, 15).ok() };
        let (used, log) = match read {
            Some(used) => {
                few.build_small(&[0; 16], &mut cells);
                (used, few.log)
            }
            None => {
                let mut counts = NormalizedCounts::<256>::new();
                let used = counts.read(src, WEIGHTS_LOG, 255)?;
                counts.build_reference(&[0; 256], &mut cells);
                (used, counts.log)
            }
        };
        // States are below the size of the table; the mask saves the check.
        let cell = |state: u32| cells[state as usize & (cells.len() - 1)];
        let mut input = BackwardBitReader::new(&src[used..])
            .ok_or(Error::corrupt("the weights of a Huffman tree have no end mark"))?;
        let mut current = input.take(log) as u32;
        let mut other = input.take(log) as u32;
        if input.left() < 0 {
            return Err(Error::corrupt("the weights of a Huffman tree end in their first states"));
        }
        self.len = 0;
        // Decode eight weights at a time while there is room for them and enough bits are left.
        // Each takes at most six bits.
        const ROUND: usize = 8;
        while input.left() >= (ROUND as isize) * WEIGHTS_LOG as isize && self.len + ROUND + 2 <= MAX_DESCRIBED
        {
            let mut word = input.top();
            let mut taken = 0;
            for weight in &mut self.weights[self.len..self.len + ROUND] {
                let now = cell(current);
                let bits = fse::total_bits(now);
                *weight = fse::code(now) as u8;
                // Two shifts, because there may be 0 bits.
                let next = fse::base_state(now) + ((word >> 1) >> (63 - bits)) as u32;
                word <<= bits;
                taken += bits;
                (current, other) = (other, next);
            }
            input.skip(taken);
            self.len += ROUND;
        }
        loop {
            if self.len + 2 > MAX_DESCRIBED {
                return Err(Error::corrupt("a Huffman tree has more weights than there are symbols"));
            }
            let now = cell(current);
            self.weights[self.len] = fse::code(now) as u8;
            self.len += 1;
            let next = fse::base_state(now) + input.take(fse::total_bits(now)) as u32;
            if input.left() < 0 {
                self.weights[self.len] = fse::code(cell(other)) as u8;
                self.len += 1;
                return Ok(());
            }
            (current, other) = (other, next);
        }
    }

    /// Adds the implied last weight, which completes the tree, and validates the tree.
    #[inline(always)]
    fn complete(&mut self, count: impl Fn(&[[u8; 64]]) -> Ranks) -> Result<()> {
        // If the number of weights in half bytes is odd, padding follows them.
        self.weights[self.len] = 0;
        self.len += 1;
        let parts = &self.weights.as_chunks::<64>().0[..self.len.div_ceil(64)];
        if parts.as_flattened().iter().fold(0, |most, &weight| weight.max(most)) > MAX_LOG as u8 {
            return Err(TOO_LONG);
        }
        self.ranks = count(parts);
        let ranks = &mut self.ranks;
        let sum: u32 = (1..=MAX_LOG as usize).map(|w| u32::from(ranks[w]) << (w - 1)).sum();
        if sum == 0 {
            return Err(Error::corrupt("a Huffman tree has no codes"));
        }
        self.log = sum.ilog2() + 1;
        if self.log > MAX_LOG {
            return Err(TOO_LONG);
        }
        let rest = (1u32 << self.log) - sum;
        if !rest.is_power_of_two() {
            return Err(Error::corrupt("the weights of a Huffman tree do not add up"));
        }
        let last = rest.ilog2() + 1;
        ranks[last as usize] += 1;
        let symbol = self.len - 1;
        self.weights[symbol] = last as u8;
        if ranks[1] < 2 || ranks[1] % 2 == 1 {
            return Err(Error::corrupt("the longest codes of a Huffman tree are not in pairs"));
        }
        Ok(())
    }

    /// Writes the canonical tree to `tree`, and builds its table in the first `1 << log` of
    /// `cells`. `non_zero` is the function [`non_zero`] or a faster form.
    #[inline(always)]
    pub(crate) fn build(
        &self,
        tree: &mut CanonicalTree,
        cells: &mut [u16],
        non_zero: impl Fn(&[u8; 64]) -> u64,
    ) {
        self.canonicalize(tree, non_zero);
        tree.build_table(cells);
    }

    /// Returns the canonical tree. `non_zero` is the function [`non_zero`] or a faster form.
    #[inline(always)]
    pub(crate) fn tree(&self, non_zero: impl Fn(&[u8; 64]) -> u64) -> CanonicalTree {
        let mut tree = CanonicalTree::NONE;
        self.canonicalize(&mut tree, non_zero);
        tree
    }

    /// Writes the canonical tree to `tree`. Entries after the last coded symbol keep stale values.
    #[inline(always)]
    fn canonicalize(&self, tree: &mut CanonicalTree, non_zero: impl Fn(&[u8; 64]) -> u64) {
        // Counting sort by weight, then by symbol. Most symbols of a text have no code and are
        // skipped. Neighbours often have the same weight, and would wait for its counter in memory.
        // So the symbols are taken from both ends, each end with its own counters.
        let (mut first, mut end) = ([0u16; 16], [0u16; 16]);
        let mut at = 0;
        for (weight, rank) in self.ranks.iter().enumerate().skip(1) {
            first[weight] = at;
            at += rank;
            end[weight] = at;
        }
        let parts = &self.weights.as_chunks::<64>().0[..self.len.div_ceil(64)];
        let (mut low, mut high) = (0, parts.len());
        while low < high {
            high -= 1;
            let (mut rising, mut falling) = (non_zero(&parts[low]), non_zero(&parts[high]));
            if low == high {
                (rising, falling) = (rising & 0xffff_ffff, falling >> 32 << 32);
            }
            while rising | falling != 0 {
                if rising != 0 {
                    let symbol = rising.trailing_zeros() as usize;
                    rising &= rising - 1;
                    let place = &mut first[usize::from(parts[low][symbol & 63]) & 15];
                    tree.symbols[usize::from(*place) & 255] = (64 * low + symbol) as u8;
                    *place += 1;
                }
                if falling != 0 {
                    let symbol = 63 ^ falling.leading_zeros() as usize;
                    falling ^= 1 << symbol;
                    let place = &mut end[usize::from(parts[high][symbol & 63]) & 15];
                    *place -= 1;
                    tree.symbols[usize::from(*place) & 255] = (64 * high + symbol) as u8;
                }
            }
            low += 1;
        }
        tree.ranks.copy_from_slice(&self.ranks[1..]);
        tree.log = self.log as u16;
    }
}

/// Returns the number of weights of each value from 0 to 11, of at most 256 weights. The kernels
/// have faster forms.
pub(crate) fn count(weights: &[[u8; 64]]) -> Ranks {
    // Neighbours often have the same weight, and would wait for its counter in memory. So each of
    // four in a row has its own counters, of at most 64 weights.
    let mut counts = [[0u8; 16]; 4];
    for four in weights.as_flattened().as_chunks::<4>().0 {
        for (counts, &weight) in counts.iter_mut().zip(four) {
            counts[usize::from(weight).min(15)] += 1;
        }
    }
    array::from_fn(|weight| counts.iter().map(|counts| u16::from(counts[weight])).sum())
}

/// Returns a bit for each byte, set if the byte is not zero; the first byte has the lowest bit. The
/// kernels have faster forms.
pub(crate) fn non_zero(bytes: &[u8; 64]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(byte != 0))
}

/// A Huffman code in canonical form. It takes 280 bytes; a decoding table takes up to 4 KiB.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CanonicalTree {
    /// Number of symbols of each weight, from 1.
    ranks: [u16; MAX_LOG as usize],
    log: u16,
    /// Symbols by rising weight, then by value.
    symbols: [u8; 256],
}

impl CanonicalTree {
    /// The absence of a tree.
    pub(crate) const NONE: CanonicalTree = CanonicalTree { ranks: [0; _], log: 0, symbols: [0; _] };

    /// Serialized size in bytes.
    pub(crate) const LEN: usize = size_of::<CanonicalTree>();

    pub(crate) fn write(&self, into: &mut [u8; CanonicalTree::LEN]) {
        let (numbers, symbols) = into.split_at_mut(CanonicalTree::LEN - 256);
        for (to, number) in
            numbers.as_chunks_mut::<2>().0.iter_mut().zip(self.ranks.iter().chain([&self.log]))
        {
            *to = number.to_ne_bytes();
        }
        symbols.copy_from_slice(&self.symbols);
    }

    /// Deserializes a tree. Returns `None` if its codes do not have 1 to 11 bits or do not fill the
    /// table.
    #[inline(always)]
    pub(crate) fn read(from: &[u8; CanonicalTree::LEN]) -> Option<CanonicalTree> {
        let mut tree = CanonicalTree::NONE;
        let (numbers, symbols) = from.split_at(CanonicalTree::LEN - 256);
        for (number, bytes) in tree.ranks.iter_mut().chain([&mut tree.log]).zip(numbers.as_chunks::<2>().0) {
            *number = u16::from_ne_bytes(*bytes);
        }
        tree.symbols.copy_from_slice(symbols);
        let count: u32 = tree.ranks.iter().map(|&rank| u32::from(rank)).sum();
        let cells: u32 = tree.ranks.iter().zip(0..).map(|(&rank, shift)| u32::from(rank) << shift).sum();
        let longest = u32::from(tree.log);
        // A symbol with a weight above the log takes all cells, so it would be the only one.
        let is_valid =
            (1..=MAX_LOG).contains(&longest) && (2..=256).contains(&count) && cells == 1 << longest;
        is_valid.then_some(tree)
    }

    pub(crate) fn log(&self) -> u32 {
        self.log.into()
    }

    /// Builds the decoding table in the first `1 << log` of `cells`.
    #[inline(always)]
    pub(crate) fn build_table(&self, cells: &mut [u16]) {
        let log = usize::from(self.log);
        let mut cells = &mut cells[..1 << log];
        let mut symbols = &self.symbols[..];
        for weight in 1..=log {
            let (now, later) = symbols.split_at(usize::from(self.ranks[weight - 1]));
            let (to, after) = cells.split_at_mut(now.len() << (weight - 1));
            let bits = log + 1 - weight;
            match weight {
                _ if cfg!(feature = "small") => {
                    for (run, &symbol) in to.chunks_exact_mut(1 << (weight - 1)).zip(now) {
                        run.fill(u16::from(symbol) << 8 | bits as u16);
                    }
                }
                1 => fill::<1>(to, now, bits),
                2 => fill::<2>(to, now, bits),
                3 => fill::<4>(to, now, bits),
                4 => fill::<8>(to, now, bits),
                _ => {
                    for (run, &symbol) in to.chunks_exact_mut(1 << (weight - 1)).zip(now) {
                        let sixteen = [u16::from(symbol) << 8 | bits as u16; 16];
                        for cells in run.as_chunks_mut::<16>().0 {
                            *cells = sixteen;
                        }
                    }
                }
            }
            (symbols, cells) = (later, after);
        }
    }
}

/// Fills `RUN` cells per symbol.
#[inline(always)]
fn fill<const RUN: usize>(cells: &mut [u16], symbols: &[u8], bits: usize) {
    for (run, &symbol) in cells.as_chunks_mut::<RUN>().0.iter_mut().zip(symbols) {
        *run = [u16::from(symbol) << 8 | bits as u16; RUN];
    }
}

/// A decoding table of `1 << log` cells.
#[derive(Clone, Copy)]
pub(crate) struct HuffmanTable<'a> {
    pub(crate) cells: &'a [u16],
    pub(crate) log: u32,
}

/// Decodes one stream into `out`. This is the safe reference of the kernels.
pub(crate) fn decode_stream(table: HuffmanTable<'_>, src: &[u8], out: &mut [u8]) -> Result<()> {
    let mut input =
        BackwardBitReader::new(src).ok_or(Error::corrupt("a stream of literals has no end mark"))?;
    for byte in out {
        let cell = table.cells[input.peek(table.log) as usize];
        *byte = (cell >> 8) as u8;
        input.skip(u32::from(cell & 15));
    }
    if input.left() != 0 {
        return Err(Error::corrupt("a stream of literals is not used up exactly"));
    }
    Ok(())
}

/// Four Huffman streams, and the number of literals of each but the last.
pub(crate) struct FourStreams<'a> {
    pub(crate) streams: [&'a [u8]; 4],
    pub(crate) segment: usize,
}

impl<'a> FourStreams<'a> {
    /// Splits `src` by the jump table at its beginning (RFC 8878, section 3.1.1.3.1.6).
    pub(crate) fn split(src: &'a [u8], count: usize) -> Result<Self> {
        let Some((sizes, rest)) = src.split_at_checked(6) else { return Err(LITERALS_CUT_OFF) };
        if count < 6 {
            return Err(Error::corrupt("fewer than six literals are in four streams"));
        }
        let size = |i: usize| usize::from(u16::from_le_bytes([sizes[i], sizes[i + 1]]));
        let (a, b, c) = (size(0), size(2), size(4));
        if a + b + c >= rest.len() {
            return Err(Error::corrupt("streams of literals are larger than their section"));
        }
        let (one, rest) = rest.split_at(a);
        let (two, rest) = rest.split_at(b);
        let (three, four) = rest.split_at(c);
        Ok(FourStreams { streams: [one, two, three, four], segment: count.div_ceil(4) })
    }
}

/// Decodes four streams, filling `out`: the safe reference of the kernels.
pub(crate) fn decode_streams(
    table: HuffmanTable<'_>,
    streams: &FourStreams<'_>,
    out: &mut [u8],
) -> Result<()> {
    let mut rest = out;
    for (i, stream) in streams.streams.into_iter().enumerate() {
        let len = if i < 3 { streams.segment } else { rest.len() };
        let (part, after) = rest.split_at_mut(len);
        decode_stream(table, stream, part)?;
        rest = after;
    }
    Ok(())
}

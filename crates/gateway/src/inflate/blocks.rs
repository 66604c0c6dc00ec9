//! Deflate blocks of one message (RFC 1951, section 3.2.3).

use linerate_core::{Error, Kind};

use super::bits::{Bits, Exhausted};
use super::codes::{self, MAX_LEN, MAX_MATCH};
use super::history::History;
use super::lengths::CodeLength;
use super::tables::{Tables, fill};
use crate::kernel;
use crate::payload::Payload;

/// Output space reserved at once, in bytes.
const OUTPUT_SPACE: usize = 16 << 10;

/// Where decoding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageEnd {
    /// After an empty stored block at the end of the input: the message is complete.
    Flushed,
    /// Elsewhere. Decoding continues from the beginning of the incomplete block, to which `Blocks` and the
    /// payload were reset.
    Incomplete {
        /// Discarded output of that block, in bytes.
        discarded: usize,
    },
}

/// Why a block was not decoded.
enum BlockError {
    /// The input ended.
    Exhausted,
    Failed(Error),
}

impl From<Exhausted> for BlockError {
    fn from(_: Exhausted) -> Self {
        BlockError::Exhausted
    }
}

impl From<Error> for BlockError {
    fn from(error: Error) -> Self {
        BlockError::Failed(error)
    }
}

/// Decodes the blocks of one message.
pub(crate) struct Blocks<'a> {
    pub(crate) tables: &'a mut Tables,
    pub(crate) history: &'a History,
    pub(crate) payload: &'a mut Payload,
    /// Bytes of the largest payload.
    pub(crate) limit: usize,
    /// Whether to use the fast loop; otherwise the checked one decodes everything.
    pub(crate) fast: bool,
    /// Position of the next block.
    pub(crate) bits: Bits,
}

/// Huffman codes of a block (RFC 1951, section 3.2.3).
#[derive(Clone, Copy)]
enum Codes {
    Fixed,
    Dynamic,
}

/// A decoded block.
enum Block {
    Stored { len: usize },
    Compressed,
}

impl Blocks<'_> {
    /// Decodes blocks up to the end of `src`.
    ///
    /// # Errors
    /// With offsets in `src`.
    pub(crate) fn decode(&mut self, src: &[u8]) -> Result<MessageEnd, Error> {
        loop {
            let (bits, len) = (self.bits, self.payload.len());
            match self.block(src) {
                // After a stored block the position is at a byte boundary.
                Ok(Block::Stored { len: 0 }) if self.bits.at == src.len() => return Ok(MessageEnd::Flushed),
                Ok(_) => self.bits.unread_bytes(),
                Err(BlockError::Exhausted) => {
                    self.bits = bits;
                    let discarded = self.payload.len() - len;
                    self.payload.truncate(len);
                    return Ok(MessageEnd::Incomplete { discarded });
                }
                Err(BlockError::Failed(error)) => {
                    self.bits.unread_bytes();
                    return Err(error.shifted(self.bits.at as u64));
                }
            }
        }
    }

    fn block(&mut self, src: &[u8]) -> Result<Block, BlockError> {
        let header = self.bits.take(src, 3)?;
        if header & 1 == 1 {
            return Err(corrupt("the zlib stream ends"));
        }
        match header >> 1 {
            0 => return self.stored(src),
            1 => self.compressed(src, Codes::Fixed)?,
            2 => {
                self.read_codes(src)?;
                self.compressed(src, Codes::Dynamic)?;
            }
            _ => return Err(corrupt("a deflate block has an invalid type")),
        }
        Ok(Block::Compressed)
    }

    fn stored(&mut self, src: &[u8]) -> Result<Block, BlockError> {
        self.bits.align();
        let lens = src.get(self.bits.at..self.bits.at + 4).ok_or(Exhausted)?;
        let len = u16::from_le_bytes([lens[0], lens[1]]);
        if u16::from_le_bytes([lens[2], lens[3]]) != !len {
            return Err(corrupt("the length of a stored deflate block does not match its complement"));
        }
        let (from, len) = (self.bits.at + 4, usize::from(len));
        let content = src.get(from..from + len).ok_or(Exhausted)?;
        let (out, at) = self.payload.output(len, self.limit)?;
        let Some(output) = out.get_mut(at..at + len) else {
            return Err(BlockError::Failed(Payload::TOO_LONG));
        };
        output.copy_from_slice(content);
        self.payload.set_len(at + len, self.limit)?;
        self.bits.at = from + len;
        Ok(Block::Stored { len })
    }

    /// Reads the dynamic Huffman codes of a block (RFC 1951, section 3.2.7).
    fn read_codes(&mut self, src: &[u8]) -> Result<(), BlockError> {
        const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        const ROOT: u32 = 7;
        let header = self.bits.take(src, 14)? as usize;
        let (symbols, distances, count) = (257 + (header & 31), 1 + (header >> 5 & 31), 4 + (header >> 10));
        if symbols > 286 || distances > 30 {
            return Err(corrupt("a deflate block has codes for too many symbols"));
        }
        let mut lens = [0u8; 19];
        for &symbol in &ORDER[..count] {
            lens[usize::from(symbol)] = self.bits.take(src, 3)? as u8;
        }
        let mut used = [CodeLength::default(); 19];
        let mut used_count = 0;
        for (symbol, &len) in lens.iter().enumerate().filter(|(_, len)| **len > 0) {
            used[used_count] = CodeLength::new(symbol, len.into());
            used_count += 1;
        }
        let mut table = [0; 1 << ROOT];
        let complete = lens.iter().map(|&len| if len == 0 { 0 } else { 128 >> len }).sum::<u32>() == 128;
        let root =
            if complete { fill(&mut table, ROOT, &used[..used_count], 0, &codes::LENGTHS) } else { None };
        let root = root.ok_or_else(|| corrupt("the code length code of a deflate block is invalid"))?;
        let lengths = &mut self.tables.lengths;
        lengths.clear();
        let (mut at, mut last) = (0, 0);
        while at < symbols + distances {
            // A code and its extra bits.
            self.bits.ensure(src, ROOT + 7);
            let entry = table[(self.bits.buffer & ((1 << root) - 1)) as usize & ((1 << ROOT) - 1)];
            self.bits.skip(codes::bits(entry))?;
            let symbol = codes::value(entry);
            if symbol < 16 {
                if symbol > 0 {
                    lengths.push(at, symbol);
                }
                (at, last) = (at + 1, symbol);
                continue;
            }
            let (base, bits) = match symbol {
                16 => (3, 2),
                17 => (3, 3),
                _ => (11, 7),
            };
            if symbol == 16 && at == 0 {
                return Err(corrupt("a deflate block repeats a code length before the first"));
            }
            let repeat = base + (self.bits.skip(bits)? & ((1 << bits) - 1)) as usize;
            if at + repeat > symbols + distances {
                return Err(corrupt("a deflate block has too many code lengths"));
            }
            match symbol {
                16 if last > 0 => (at..at + repeat).for_each(|at| lengths.push(at, last)),
                16 => {}
                _ => last = 0,
            }
            at += repeat;
        }
        self.tables.build(symbols).map_err(corrupt)
    }

    /// Decodes literals and matches up to the end of the block.
    fn compressed(&mut self, src: &[u8], codes: Codes) -> Result<(), BlockError> {
        loop {
            if self.fast && self.decode_symbols(src, codes, fast)? {
                return Ok(());
            }
            if self.decode_symbols(src, codes, checked)? {
                return Ok(());
            }
        }
    }

    /// Decodes symbols with one of the loops; returns whether the block has ended.
    fn decode_symbols(&mut self, src: &[u8], codes: Codes, decode: SymbolLoop) -> Result<bool, BlockError> {
        let tables = match codes {
            Codes::Fixed => Tables::fixed(),
            Codes::Dynamic => self.tables,
        };
        let (out, mut at) = self.payload.output(OUTPUT_SPACE, self.limit)?;
        let ended = decode(tables, self.history, src, &mut self.bits, out, &mut at)?;
        self.payload.set_len(at, self.limit)?;
        Ok(ended)
    }
}

/// Decodes symbols of a block from a bit position of the input to an offset in the output, after which there
/// are [`OUTPUT_SPACE`] bytes unless the limit on the payload is nearer. Returns whether the block has ended.
type SymbolLoop = fn(&Tables, &History, &[u8], &mut Bits, &mut [u8], &mut usize) -> Result<bool, BlockError>;

fn fast(
    tables: &Tables,
    history: &History,
    src: &[u8],
    bits: &mut Bits,
    out: &mut [u8],
    at: &mut usize,
) -> Result<bool, BlockError> {
    Ok(kernel::inflate(tables, history, src, bits, out, at))
}

fn corrupt(message: &'static str) -> BlockError {
    BlockError::Failed(Error::new(Kind::Corrupt, 0, message))
}

/// Looks a code up in a table and its subtables and consumes it with its extra bits; returns the entry, and the
/// sum of its base and the extra bits.
fn lookup(table: &[codes::Entry], root: u32, bits: &mut Bits) -> Result<(codes::Entry, usize), Exhausted> {
    let mut entry = table[(bits.buffer & ((1 << root) - 1)) as usize];
    if codes::is_subtable(entry) {
        bits.skip(root)?;
        let index = bits.buffer & ((1 << codes::code_bits(entry)) - 1);
        entry = table[codes::value(entry) as usize + index as usize];
    }
    let buffer = bits.skip(codes::bits(entry))?;
    Ok((entry, codes::base_plus_extra(entry, buffer)))
}

/// Symbols that the checked loop decodes before the fast one is tried again.
const CHECKED_SYMBOLS: usize = 8;
const _: () = assert!(CHECKED_SYMBOLS * MAX_MATCH < OUTPUT_SPACE);

/// Decodes [`CHECKED_SYMBOLS`] symbols with all checks; the specification of the fast loop. Returns whether the
/// block has ended. Every call decodes at least one symbol or fails.
fn checked(
    tables: &Tables,
    history: &History,
    src: &[u8],
    bits: &mut Bits,
    out: &mut [u8],
    at: &mut usize,
) -> Result<bool, BlockError> {
    const { assert!(2 * MAX_LEN + 5 + 13 <= 56) };
    for _ in 0..CHECKED_SYMBOLS {
        bits.refill(src);
        let (entry, len) = lookup(&tables.litlen, tables.litlen_root, bits)?;
        if codes::is_literal(entry) {
            let Some(byte) = out.get_mut(*at) else { return Err(BlockError::Failed(Payload::TOO_LONG)) };
            *byte = codes::value(entry) as u8;
            *at += 1;
            continue;
        }
        if codes::is_special(entry) {
            return if codes::is_end(entry) {
                Ok(true)
            } else {
                Err(corrupt("a deflate block has an invalid literal/length code"))
            };
        }
        let (entry, distance) = lookup(&tables.distances, tables.distance_root, bits)?;
        if codes::is_special(entry) {
            return Err(corrupt("a deflate block has an invalid distance code"));
        }
        if distance > *at + history.len() {
            return Err(corrupt("a match begins before the beginning of the stream"));
        }
        copy(history, out, *at, distance, len)?;
        *at += len;
    }
    Ok(false)
}

/// Copies a match, which may begin before the message and overlap its own output.
fn copy(history: &History, out: &mut [u8], at: usize, distance: usize, len: usize) -> Result<(), BlockError> {
    let Some(output) = out.get_mut(at..at + len) else { return Err(BlockError::Failed(Payload::TOO_LONG)) };
    let done = if distance > at { history.copy(distance - at, output) } else { 0 };
    for i in at + done..at + len {
        out[i] = out[i - distance];
    }
    Ok(())
}

//! The blocks of a message.

use linerate_core::{Error, Kind};

use super::bits::{Bits, Exhausted};
use super::codes::{self, MAX_LEN};
use super::history::History;
use super::lengths::Coded;
use super::tables::{Tables, fill};
use crate::kernel;
use crate::payload::Payload;

/// The longest match.
pub(crate) const MAX_MATCH: usize = 258;
/// Room that is made for output at once.
const ROOM: usize = 16 << 10;

/// Why decoding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With an empty stored block, behind which nothing comes.
    Flushed,
    /// The input ended elsewhere; decoding goes on from the block that is not whole, to which `Blocks`
    /// and the payload have gone back.
    Within {
        /// Bytes of output of that block.
        dropped: usize,
    },
}

/// What stops a block.
enum Stop {
    Exhausted,
    Failed(Error),
}

impl From<Exhausted> for Stop {
    fn from(_: Exhausted) -> Self {
        Stop::Exhausted
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

/// Reads the blocks of one message.
pub(crate) struct Blocks<'a> {
    pub(crate) tables: &'a mut Tables,
    pub(crate) history: &'a History,
    pub(crate) payload: &'a mut Payload,
    /// Bytes of the longest payload.
    pub(crate) limit: usize,
    /// Whether the fast loop may run; without it, the careful one does all.
    pub(crate) fast: bool,
    /// Where the next block begins.
    pub(crate) bits: Bits,
}

/// Whose codes a block has.
#[derive(Clone, Copy)]
enum Codes {
    /// Those of the format.
    Agreed,
    /// Its own.
    Sent,
}

/// What a block was.
enum Block {
    Stored { len: usize },
    Coded,
}

impl Blocks<'_> {
    /// Decodes blocks up to the end of `src`.
    ///
    /// # Errors
    /// At a byte of `src`.
    pub(crate) fn decode(&mut self, src: &[u8]) -> Result<End, Error> {
        loop {
            let (bits, len) = (self.bits, self.payload.len());
            match self.block(src) {
                // Here the bits are at a whole byte.
                Ok(Block::Stored { len: 0 }) if self.bits.at == src.len() => return Ok(End::Flushed),
                Ok(_) => self.bits.settle(),
                Err(Stop::Exhausted) => {
                    self.bits = bits;
                    let dropped = self.payload.len() - len;
                    self.payload.truncate(len);
                    return Ok(End::Within { dropped });
                }
                Err(Stop::Failed(error)) => {
                    self.bits.settle();
                    return Err(error.shifted(self.bits.at as u64));
                }
            }
        }
    }

    fn block(&mut self, src: &[u8]) -> Result<Block, Stop> {
        let head = self.bits.take(src, 3)?;
        if head & 1 == 1 {
            return Err(corrupt("the zlib stream ends"));
        }
        match head >> 1 {
            0 => return self.stored(src),
            1 => self.coded(src, Codes::Agreed)?,
            2 => {
                self.codes(src)?;
                self.coded(src, Codes::Sent)?;
            }
            _ => return Err(corrupt("a deflate block has no known type")),
        }
        Ok(Block::Coded)
    }

    fn stored(&mut self, src: &[u8]) -> Result<Block, Stop> {
        self.bits.align();
        let lens = src.get(self.bits.at..self.bits.at + 4).ok_or(Exhausted)?;
        let len = u16::from_le_bytes([lens[0], lens[1]]);
        if u16::from_le_bytes([lens[2], lens[3]]) != !len {
            return Err(corrupt("the length of a stored deflate block does not match its complement"));
        }
        let (from, len) = (self.bits.at + 4, usize::from(len));
        let content = src.get(from..from + len).ok_or(Exhausted)?;
        let (out, at) = self.payload.output(len, self.limit)?;
        let Some(room) = out.get_mut(at..at + len) else { return Err(Stop::Failed(Payload::TOO_LONG)) };
        room.copy_from_slice(content);
        self.payload.reached(at + len, self.limit)?;
        self.bits.at = from + len;
        Ok(Block::Stored { len })
    }

    /// Reads the codes of a block.
    fn codes(&mut self, src: &[u8]) -> Result<(), Stop> {
        const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        const ROOT: u32 = 7;
        let head = self.bits.take(src, 14)? as usize;
        let (symbols, distances, count) = (257 + (head & 31), 1 + (head >> 5 & 31), 4 + (head >> 10));
        if symbols > 286 || distances > 30 {
            return Err(corrupt("a deflate block has codes for too many symbols"));
        }
        let mut lens = [0u8; 19];
        for &place in &ORDER[..count] {
            lens[usize::from(place)] = self.bits.take(src, 3)? as u8;
        }
        let mut used = [Coded::default(); 19];
        let mut of = 0;
        for (symbol, &len) in lens.iter().enumerate().filter(|(_, len)| **len > 0) {
            used[of] = Coded::new(symbol, len.into());
            of += 1;
        }
        let mut table = [0; 1 << ROOT];
        let whole = lens.iter().map(|&len| if len == 0 { 0 } else { 128 >> len }).sum::<u32>() == 128;
        let root = if whole { fill(&mut table, ROOT, &used[..of], 0, &codes::LENGTHS) } else { None };
        let root = root.ok_or_else(|| corrupt("the code for code lengths of a deflate block is none"))?;
        let lengths = &mut self.tables.lengths;
        lengths.clear();
        let (mut at, mut last) = (0, 0);
        while at < symbols + distances {
            // A code and its extra bits.
            self.bits.want(src, ROOT + 7);
            let cell = table[(self.bits.buffer & ((1 << root) - 1)) as usize & ((1 << ROOT) - 1)];
            self.bits.skip(codes::bits(cell))?;
            let symbol = codes::value(cell);
            if symbol < 16 {
                if symbol > 0 {
                    lengths.push(at, symbol);
                }
                (at, last) = (at + 1, symbol);
                continue;
            }
            let (least, bits) = match symbol {
                16 => (3, 2),
                17 => (3, 3),
                _ => (11, 7),
            };
            if symbol == 16 && at == 0 {
                return Err(corrupt("a deflate block repeats a code length before the first"));
            }
            let repeat = least + (self.bits.skip(bits)? & ((1 << bits) - 1)) as usize;
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
        self.tables.make(symbols).map_err(corrupt)
    }

    /// Decodes literals and matches up to the end of the block.
    fn coded(&mut self, src: &[u8], codes: Codes) -> Result<(), Stop> {
        loop {
            if self.fast && self.some(src, codes, fast)? {
                return Ok(());
            }
            if self.some(src, codes, careful)? {
                return Ok(());
            }
        }
    }

    /// Decodes some symbols with one of the loops; returns whether the block has ended.
    fn some(&mut self, src: &[u8], codes: Codes, symbols: Loop) -> Result<bool, Stop> {
        let tables = match codes {
            Codes::Agreed => Tables::agreed(),
            Codes::Sent => self.tables,
        };
        let (out, mut at) = self.payload.output(ROOM, self.limit)?;
        let ended = symbols(tables, self.history, src, &mut self.bits, out, &mut at)?;
        self.payload.reached(at, self.limit)?;
        Ok(ended)
    }
}

/// Decodes symbols of a block from bits of the input to a place in the output, for which there is a
/// [`ROOM`] unless the payload may not be so long.
type Loop = fn(&Tables, &History, &[u8], &mut Bits, &mut [u8], &mut usize) -> Result<bool, Stop>;

fn fast(
    tables: &Tables,
    history: &History,
    src: &[u8],
    bits: &mut Bits,
    out: &mut [u8],
    at: &mut usize,
) -> Result<bool, Stop> {
    Ok(kernel::inflate(tables, history, src, bits, out, at))
}

fn corrupt(what: &'static str) -> Stop {
    Stop::Failed(Error::new(Kind::Corrupt, 0, what))
}

/// Looks a code up in a table and those behind it, and uses its bits and the extra ones; returns the
/// cell and the sum of its value and the extra bits.
fn lookup(table: &[codes::Cell], root: u32, bits: &mut Bits) -> Result<(codes::Cell, usize), Exhausted> {
    let mut cell = table[(bits.buffer & ((1 << root) - 1)) as usize];
    if codes::is_table(cell) {
        bits.skip(root)?;
        let index = bits.buffer & ((1 << codes::code_bits(cell)) - 1);
        cell = table[codes::value(cell) as usize + index as usize];
    }
    let buffer = bits.skip(codes::bits(cell))?;
    Ok((cell, codes::sum(cell, buffer)))
}

/// Symbols that the careful loop decodes before the fast one is tried again.
const CAREFUL: usize = 8;
const _: () = assert!(CAREFUL * MAX_MATCH < ROOM);

/// Decodes a few symbols, checking everything. Returns whether the block has ended. Every call gets on by
/// a symbol or more, or fails.
fn careful(
    tables: &Tables,
    history: &History,
    src: &[u8],
    bits: &mut Bits,
    out: &mut [u8],
    at: &mut usize,
) -> Result<bool, Stop> {
    const { assert!(2 * MAX_LEN + 5 + 13 <= 56) };
    for _ in 0..CAREFUL {
        bits.refill(src);
        let (cell, len) = lookup(&tables.symbols, tables.symbol_root, bits)?;
        if codes::is_literal(cell) {
            let Some(room) = out.get_mut(*at) else { return Err(Stop::Failed(Payload::TOO_LONG)) };
            *room = codes::value(cell) as u8;
            *at += 1;
            continue;
        }
        if codes::is_special(cell) {
            return if codes::is_end(cell) {
                Ok(true)
            } else {
                Err(corrupt("a deflate block has a code for nothing"))
            };
        }
        let (cell, distance) = lookup(&tables.distances, tables.distance_root, bits)?;
        if codes::is_special(cell) {
            return Err(corrupt("a deflate block has a code for no distance"));
        }
        if distance > *at + history.len() {
            return Err(corrupt("a match begins before the beginning of the stream"));
        }
        copy(history, out, *at, distance, len)?;
        *at += len;
    }
    Ok(false)
}

/// Copies a match, which may begin before the message and run on into what it copies.
fn copy(history: &History, out: &mut [u8], at: usize, distance: usize, len: usize) -> Result<(), Stop> {
    let Some(room) = out.get_mut(at..at + len) else { return Err(Stop::Failed(Payload::TOO_LONG)) };
    let done = if distance > at { history.copy(distance - at, room) } else { 0 };
    for i in at + done..at + len {
        out[i] = out[i - distance];
    }
    Ok(())
}

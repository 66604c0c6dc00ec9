//! Decodes deflate blocks (RFC 1951, section 3.2.3), resumable at every byte of input and output.

use linerate_core::{Error, Kind};

use crate::bits::{Bits, Exhausted};
use crate::codes::{self, DISTANCE_ROOT, Entry, MAX_LEN, is_end, is_literal, is_special, is_subtable};
use crate::kernel;
use crate::lengths::{MAX_SYMBOLS, PackedLengths};
use crate::scratch::Scratch;
use crate::tables::{Codes, FIXED, LENGTHS_ROOT};
use crate::unit::Unit;
use crate::window::{History, Window};

/// The reason why a decoder returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// All input is consumed. If no more input follows, the data is truncated.
    NeedInput,
    /// The output buffer is full, and at least one more byte follows. A
    /// [`StreamDecoder`](crate::StreamDecoder) also returns this with the output before an error,
    /// and after a header that it was asked to read.
    NeedOutput,
    /// A [`StreamDecoder`](crate::StreamDecoder) has read the header of a zlib stream that needs a
    /// preset dictionary.
    NeedDictionary,
    /// The data has ended, with its trailer if it has one.
    End,
}

/// The result of a call of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of input bytes consumed.
    pub read: usize,
    /// Number of output bytes written.
    pub written: usize,
    /// The reason why the call returned.
    pub status: Status,
}

/// The element that comes next in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    BlockHeader,
    StoredLength,
    /// [`BlockDecoder::left`] bytes of a stored block remain.
    Stored,
    CodeCounts,
    /// The lengths of the code length code are being read.
    CodeLengthCode,
    CodeLengths,
    FixedSymbols,
    DynamicSymbols,
    /// [`BlockDecoder::left`] bytes of a match at [`BlockDecoder::distance`] remain, then come
    /// symbols of the fixed codes.
    FixedMatch,
    /// Like [`Stage::FixedMatch`], but then come symbols of dynamic codes.
    DynamicMatch,
    End,
    Failed,
}

/// Decodes deflate data in pieces, without a container and without a window of its own. Matches are
/// copied from the caller's output buffer and, before its beginning, from a [`Window`]. So output
/// that stays in the buffer from call to call, such as that of a long message, is never copied to a
/// window.
///
/// It holds about 200 bytes, including the code lengths of the current block. The decode tables are
/// in a [`Scratch`] of the thread. If another stream used the scratch in the middle of a block,
/// they are built again from these lengths.
pub struct BlockDecoder {
    /// Code lengths of the current block. While they are being read, only the lengths before index
    /// [`Self::at`] are set.
    lengths: PackedLengths,
    /// Lengths of the code length code, three bits each.
    code_length_code: u64,
    /// Bits that were read from the input but belong to elements not decoded yet.
    buffer: u64,
    count: u8,
    stage: Stage,
    is_final: bool,
    /// Whether the block whose header was read last is stored and empty.
    is_flush: bool,
    /// Number of blocks whose header was read, modulo 2^32.
    blocks: u32,
    /// Number of code lengths read so far in the header of a dynamic block.
    at: u16,
    /// Number of bytes left of a stored block or a match. In [`Stage::CodeLengthCode`], the number
    /// of lengths of the code length code.
    left: u16,
    distance: u16,
}

/// The reason why decoding stopped.
pub(crate) enum Stop {
    /// The input ended.
    Exhausted,
    /// The output buffer is full.
    Full,
    /// The next block begins at the bit at which the caller wants to stop, or later.
    Boundary,
    Failed(Error),
}

impl From<Exhausted> for Stop {
    fn from(_: Exhausted) -> Self {
        Stop::Exhausted
    }
}

impl BlockDecoder {
    /// Creates a decoder at the beginning of deflate data.
    pub const fn new() -> Self {
        BlockDecoder {
            lengths: PackedLengths::new(),
            code_length_code: 0,
            buffer: 0,
            count: 0,
            stage: Stage::BlockHeader,
            is_final: false,
            is_flush: false,
            blocks: 0,
            at: 0,
            left: 0,
            distance: 0,
        }
    }

    /// Begins again: with other data, or with data that continues a stream after its final block.
    /// The caller keeps or clears the window.
    pub fn restart(&mut self) {
        *self = Self::new();
    }

    /// Begins data that continues a stream, without resetting the number of blocks.
    pub(crate) fn continue_data(&mut self) {
        *self = BlockDecoder { blocks: self.blocks, ..Self::new() };
    }

    /// Returns the number of blocks that have begun, modulo 2^32.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Creates a decoder before a block that begins with the upper `count` bits of `byte`, which
    /// has been consumed.
    #[cfg(feature = "std")]
    pub(crate) fn within_byte(byte: u8, count: u8) -> Self {
        BlockDecoder { buffer: u64::from(byte) >> (8 - count), count, ..Self::new() }
    }

    /// Returns a copy from which decoding can continue later.
    #[cfg(feature = "std")]
    pub(crate) fn snapshot(&self) -> Self {
        BlockDecoder { ..*self }
    }

    /// Returns the number of bits that were consumed from the input but belong to elements not
    /// decoded yet.
    pub(crate) fn ahead(&self) -> u8 {
        self.count
    }

    /// Returns whether the position is before a block.
    pub(crate) fn is_before_block(&self) -> bool {
        self.stage == Stage::BlockHeader
    }

    /// Returns whether the data has ended.
    #[cfg(feature = "std")]
    pub(crate) fn is_at_end(&self) -> bool {
        self.stage == Stage::End
    }

    /// Returns the bits that were consumed but belong to elements not decoded yet, lowest first.
    #[cfg(feature = "std")]
    pub(crate) fn bits_ahead(&self) -> u64 {
        self.buffer
    }

    /// Returns whether the block that began last is the final one.
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Returns whether the position is directly after an empty stored block, with which encoders
    /// flush. Then everything encoded before has been decoded.
    pub fn is_flushed(&self) -> bool {
        self.is_flush && self.stage == Stage::BlockHeader && self.count == 0
    }

    /// Decodes from `src` to `out[at..]`. Matches reach back into `out[..at]` and, before that,
    /// into `window`, at most by the size of the window.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] if the stream is damaged, with the offset in `src`. This leaves
    /// `out[at..]` unspecified, and every later call fails until [`restart`](Self::restart).
    ///
    /// # Panics
    /// Panics if `at` is larger than the length of `out`.
    pub fn decode(
        &mut self,
        scratch: &mut Scratch,
        window: &Window<'_>,
        src: &[u8],
        out: &mut [u8],
        at: usize,
    ) -> Result<Progress, Error> {
        self.decode_after(scratch, window.history(), window.size(), src, out, at, NO_STOP).0
    }

    /// Like [`decode`](Self::decode), after any history, and only up to the first block that begins
    /// at bit `stop` of `src` or later. Also returns how much output precedes an error.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn decode_after(
        &mut self,
        scratch: &mut Scratch,
        history: History<'_>,
        max_distance: usize,
        src: &[u8],
        out: &mut [u8],
        at: usize,
        stop: i64,
    ) -> (Result<Progress, Error>, usize) {
        let (stop, read, written) = self.decode_until(scratch, (history, max_distance), src, out, at, stop);
        let done = |status| Ok(Progress { read, written, status });
        let result = match stop {
            Ok(()) => done(Status::End),
            Err(Stop::Exhausted | Stop::Boundary) => done(Status::NeedInput),
            Err(Stop::Full) => done(Status::NeedOutput),
            Err(Stop::Failed(error)) => Err(error),
        };
        (result, written)
    }

    /// Like [`decode_after`](Self::decode_after), for any unit of output. Returns the reason why it
    /// stopped, the number of bytes consumed, and the number of units written.
    pub(crate) fn decode_until<U: Unit>(
        &mut self,
        scratch: &mut Scratch,
        (history, max_distance): (History<'_>, usize),
        src: &[u8],
        out: &mut [U],
        at: usize,
        stop: i64,
    ) -> (Result<(), Stop>, usize, usize) {
        assert!(at <= out.len(), "the output begins after its buffer");
        match self.stage {
            Stage::DynamicSymbols | Stage::DynamicMatch
                if scratch.tables.restore(&self.lengths, src.len()).is_err() =>
            {
                self.stage = Stage::Failed;
            }
            _ => {}
        }
        let bits = Bits { buffer: self.buffer, count: self.count.into(), at: 0 };
        let mut run = Run { decoder: self, scratch, history, max_distance, src, bits, out, o: at, stop };
        let mut stopped = run.decode();
        if matches!(stopped, Err(Stop::Exhausted)) {
            run.bits.clear_unread()
        } else {
            run.bits.unread_bytes()
        };
        let (bits, o) = (run.bits, run.o);
        (self.buffer, self.count) = (bits.buffer, bits.count as u8);
        if let Err(Stop::Failed(error)) = &mut stopped {
            self.stage = Stage::Failed;
            *error = error.shifted(bits.at as u64);
        }
        (stopped, bits.at, o - at)
    }
}

impl Default for BlockDecoder {
    fn default() -> Self {
        Self::new()
    }
}

/// The value of `stop` for decoding without a bit to stop at.
pub(crate) const NO_STOP: i64 = i64::MAX;

/// A call of a decoder.
struct Run<'a, U> {
    decoder: &'a mut BlockDecoder,
    scratch: &'a mut Scratch,
    history: History<'a>,
    max_distance: usize,
    src: &'a [u8],
    bits: Bits,
    out: &'a mut [U],
    /// Offset of the next unit of output.
    o: usize,
    /// Decoding stops before the first block that begins at this bit of the input or later.
    stop: i64,
}

impl<U: Unit> Run<'_, U> {
    /// Decodes up to the end of the final block. An incomplete element of the input stays in the
    /// bit buffer.
    fn decode(&mut self) -> Result<(), Stop> {
        loop {
            self.decoder.stage = match self.decoder.stage {
                Stage::BlockHeader if self.bits.position() >= self.stop => return Err(Stop::Boundary),
                Stage::BlockHeader => self.block_header()?,
                Stage::StoredLength => self.stored_length()?,
                Stage::Stored => self.stored()?,
                Stage::CodeCounts => self.code_counts()?,
                Stage::CodeLengthCode => self.code_length_code()?,
                Stage::CodeLengths => self.code_lengths()?,
                Stage::FixedSymbols => self.symbols(false)?,
                Stage::DynamicSymbols => self.symbols(true)?,
                Stage::FixedMatch | Stage::DynamicMatch => self.rest_of_match()?,
                Stage::End => return Ok(()),
                Stage::Failed => return Err(corrupt("an earlier call found the deflate data corrupt")),
            };
        }
    }

    fn block_header(&mut self) -> Result<Stage, Stop> {
        let header = self.bits.take(self.src, 3)?;
        self.decoder.is_final = header & 1 == 1;
        self.decoder.is_flush = false;
        self.decoder.blocks = self.decoder.blocks.wrapping_add(1);
        match header >> 1 {
            0 => Ok(Stage::StoredLength),
            1 => Ok(Stage::FixedSymbols),
            2 => Ok(Stage::CodeCounts),
            _ => Err(corrupt("a deflate block has an invalid type")),
        }
    }

    fn stored_length(&mut self) -> Result<Stage, Stop> {
        self.bits.skip_to_byte();
        let len = self.bits.take(self.src, 32)?;
        if len >> 16 != !len & 0xffff {
            return Err(corrupt("the length of a stored deflate block does not match its complement"));
        }
        self.decoder.left = len as u16;
        self.decoder.is_flush = self.decoder.left == 0;
        // The content is copied from the input directly.
        self.bits.unread_bytes();
        Ok(Stage::Stored)
    }

    fn stored(&mut self) -> Result<Stage, Stop> {
        let left = usize::from(self.decoder.left);
        let from = &self.src[self.bits.at..];
        let to = &mut self.out[self.o..];
        let len = left.min(from.len()).min(to.len());
        U::copy_bytes(&from[..len], &mut to[..len]);
        self.bits.at += len;
        self.o += len;
        self.decoder.left -= len as u16;
        if len == left {
            Ok(self.after_block())
        } else if self.o == self.out.len() {
            Err(Stop::Full)
        } else {
            Err(Stop::Exhausted)
        }
    }

    fn after_block(&mut self) -> Stage {
        if !self.decoder.is_final {
            return Stage::BlockHeader;
        }
        self.bits.skip_to_byte();
        Stage::End
    }

    /// Reads the numbers of codes of a dynamic block (RFC 1951, section 3.2.7).
    fn code_counts(&mut self) -> Result<Stage, Stop> {
        let header = self.bits.take(self.src, 14)?;
        let (symbols, distances) = (257 + (header & 31), 1 + (header >> 5 & 31));
        if symbols > 286 || distances > 30 {
            return Err(corrupt("a deflate block has codes for too many symbols"));
        }
        let decoder = &mut *self.decoder;
        decoder.lengths = PackedLengths::new();
        (decoder.lengths.symbols, decoder.lengths.distances) = (symbols as u16, distances as u8);
        decoder.code_length_code = 0;
        // `left` is now the number of lengths of the code length code, and `at` counts the ones
        // read.
        (decoder.left, decoder.at) = (4 + (header >> 10) as u16, 0);
        Ok(Stage::CodeLengthCode)
    }

    fn code_length_code(&mut self) -> Result<Stage, Stop> {
        const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        while self.decoder.at < self.decoder.left {
            let len = self.bits.take(self.src, 3)?;
            let symbol = ORDER[usize::from(self.decoder.at)];
            self.decoder.code_length_code |= u64::from(len) << (3 * symbol);
            self.decoder.at += 1;
        }
        self.decoder.at = 0;
        Ok(Stage::CodeLengths)
    }

    fn code_lengths(&mut self) -> Result<Stage, Stop> {
        let mut table = [0; 1 << LENGTHS_ROOT];
        let root = self
            .scratch
            .tables
            .fill_code_lengths(&mut table, self.decoder.code_length_code)
            .ok_or_else(|| corrupt("the code length code of a deflate block is invalid"))?;
        let (bits, lengths) = (&mut self.bits, &mut self.decoder.lengths);
        // The list begins with the lengths that an earlier call has read, usually none.
        let list = self.scratch.tables.list(lengths);
        let count = lengths.count();
        let mut at = usize::from(self.decoder.at);
        let mut last = if at > 0 { lengths.get(at - 1) } else { 0 };
        while at < count {
            // A code and its extra bits are consumed together or not at all.
            self.decoder.at = at as u16;
            bits.ensure(self.src, LENGTHS_ROOT + 7);
            let entry = table[(bits.buffer & ((1 << root) - 1)) as usize & ((1 << LENGTHS_ROOT) - 1)];
            let (symbol, len) = (codes::value(entry), codes::bits(entry));
            if symbol < 16 {
                bits.skip(len)?;
                lengths.set(at, symbol);
                if symbol > 0 {
                    list.push(at, symbol);
                }
                (at, last) = (at + 1, symbol);
                continue;
            }
            let (base, extra) = match symbol {
                16 => (3, 2),
                17 => (3, 3),
                _ => (11, 7),
            };
            let buffer = bits.skip(len + extra)?;
            let repeat = base + (buffer >> len & ((1 << extra) - 1)) as usize;
            if symbol == 16 && at == 0 {
                return Err(corrupt("a deflate block repeats a code length before the first"));
            }
            if at + repeat > count {
                return Err(corrupt("a deflate block has too many code lengths"));
            }
            match symbol {
                16 if last > 0 => (at..at + repeat).for_each(|at| {
                    lengths.set(at, last);
                    list.push(at, last);
                }),
                16 => {}
                _ => last = 0,
            }
            at += repeat;
        }
        const { assert!(MAX_SYMBOLS <= u16::MAX as usize) };
        self.scratch.tables.prepare(lengths, self.src.len() - bits.at).map_err(corrupt)?;
        Ok(Stage::DynamicSymbols)
    }

    /// Decodes literals and matches up to the end of the block, or up to a match for which the
    /// output has too little room.
    fn symbols(&mut self, dynamic: bool) -> Result<Stage, Stop> {
        let codes = if dynamic { self.scratch.tables.codes() } else { FIXED };
        let (history, max_distance) = (self.history, self.max_distance);
        let symbols = Symbols { codes, history, max_distance, src: self.src };
        loop {
            if let Some(tier) = self.scratch.tier
                && kernel::decode(tier, &symbols, &mut self.bits, self.out, &mut self.o)
            {
                return Ok(self.after_block());
            }
            match checked(&symbols, &mut self.bits, self.out, &mut self.o)? {
                Checked::Going => {}
                Checked::BlockEnd => return Ok(self.after_block()),
                Checked::Match { len, distance } => {
                    (self.decoder.left, self.decoder.distance) = (len, distance);
                    return Ok(if dynamic { Stage::DynamicMatch } else { Stage::FixedMatch });
                }
            }
        }
    }

    /// Copies as much of a match as the output buffer has room for.
    fn rest_of_match(&mut self) -> Result<Stage, Stop> {
        let len = usize::from(self.decoder.left).min(self.out.len() - self.o);
        copy(&self.history, self.out, self.o, self.decoder.distance.into(), len);
        self.o += len;
        self.decoder.left -= len as u16;
        if self.decoder.left > 0 {
            return Err(Stop::Full);
        }
        Ok(if self.decoder.stage == Stage::DynamicMatch {
            Stage::DynamicSymbols
        } else {
            Stage::FixedSymbols
        })
    }
}

fn corrupt(message: &'static str) -> Stop {
    Stop::Failed(Error::new(Kind::Corrupt, 0, message))
}

/// The codes, history and input for the symbols of a block.
pub(crate) struct Symbols<'a> {
    pub(crate) codes: Codes<'a>,
    /// The bytes before the output buffer.
    pub(crate) history: History<'a>,
    /// The size of the window.
    pub(crate) max_distance: usize,
    pub(crate) src: &'a [u8],
}

/// The place where the checked loop stopped.
enum Checked {
    /// The loop has decoded [`CHECKED_SYMBOLS`] symbols, and the block goes on.
    Going,
    BlockEnd,
    /// The loop has read a match that is longer than the rest of the output buffer, and has copied
    /// nothing of it.
    Match {
        len: u16,
        distance: u16,
    },
}

/// Looks a code up in a table and its subtables, and consumes it with its extra bits. Returns the
/// entry of its symbol, and the extra bits.
fn lookup(
    table: &[Entry],
    root: u32,
    first: impl Fn(Entry) -> Entry,
    bits: &mut Bits,
) -> Result<(Entry, usize), Exhausted> {
    let mut entry = table[(bits.buffer & ((1 << root) - 1)) as usize];
    if is_subtable(entry) {
        bits.skip(root)?;
        let index = bits.buffer & ((1 << codes::code_bits(entry)) - 1);
        entry = table[codes::value(entry) as usize + index as usize];
    }
    let entry = first(entry);
    let buffer = bits.skip(codes::bits(entry))?;
    Ok((entry, codes::extra(entry, buffer)))
}

/// Number of symbols that the checked loop decodes before the fast loop is tried again.
const CHECKED_SYMBOLS: usize = 8;

/// Decodes up to [`CHECKED_SYMBOLS`] symbols with all checks, in zlib's order. This loop is the
/// specification of the fast one. A symbol that is incomplete, or that finds the output full, stays
/// in the bit buffer.
fn checked<U: Unit>(
    symbols: &Symbols<'_>,
    bits: &mut Bits,
    out: &mut [U],
    o: &mut usize,
) -> Result<Checked, Stop> {
    const { assert!(2 * MAX_LEN + 5 + 13 <= 56) };
    let Symbols { codes, history, max_distance, src } = symbols;
    for _ in 0..CHECKED_SYMBOLS {
        bits.refill(src);
        let mut after = *bits;
        let (entry, extra) = lookup(codes.litlen(), codes.root(), |e| codes.first(e), &mut after)?;
        if is_literal(entry) {
            *out.get_mut(*o).ok_or(Stop::Full)? = codes::literal(entry).into();
            (*o, *bits) = (*o + 1, after);
            continue;
        }
        if is_end(entry) {
            *bits = after;
            return Ok(Checked::BlockEnd);
        }
        if is_special(entry) {
            return Err(corrupt("a deflate block has an invalid literal/length code"));
        }
        let len = codes::length(entry, extra);
        let (entry, extra) = lookup(codes.distances(), DISTANCE_ROOT, |e| e, &mut after)?;
        if is_special(entry) {
            return Err(corrupt("a deflate block has an invalid distance code"));
        }
        let distance = codes::distance(entry, extra);
        if *o == out.len() {
            return Err(Stop::Full);
        }
        if distance > *max_distance {
            return Err(corrupt("a match begins before the beginning of the window"));
        }
        if distance > *o + history.len() {
            return Err(corrupt("a match begins before the beginning of the stream"));
        }
        *bits = after;
        if len > out.len() - *o {
            return Ok(Checked::Match { len: len as u16, distance: distance as u16 });
        }
        copy(history, out, *o, distance, len);
        *o += len;
    }
    Ok(Checked::Going)
}

/// Copies a match, which may begin before the output buffer and overlap its own output.
fn copy<U: Unit>(history: &History<'_>, out: &mut [U], at: usize, distance: usize, len: usize) {
    if len <= distance && distance <= at {
        out.copy_within(at - distance..at - distance + len, at);
        return;
    }
    let done = if distance > at { history.copy(distance - at, &mut out[at..at + len]) } else { 0 };
    for i in at + done..at + len {
        out[i] = out[i - distance];
    }
}

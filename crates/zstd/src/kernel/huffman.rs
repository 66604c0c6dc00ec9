//! Huffman decoding: a single stream, or four interleaved streams, these optionally with two
//! symbols per lookup.
//!
//! Callers guarantee valid tables and 7 readable bytes before each stream.

use linerate_core::{Error, Kind, Result};

use super::backward;
use super::dispatch::{Kernel, dispatch};
use super::isa::{Isa, read64};
use crate::entropy::huffman::{self, FourStreams, HuffmanTable};
use crate::kernel_set::KernelSet;

/// Number of table lookups per stream between two loads. Five take at most 11 bits each, 55 in all,
/// and a load whose lowest bit is a marker has at least 55.
const ROUND: usize = 5;
/// Largest number of bytes that a round consumes of a stream.
const ROUND_BYTES: isize = 7;

const NO_END_MARK: Error = Error::new(Kind::Corrupt, 0, "a stream of literals has no end mark");
const INEXACT: Error = Error::new(Kind::Corrupt, 0, "a stream of literals is not used up exactly");

/// Decodes one stream, a part of `whole`, into `out`.
pub(crate) fn decode_stream(
    kernels: KernelSet,
    table: HuffmanTable<'_>,
    whole: &[u8],
    stream: &[u8],
    out: &mut [u8],
) -> Result<()> {
    match kernels.compiled() {
        KernelSet::Reference => huffman::decode_stream(table, stream, out),
        KernelSet::Tier(tier) => {
            dispatch(tier, SingleStream { table, begin: backward::begin(whole, stream), stream, out })
        }
    }
}

struct SingleStream<'a> {
    table: HuffmanTable<'a>,
    begin: *const u8,
    stream: &'a [u8],
    out: &'a mut [u8],
}

impl Kernel for SingleStream<'_> {
    type Output = Result<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<()> {
        let position = backward::end(self.stream).ok_or(NO_END_MARK)?;
        // SAFETY: the table is valid; `begin` has its headers before it.
        unsafe { finish(self.table, self.begin, position, self.out) }
    }
}

/// Decodes the rest of a stream into `out`.
///
/// # Safety
/// The table is valid: it has `1 << log` cells, each of 1 to `log` bits, and `log` is at most 11.
/// Seven bytes before the stream are readable, and `position` is inside the stream.
#[inline(always)]
unsafe fn finish(
    table: HuffmanTable<'_>,
    stream: *const u8,
    mut position: isize,
    out: &mut [u8],
) -> Result<()> {
    let cells = table.cells.as_ptr();
    let shift = 64 - table.log;
    let (rounds, tail) = out.as_chunks_mut::<ROUND>();
    for round in rounds {
        if position < 0 {
            return Err(INEXACT);
        }
        // SAFETY: the position was checked, and an index has `log` bits.
        unsafe {
            let mut bits = backward::load_top(stream, position);
            for byte in round {
                let cell = *cells.add((bits >> shift) as usize);
                *byte = (cell >> 8) as u8;
                bits <<= cell & 63;
                position -= (cell & 63) as isize;
            }
        }
    }
    for byte in tail {
        if position < 0 {
            return Err(INEXACT);
        }
        // SAFETY: as above.
        unsafe {
            let cell = *cells.add((backward::load_top(stream, position) >> shift) as usize);
            *byte = (cell >> 8) as u8;
            position -= (cell & 63) as isize;
        }
    }
    if position == 0 { Ok(()) } else { Err(INEXACT) }
}

/// A table with up to two symbols per cell.
pub(crate) type Pairs = [u32; if cfg!(feature = "small") { 0 } else { huffman::MAX_CELLS }];

/// Smallest number of literals for which a pair table pays. Building one takes as long as decoding
/// a few thousand literals.
const MIN_LITERALS_FOR_PAIRS: usize = 8 << 10;

/// Decodes four interleaved streams, parts of `whole`, into `out`. `pairs` is a buffer for a pair
/// table.
pub(crate) fn decode_interleaved(
    kernels: KernelSet,
    table: HuffmanTable<'_>,
    whole: &[u8],
    streams: &FourStreams<'_>,
    pairs: &mut Pairs,
    out: &mut [u8],
) -> Result<()> {
    let KernelSet::Tier(tier) = kernels.compiled() else {
        return huffman::decode_streams(table, streams, out);
    };
    let begins = streams.streams.map(|stream| backward::begin(whole, stream));
    let stored: usize = streams.streams.iter().map(|stream| stream.len()).sum();
    // Two codes fit 11 bits often enough if they average at most 5.5.
    if !cfg!(feature = "small") && out.len() >= MIN_LITERALS_FOR_PAIRS && 16 * stored <= 11 * out.len() {
        build_pairs(table, pairs);
        return dispatch(tier, InterleavedStreams::<true> { table, begins, streams, pairs, out });
    }
    dispatch(tier, InterleavedStreams::<false> { table, begins, streams, pairs, out })
}

/// Builds the pair table. The bytes of a cell are, from the lowest: bits of its codes, first
/// symbol, second symbol, number of symbols (1 or 2).
fn build_pairs(table: HuffmanTable<'_>, pairs: &mut Pairs) {
    let mut at = 0;
    while at < table.cells.len() {
        // The indices of the next `run` cells begin with the same code. The bits after it index the
        // whole table again.
        let first = table.cells[at];
        let (symbol, bits) = (u32::from(first >> 8), u32::from(first & 0xff));
        let run = (table.cells.len() >> bits).min(table.cells.len() - at);
        let seconds = table.cells.iter().step_by(1 << bits);
        for (pair, &second) in pairs[at..at + run].iter_mut().zip(seconds) {
            let both = bits + u32::from(second & 0xff);
            let one = 1 << 24 | symbol << 8 | bits;
            let two = 2 << 24 | u32::from(second >> 8) << 16 | symbol << 8 | both;
            *pair = if both <= table.log { two } else { one };
        }
        at += run;
    }
}

struct InterleavedStreams<'a, const PAIRS: bool> {
    table: HuffmanTable<'a>,
    begins: [*const u8; 4],
    streams: &'a FourStreams<'a>,
    pairs: &'a Pairs,
    out: &'a mut [u8],
}

impl<const PAIRS: bool> Kernel for InterleavedStreams<'_, PAIRS> {
    type Output = Result<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<()> {
        let InterleavedStreams { table, begins, streams, pairs, out } = self;
        let segment = streams.segment;
        let mut positions = [0; 4];
        for (position, stream) in positions.iter_mut().zip(streams.streams) {
            *position = backward::end(stream).ok_or(NO_END_MARK)?;
        }
        // Number of symbols of each stream that the rounds have decoded.
        let mut done = [0; 4];
        let lens = [segment, segment, segment, out.len() - 3 * segment];
        if streams.streams.iter().all(|stream| stream.len() >= 8) {
            let cells = table.cells.as_ptr();
            let pairs = pairs.as_ptr();
            let shift = 64 - table.log;
            // SAFETY: a round reads eight bytes at each `at`. `at` is not before its stream,
            // because the stream has `ROUND_BYTES` for each remaining round. A round writes at most
            // `written` bytes of each quarter, and each quarter has as many for each round. An
            // index has `log` bits.
            unsafe {
                let address = |i: usize| backward::address(begins[i], positions[i]);
                let mut at = [address(0), address(1), address(2), address(3)];
                // The lowest bit of a load is a marker, whose position counts the bits consumed.
                let reload = |at: *const u8, taken: u32| (read64(at) | 1) << taken;
                let fresh = |i: usize| reload(at[i], 8 - (positions[i] & 7) as u32);
                let mut bits = [fresh(0), fresh(1), fresh(2), fresh(3)];
                let start = out.as_mut_ptr();
                let quarter = |i: usize| start.add(i * segment);
                let mut to = [quarter(0), quarter(1), quarter(2), quarter(3)];
                let written = if PAIRS { 2 * ROUND } else { ROUND };
                loop {
                    let capacity = |i: usize| (lens[i] - to[i].offset_from_unsigned(quarter(i))) / written;
                    let input = |i: usize| (at[i].offset_from(begins[i]).max(0) / ROUND_BYTES) as usize;
                    let rounds = |i: usize| capacity(i).min(input(i));
                    let rounds = rounds(0).min(rounds(1)).min(rounds(2)).min(rounds(3));
                    if rounds == 0 {
                        break;
                    }
                    if PAIRS {
                        for _ in 0..rounds {
                            for _ in 0..ROUND {
                                for (bits, to) in bits.iter_mut().zip(&mut to) {
                                    let cell = *pairs.add((*bits >> shift) as usize);
                                    *bits <<= cell & 63;
                                    to.cast::<u16>().write_unaligned(((cell >> 8) as u16).to_le());
                                    *to = to.add((cell >> 24) as usize);
                                }
                            }
                            for (at, bits) in at.iter_mut().zip(&mut bits) {
                                let taken = bits.trailing_zeros();
                                *at = at.sub((taken >> 3) as usize);
                                *bits = reload(*at, taken & 7);
                            }
                        }
                    } else {
                        // Without pairs, a round writes the same number of bytes to each quarter of
                        // `out`, so one pointer is enough.
                        let mut first = to[0];
                        for _ in 0..rounds {
                            for k in 0..ROUND {
                                for (i, bits) in bits.iter_mut().enumerate() {
                                    let cell = *cells.add((*bits >> shift) as usize);
                                    *bits <<= cell & 63;
                                    *first.add(i * segment + k) = (cell >> 8) as u8;
                                }
                            }
                            first = first.add(ROUND);
                            for (at, bits) in at.iter_mut().zip(&mut bits) {
                                let taken = bits.trailing_zeros();
                                *at = at.sub((taken >> 3) as usize);
                                *bits = reload(*at, taken & 7);
                            }
                        }
                        to = to.map(|to| to.add(rounds * ROUND));
                    }
                }
                for i in 0..4 {
                    let bytes = at[i].offset_from(begins[i]);
                    positions[i] = 8 * bytes + 64 - bits[i].trailing_zeros() as isize;
                    done[i] = to[i].offset_from_unsigned(quarter(i));
                }
            }
        }
        if !PAIRS && !cfg!(feature = "small") {
            // All quarters have advanced equally. Continue to the end, as long as positions stay
            // inside the streams.
            let rounds = (lens[3] - done[3]) / ROUND;
            for _ in 0..rounds {
                if positions.iter().any(|&position| position < 0) {
                    return Err(INEXACT);
                }
                // SAFETY: the positions were checked, each quarter has `ROUND` bytes left for each
                // round, and an index has `log` bits.
                unsafe {
                    let shift = 64 - table.log;
                    let skipped = positions.map(|position| 8 - (position & 7) as u32);
                    let load =
                        |i: usize| (read64(backward::address(begins[i], positions[i])) | 1) << skipped[i];
                    let mut bits = [load(0), load(1), load(2), load(3)];
                    let first = out.as_mut_ptr().add(done[0]);
                    for k in 0..ROUND {
                        for (i, bits) in bits.iter_mut().enumerate() {
                            let cell = *table.cells.as_ptr().add((*bits >> shift) as usize);
                            *bits <<= cell & 63;
                            *first.add(i * segment + k) = (cell >> 8) as u8;
                        }
                    }
                    for i in 0..4 {
                        positions[i] -= (bits[i].trailing_zeros() - skipped[i]) as isize;
                        done[i] += ROUND;
                    }
                }
            }
        }
        let mut rest = out;
        for (i, position) in positions.into_iter().enumerate() {
            let (part, after) = rest.split_at_mut(lens[i]);
            // SAFETY: the table is valid, and each stream has its headers or the stream before it
            // in front.
            unsafe { finish(table, begins[i], position, &mut part[done[i]..])? };
            rest = after;
        }
        Ok(())
    }
}

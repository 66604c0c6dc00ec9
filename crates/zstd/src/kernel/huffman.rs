//! Streams of Huffman codes, one or four at a time.

use linerate_core::{Error, Kind, Result};

use super::backward;
use super::isa::{Isa, Kernel, dispatch, read64};
use crate::huffman;
use crate::literals::{self, Streams};
use crate::scratch::Form;
use crate::tables::HuffmanTable;

/// Symbols of each stream between two loads: five codes of eleven bits are 55, which a load has at
/// least when its lowest bit is given up for a marker.
const ROUND: usize = 5;
/// Bytes that a round takes from a stream at most.
const ROUND_BYTES: isize = 7;

const NO_MARK: Error = Error::new(Kind::Corrupt, 0, "a stream of literals has no end mark");
const INEXACT: Error = Error::new(Kind::Corrupt, 0, "a stream of literals is not used up exactly");

/// Decodes one stream into all of `out`. Eight bytes before it are readable: they are the block's
/// header and what precedes it.
pub(crate) fn decode_one(form: Form, table: HuffmanTable<'_>, stream: &[u8], out: &mut [u8]) -> Result<()> {
    match form {
        Form::Safe => huffman::decode_stream(table, stream, out),
        Form::Fast(tier) => dispatch(tier, One { table, stream, out }),
    }
}

struct One<'a> {
    table: HuffmanTable<'a>,
    stream: &'a [u8],
    out: &'a mut [u8],
}

impl Kernel for One<'_> {
    type Output = Result<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<()> {
        let place = backward::end(self.stream).ok_or(NO_MARK)?;
        // SAFETY: as the caller of `decode_one` vouches.
        unsafe { finish(self.table, self.stream.as_ptr(), place, self.out) }
    }
}

/// Decodes what is left of a stream into all of `out`.
///
/// # Safety
/// The table is sound: `1 << log` cells, each of 1 to `log` bits, `log` at most 11. Eight bytes before
/// the stream are readable; `place` is inside the stream.
#[inline(always)]
unsafe fn finish(table: HuffmanTable<'_>, stream: *const u8, mut place: isize, out: &mut [u8]) -> Result<()> {
    let cells = table.cells.as_ptr();
    let shift = 64 - table.log;
    let mut rounds = out.chunks_exact_mut(ROUND);
    for round in &mut rounds {
        if place < 0 {
            return Err(INEXACT);
        }
        // SAFETY: the place was checked; an index has `log` bits.
        unsafe {
            let mut bits = backward::load_top(stream, place);
            for byte in round {
                let cell = *cells.add((bits >> shift) as usize);
                *byte = (cell >> 8) as u8;
                bits <<= cell & 63;
                place -= (cell & 63) as isize;
            }
        }
    }
    for byte in rounds.into_remainder() {
        if place < 0 {
            return Err(INEXACT);
        }
        // SAFETY: as above.
        unsafe {
            let cell = *cells.add((backward::load_top(stream, place) >> shift) as usize);
            *byte = (cell >> 8) as u8;
            place -= (cell & 63) as isize;
        }
    }
    if place == 0 { Ok(()) } else { Err(INEXACT) }
}

/// Decodes four streams into all of `out`. They follow each other in memory, and the first one is as
/// in [`decode_one`].
pub(crate) fn decode_four(
    form: Form,
    table: HuffmanTable<'_>,
    streams: &Streams<'_>,
    out: &mut [u8],
) -> Result<()> {
    match form {
        Form::Safe => literals::decode_streams(table, streams, out),
        Form::Fast(tier) => dispatch(tier, Four { table, streams, out }),
    }
}

struct Four<'a> {
    table: HuffmanTable<'a>,
    streams: &'a Streams<'a>,
    out: &'a mut [u8],
}

impl Kernel for Four<'_> {
    type Output = Result<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<()> {
        let Four { table, streams, out } = self;
        let segment = streams.segment;
        let begins = streams.of.map(<[u8]>::as_ptr);
        let mut places = [0; 4];
        for (place, stream) in places.iter_mut().zip(streams.of) {
            *place = backward::end(stream).ok_or(NO_MARK)?;
        }
        // Symbols of each stream that the rounds have decoded; the last stream has the fewest.
        let mut done = 0;
        let fewest = out.len() - 3 * segment;
        if streams.of.iter().all(|stream| stream.len() >= 8) {
            let cells = table.cells.as_ptr();
            let shift = 64 - table.log;
            // SAFETY: a round reads eight bytes at each `at`, which is not before its stream as long
            // as it has `ROUND_BYTES` for each round to come; it writes `ROUND` bytes of each
            // quarter, of which there are as many as rounds. An index has `log` bits.
            unsafe {
                let address = |i: usize| backward::address(begins[i], places[i]);
                let mut at = [address(0), address(1), address(2), address(3)];
                // The lowest bit of a load is given up for a marker, which counts the bits taken.
                let reload = |at: *const u8, taken: u32| (read64(at) | 1) << taken;
                let fresh = |i: usize| reload(at[i], 8 - (places[i] & 7) as u32);
                let mut bits = [fresh(0), fresh(1), fresh(2), fresh(3)];
                let mut to = out.as_mut_ptr();
                loop {
                    let room = (fewest - done) / ROUND;
                    let input = |i: usize| (at[i].offset_from(begins[i]).max(0) / ROUND_BYTES) as usize;
                    let rounds = room.min(input(0)).min(input(1)).min(input(2)).min(input(3));
                    if rounds == 0 {
                        break;
                    }
                    for _ in 0..rounds {
                        for k in 0..ROUND {
                            for (i, bits) in bits.iter_mut().enumerate() {
                                let cell = *cells.add((*bits >> shift) as usize);
                                *bits <<= cell & 63;
                                *to.add(i * segment + k) = (cell >> 8) as u8;
                            }
                        }
                        to = to.add(ROUND);
                        for (at, bits) in at.iter_mut().zip(&mut bits) {
                            let taken = bits.trailing_zeros();
                            *at = at.sub((taken >> 3) as usize);
                            *bits = reload(*at, taken & 7);
                        }
                    }
                    done += rounds * ROUND;
                }
                for i in 0..4 {
                    let bytes = at[i].offset_from(begins[i]);
                    places[i] = 8 * bytes + 64 - bits[i].trailing_zeros() as isize;
                }
            }
        }
        let mut rest = out;
        for (i, place) in places.into_iter().enumerate() {
            let len = if i < 3 { segment } else { rest.len() };
            let (part, after) = rest.split_at_mut(len);
            // SAFETY: as the caller vouches; what lies before a stream is the one before it.
            unsafe { finish(table, begins[i], place, &mut part[done..])? };
            rest = after;
        }
        Ok(())
    }
}

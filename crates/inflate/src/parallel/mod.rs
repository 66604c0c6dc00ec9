//! Decodes one stream of any origin on several threads, from a reader to a writer.
//!
//! The input is cut into pieces. In each of them a worker looks for the next deflate block or gzip member and decodes from there to the
//! next piece, before the 32 KiB of output that precede it are known: 16-bit units stand for them, as in pugz (Kerbiriou and Chikhi
//! 2019) and rapidgzip (Knespel and Brunst 2023). The calling thread puts the chunks together. A chunk whose beginning is not where the
//! one before has ended was a wrong guess, and is decoded again: it costs time, and never a byte. Errors are found by the calling thread
//! alone, by the decoder of [`read::Decoder`](crate::read::Decoder).
//!
//! ```
//! use linerate_inflate::{Format, parallel};
//!
//! let file = &b"\x1f\x8b\x08\0\0\0\0\0\x04\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0"[..]; // or a File
//! let mut content = Vec::new();
//! let totals = parallel::decode(file, &mut content, &parallel::Options::new(Format::Gzip).threads(2))?;
//! assert_eq!((content.as_slice(), totals.bytes_in), (&b"abc"[..], 23));
//! # Ok::<(), std::io::Error>(())
//! ```

mod chunk;
mod finder;
mod guesses;
mod join;
mod link;
mod pieces;

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};
use std::mem;

use linerate_core::{Error, Kind, ordered};

pub(crate) use self::chunk::Start;
use self::chunk::{Memory, Task, decode as decode_chunk};
use self::guesses::{Guesses, Sizes};
use self::join::Join;
use self::link::link;
use self::pieces::Pieces;
use crate::options::{Format, Options as StreamOptions};
use crate::stream::Members;
use crate::window::MAX_WINDOW_BITS;

/// Options of [`decode`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Format, limit and checks of the stream. With [`window_bits`](StreamOptions::window_bits) below 15 one thread decodes it.
    pub stream: StreamOptions,
    /// Decoding threads, besides the calling one, which reads, writes, and decodes what a wrong guess has left. With 0 or 1, or if the
    /// input is a single piece, the calling thread does everything. They take about twice the CPU time of one thread together, so that
    /// two gain little. Default: 1.
    ///
    /// Memory is at most 64 MiB and 24 MiB per thread, whatever the ratio.
    pub threads: usize,
    /// Largest piece of the input that a thread takes, in bytes, at most 2 MiB: more counts as
    /// that. Default: 384 KiB.
    pub piece: usize,
}

impl Options {
    /// One thread, and the defaults of a format.
    pub const fn new(format: Format) -> Self {
        Options { stream: StreamOptions::new(format), threads: 1, piece: 384 << 10 }
    }

    /// Sets the number of [`threads`](#structfield.threads).
    #[must_use]
    pub const fn threads(self, threads: usize) -> Self {
        Options { threads, ..self }
    }

    /// Sets the largest [`piece`](#structfield.piece), at least one byte.
    #[must_use]
    pub const fn piece(self, piece: usize) -> Self {
        Options { piece, ..self }
    }

    /// Sets the options of the [`stream`](#structfield.stream).
    #[must_use]
    pub const fn stream(self, stream: StreamOptions) -> Self {
        Options { stream, ..self }
    }
}

/// Totals of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Bytes of the stream, or of all gzip members.
    pub bytes_in: u64,
    /// Bytes of content.
    pub bytes_out: u64,
}

/// Decodes a zlib stream, deflate data, or all members of a gzip file from `reader` to `writer`, which is not flushed. Content, verdict
/// and errors are those of [`read::Decoder`](crate::read::Decoder) for any number of threads. More of the reader is read than the stream
/// has.
///
/// Gains where there are blocks with codes of their own, stored blocks, flushes or gzip members every few hundred kilobytes. Blocks with
/// fixed codes alone, or a single large block, take as long as on one thread.
///
/// # Errors
/// Those of `reader` and `writer`, except [`ErrorKind::Interrupted`](io::ErrorKind::Interrupted), which is retried; those of
/// [`read::Decoder`](crate::read::Decoder). Content before an error of the data or of the reader is written first.
///
/// # Panics
/// If `reader` or `writer` panics; all threads have ended then.
pub fn decode<R: Read, W: Write>(reader: R, writer: W, options: &Options) -> io::Result<Totals> {
    decode_in(reader, writer, options, sizes(options).as_ref())
}

/// The end of the data of a stream, or of a gzip member.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DataEnd {
    /// Bytes up to there.
    pub totals: Totals,
    /// Checksum of the content of the stream or member as computed: CRC-32, or Adler-32; meaningless if none is verified.
    pub check: u32,
    /// Bytes of the content of the stream or member, modulo 2^32.
    pub len: u32,
    /// What was read beyond.
    pub rest: Vec<u8>,
}

/// As [`decode`], for programs that read headers and trailers themselves: begins after a header,
/// and returns where the data ends, before its trailer. After the data of a gzip member it goes on
/// with the next one, as long as trailer and header are valid and take at most 1 MiB, and returns
/// the end of the last. Nothing that is read from `reader` is lost.
///
/// # Errors
/// As [`decode`]; [`io::ErrorKind::InvalidInput`] for [`Format::ZlibOrGzip`]. Those of trailers and headers are left to the caller, and
/// so is that of a reader that fails there.
///
/// # Panics
/// As [`decode`].
pub fn decode_data<R: Read, W: Write>(reader: R, writer: W, options: &Options) -> io::Result<DataEnd> {
    decode_data_in(reader, writer, options, sizes(options).as_ref())
}

/// The sizes of pieces, if the input is cut.
fn sizes(options: &Options) -> Option<Sizes> {
    // Units of 16 bits stand for the largest window.
    let in_pieces = options.threads > 1 && options.stream.window_bits == MAX_WINDOW_BITS;
    in_pieces.then(|| Sizes::up_to(options.piece))
}

fn decode_in<R: Read, W: Write>(
    reader: R,
    mut writer: W,
    options: &Options,
    sizes: Option<&Sizes>,
) -> io::Result<Totals> {
    let put = |part: &[u8], _| writer.write_all(part);
    decode_by(reader, put, Members::new(options.stream)?, options.threads, sizes.map(Guesses::new))
}

/// Decodes members from a reader, piece by piece as planned.
pub(crate) fn decode_by<'i, R: Read>(
    reader: R,
    put: impl FnMut(&[u8], Totals) -> io::Result<()>,
    members: Members,
    threads: usize,
    plan: Option<impl Plan<'i>>,
) -> io::Result<Totals> {
    decode_all(&mut Pieces::new(reader), &mut Join::new(members, put), threads, plan)
}

fn decode_data_in<R: Read, W: Write>(
    reader: R,
    mut writer: W,
    options: &Options,
    sizes: Option<&Sizes>,
) -> io::Result<DataEnd> {
    if options.stream.format == Format::ZlibOrGzip {
        let message = "the format of data after a header is not known";
        return Err(Error::new(Kind::BadArgument, 0, message).into());
    }
    let put = |part: &[u8], _| writer.write_all(part);
    let mut join = Join::new(Members::after_header(options.stream)?, put);
    let mut pieces = Pieces::new(reader);
    let result = decode_all(&mut pieces, &mut join, options.threads, sizes.map(Guesses::new));
    let Some((end, bytes_out)) = join.data_end() else {
        return Err(result.err().unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into()));
    };
    let totals = Totals { bytes_in: end.at, bytes_out };
    Ok(DataEnd { totals, check: end.check, len: end.len, rest: pieces.rest(end.at) })
}

/// How the input is cut into pieces, and where their workers begin.
pub(crate) trait Plan<'i> {
    /// Most bytes of output of a chunk, and as many for units.
    fn share(&self) -> usize;

    /// Bytes of the piece that begins at an offset of the input, at least one.
    fn len(&mut self, at: u64) -> usize;

    /// How the worker of the piece at an offset begins and ends; `data` is the bit where the data
    /// begins, if it does in this piece.
    fn cut(&mut self, at: u64, data: Option<u64>) -> Cut<'i>;

    /// Takes note of what became of a chunk, all in order.
    fn learn(&mut self, outcome: Outcome);
}

/// The ends of a chunk.
pub(crate) struct Cut<'i> {
    pub(crate) start: Start<'i>,
    /// The bit before whose block, or a later one, it ends; without one it ends where a guess can
    /// begin.
    pub(crate) end: Option<u64>,
}

/// What became of a chunk.
pub(crate) struct Outcome {
    /// Whether its worker has looked for its beginning.
    pub(crate) has_searched: bool,
    /// Whether it was of use.
    pub(crate) is_hit: bool,
    /// Bytes of it.
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

fn decode_all<'i, R: Read>(
    pieces: &mut Pieces<R>,
    join: &mut Join<impl FnMut(&[u8], Totals) -> io::Result<()>>,
    threads: usize,
    plan: Option<impl Plan<'i>>,
) -> io::Result<Totals> {
    if let Some(plan) = plan {
        in_pieces(pieces, join, threads, plan)?;
    }
    while !join.is_done() {
        let Some(piece) = pieces.next(READ, false) else { break };
        join.add(&piece);
        join.go_on()?;
        pieces.forget(join.kept_from());
    }
    join.end(pieces.failure.take())
}

/// Pieces besides those of the workers: read and waiting, or decoded and not written yet.
const AHEAD: usize = 2;
/// Bytes that are read at a time without pieces.
const READ: usize = 128 << 10;

/// Decodes all input piece by piece, unless there is only one.
fn in_pieces<'i, R: Read>(
    pieces: &mut Pieces<R>,
    join: &mut Join<impl FnMut(&[u8], Totals) -> io::Result<()>>,
    threads: usize,
    mut plan: impl Plan<'i>,
) -> io::Result<()> {
    let Some(first) = pieces.next(plan.len(0), true) else { return Ok(()) };
    join.add(&first);
    if pieces.is_at_end() {
        return join.go_on();
    }
    let mut data = join.begin(&first)?;
    let (is_gzip, check, share) = (join.is_gzip(), join.check(), plan.share());
    let (is_done, kept_from) = (Cell::new(join.is_done()), Cell::new(0));
    let (plan, free) = (RefCell::new(plan), RefCell::new(Vec::new()));
    let mut pending = Some(first);
    let (known, mut before) = link();
    // Its receiver is the line above.
    let _ = known.send(join.state());
    let next = || {
        let Some(piece) = pending.take().filter(|_| !is_done.get()) else { return Ok(None) };
        pieces.forget(kept_from.get());
        let mut plan = plan.borrow_mut();
        let next = pieces.next(plan.len(piece.end()), true);
        pending = next.clone();
        let Cut { start, end } = plan.cut(piece.at, data.take());
        let buffers = free.borrow_mut().pop().unwrap_or_default();
        let (after, following) = link();
        let before = mem::replace(&mut before, following);
        Ok::<_, io::Error>(Some(Task {
            piece,
            next,
            start,
            end,
            is_gzip,
            check,
            share,
            buffers,
            before,
            after,
        }))
    };
    let worker = || {
        let mut memory = Box::<Memory>::default();
        move |task| decode_chunk(&mut memory, task)
    };
    ordered((threads, AHEAD), next, worker, |chunk| {
        let (has_searched, before) = (chunk.has_searched, join.totals());
        let (is_hit, buffers) = join.chunk(chunk)?;
        free.borrow_mut().push(buffers);
        let after = join.totals();
        let (bytes_in, bytes_out) = (after.bytes_in - before.bytes_in, after.bytes_out - before.bytes_out);
        plan.borrow_mut().learn(Outcome { has_searched, is_hit, bytes_in, bytes_out });
        is_done.set(join.is_done());
        kept_from.set(join.kept_from());
        Ok(())
    })
}

#[cfg(test)]
mod tests;

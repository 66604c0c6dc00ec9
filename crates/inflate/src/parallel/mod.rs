//! Decodes one stream on several threads, from a reader to a writer. Any encoder may have written
//! it.
//!
//! The input is divided into pieces. In each piece a worker looks for the next deflate block or
//! gzip member, and decodes a chunk from there to the next piece, before the 32 KiB of output that
//! precede it are known. 16-bit markers take the place of these bytes, as in pugz (Kerbiriou and
//! Chikhi 2019) and rapidgzip (Knespel and Brunst 2023). The calling thread joins the chunks. A
//! chunk that does not begin where the previous one ended was a wrong guess, and is decoded again.
//! That costs time, but never changes a byte. Only the calling thread reports errors, with the
//! decoder of [`read::Decoder`](crate::read::Decoder).
//!
//! ```
//! use linerate_inflate::{Format, parallel};
//!
//! // Or a `File`.
//! let file = &b"\x1f\x8b\x08\0\0\0\0\0\x04\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0"[..];
//! let mut content = Vec::new();
//! let options = parallel::Options::new(Format::Gzip).threads(2);
//! let totals = parallel::decode(file, &mut content, &options)?;
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
    /// Format, limit and checks of the stream. If [`window_bits`](StreamOptions::window_bits) is
    /// below 15, one thread decodes the stream.
    pub stream: StreamOptions,
    /// Number of decoding threads, besides the calling one, which reads, writes, and decodes pieces
    /// after a wrong guess. With 0 or 1, or if the input is a single piece, the calling thread does
    /// everything. Together the threads take about twice the CPU time of one, so two gain little.
    /// Default: 1.
    ///
    /// Memory is at most 64 MiB plus 24 MiB per thread, whatever the ratio.
    pub threads: usize,
    /// Maximum size of the pieces of the input in bytes. More than 2 MiB counts as 2 MiB, and 0 as
    /// 1. Default: 384 KiB.
    pub piece: usize,
}

impl Options {
    /// Returns options for one thread, with the defaults of a format.
    pub const fn new(format: Format) -> Self {
        Options { stream: StreamOptions::new(format), threads: 1, piece: 384 << 10 }
    }

    /// Sets the number of [`threads`](#structfield.threads).
    #[must_use]
    pub const fn threads(self, threads: usize) -> Self {
        Options { threads, ..self }
    }

    /// Sets the maximum size of a [`piece`](#structfield.piece), at least one byte.
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
    /// Compressed size in bytes of the stream, or of all gzip members.
    pub bytes_in: u64,
    /// Number of bytes of content.
    pub bytes_out: u64,
}

/// Decodes a zlib stream, deflate data, or all members of a gzip file from `reader` to `writer`,
/// without flushing it. Content, verdict and errors are those of
/// [`read::Decoder`](crate::read::Decoder) for any number of threads. It may read beyond the end of
/// the stream.
///
/// Threads help if blocks with codes of their own, stored blocks, flushes or gzip members occur
/// every few hundred kilobytes. Streams with only fixed codes, or of a single large block, take as
/// long as on one thread.
///
/// # Errors
/// Returns the errors of `reader` and `writer`, except
/// [`ErrorKind::Interrupted`](io::ErrorKind::Interrupted), which is retried, and those of
/// [`read::Decoder`](crate::read::Decoder). Content before an error of the data or of the reader is
/// written first.
///
/// # Panics
/// Panics if `reader` or `writer` does, after all threads have ended.
pub fn decode<R: Read, W: Write>(reader: R, writer: W, options: &Options) -> io::Result<Totals> {
    decode_in(reader, writer, options, sizes(options).as_ref())
}

/// The end of the data of a stream, or of a gzip member.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DataEnd {
    /// Totals up to there.
    pub totals: Totals,
    /// Computed checksum of the content of the stream or member: CRC-32 or Adler-32. Meaningless
    /// for deflate data without a container, and if checksums are not verified.
    pub check: u32,
    /// Length of the content of the stream or member in bytes, modulo 2^32.
    pub len: u32,
    /// Bytes that were read after the data.
    pub rest: Vec<u8>,
}

/// Like [`decode`], for programs that read headers and trailers themselves. It begins after a
/// header, and returns the end of the data, before its trailer. After the data of a gzip member it
/// continues with the next member, as long as trailer and header are valid and take at most 1 MiB,
/// and returns the end of the last member's data. No byte read from `reader` is lost.
///
/// # Errors
/// Returns the errors of [`decode`], and [`io::ErrorKind::InvalidInput`] for
/// [`Format::ZlibOrGzip`]. Errors in trailers and headers are left to the caller, and so are errors
/// of the reader there.
///
/// # Panics
/// Panics as [`decode`] does.
pub fn decode_data<R: Read, W: Write>(reader: R, writer: W, options: &Options) -> io::Result<DataEnd> {
    decode_data_in(reader, writer, options, sizes(options).as_ref())
}

/// Returns the sizes of pieces if the input is to be divided.
fn sizes(options: &Options) -> Option<Sizes> {
    // Markers cover the largest window only.
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

/// Decodes members from a reader, piece by piece according to `plan`.
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

/// Decides how the input is divided into pieces, and where their workers begin.
pub(crate) trait Plan<'i> {
    /// Returns the maximum size in bytes of a worker's buffer of output in bytes, and also of its
    /// buffer of output in 16-bit units.
    fn share(&self) -> usize;

    /// Returns the size of the piece that begins at an offset of the input, at least one byte.
    fn len(&mut self, at: u64) -> usize;

    /// Returns how the worker of the piece at an offset begins and ends. `data` is the bit where
    /// the data begins, if it begins in this piece.
    fn cut(&mut self, at: u64, data: Option<u64>) -> Cut<'i>;

    /// Takes the outcome of a chunk. Outcomes arrive in order.
    fn learn(&mut self, outcome: Outcome);
}

/// The ends of a chunk.
pub(crate) struct Cut<'i> {
    pub(crate) start: Start<'i>,
    /// The chunk ends before the first block that begins at this bit of the input or later. If this
    /// is `None`, it ends after its piece, at the first block that a search could find.
    pub(crate) end: Option<u64>,
}

/// The outcome of a chunk.
pub(crate) struct Outcome {
    /// Whether the worker searched for the beginning of the chunk.
    pub(crate) has_searched: bool,
    /// Whether output of the worker was used.
    pub(crate) is_hit: bool,
    /// Number of compressed bytes of the chunk.
    pub(crate) bytes_in: u64,
    /// Number of bytes of content of the chunk.
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

/// Number of pieces that exist besides one for each worker. These pieces are read and waiting, or
/// decoded and not written yet.
const AHEAD: usize = 2;
/// Number of bytes read at a time if there are no workers.
const READ: usize = 128 << 10;

/// Decodes the input in pieces on several threads, or a single piece on the calling thread.
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
    // The receiver was made on the line above, so this cannot fail.
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

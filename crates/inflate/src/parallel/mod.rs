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
mod join;
mod link;
mod pieces;

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};
use std::mem;

use linerate_core::{Error, Kind, ordered};

use self::chunk::{Memory, Start, Task, decode as decode_chunk};
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
    /// Largest piece of the input that a thread takes, in bytes. Default: 384 KiB.
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

/// As [`decode`], for programs that read headers and trailers themselves: begins after a header, and returns where the data ends, before
/// its trailer. After the data of a gzip member it goes on with the next one, as long as trailer and header are valid, and returns the
/// end of the last. Nothing that is read from `reader` is lost.
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
    in_pieces.then(|| Sizes::up_to(options.piece.max(1)))
}

/// Sizes in bytes.
struct Sizes {
    /// Of the first piece.
    first: usize,
    /// Of all others, the least and the most.
    least: usize,
    most: usize,
    /// Output of a piece that its size aims at.
    output: u64,
    /// Memory for the output of a chunk: for units, and for bytes.
    share: usize,
}

impl Sizes {
    fn up_to(most: usize) -> Self {
        let [first, least] = [256 << 10, 64 << 10].map(|len| most.min(len));
        Sizes { first, least, most, output: 2 << 20, share: 8 << 20 }
    }

    /// The size of the next piece, of data like what lies between two totals.
    fn of_piece(&self, from: Totals, to: Totals) -> usize {
        let (bytes_in, bytes_out) = (to.bytes_in - from.bytes_in, to.bytes_out - from.bytes_out);
        let size = u128::from(self.output) * u128::from(bytes_in) / u128::from(bytes_out.max(1));
        usize::try_from(size).unwrap_or(usize::MAX).clamp(self.least, self.most)
    }
}

fn decode_in<R: Read, W: Write>(
    reader: R,
    writer: W,
    options: &Options,
    sizes: Option<&Sizes>,
) -> io::Result<Totals> {
    let mut join = Join::new(Members::new(options.stream)?, writer);
    decode_all(&mut Pieces::new(reader), &mut join, options.threads, sizes)
}

fn decode_data_in<R: Read, W: Write>(
    reader: R,
    writer: W,
    options: &Options,
    sizes: Option<&Sizes>,
) -> io::Result<DataEnd> {
    if options.stream.format == Format::ZlibOrGzip {
        let message = "the format of data after a header is not known";
        return Err(Error::new(Kind::BadArgument, 0, message).into());
    }
    let mut join = Join::new(Members::after_header(options.stream)?, writer);
    let mut pieces = Pieces::new(reader);
    let result = decode_all(&mut pieces, &mut join, options.threads, sizes);
    let Some((end, bytes_out)) = join.data_end() else {
        return Err(result.err().unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into()));
    };
    let totals = Totals { bytes_in: end.at, bytes_out };
    Ok(DataEnd { totals, check: end.check, len: end.len, rest: pieces.rest(end.at) })
}

fn decode_all<R: Read, W: Write>(
    pieces: &mut Pieces<R>,
    join: &mut Join<W>,
    threads: usize,
    sizes: Option<&Sizes>,
) -> io::Result<Totals> {
    if let Some(sizes) = sizes {
        in_pieces(pieces, join, threads, sizes)?;
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
fn in_pieces<R: Read, W: Write>(
    pieces: &mut Pieces<R>,
    join: &mut Join<W>,
    threads: usize,
    sizes: &Sizes,
) -> io::Result<()> {
    let Some(first) = pieces.next(sizes.first, true) else { return Ok(()) };
    join.add(&first);
    if pieces.is_at_end() {
        return join.go_on();
    }
    let mut start = join.begin(&first)?;
    let (is_gzip, check) = (join.is_gzip(), join.check());
    let (is_done, kept_from) = (Cell::new(join.is_done()), Cell::new(0));
    let size = Cell::new(sizes.first.clamp(sizes.least, sizes.most));
    let (guesses, free) = (RefCell::new(Guesses::default()), RefCell::new(Vec::new()));
    let mut pending = Some(first);
    let (known, mut before) = link();
    // Its receiver is the line above.
    let _ = known.send(join.state());
    let next = || {
        let Some(piece) = pending.take().filter(|_| !is_done.get()) else { return Ok(None) };
        pieces.forget(kept_from.get());
        let next = pieces.next(size.get(), true);
        pending = next.clone();
        let start = match start.take() {
            Some(start) => start,
            None if guesses.borrow_mut().is_worth_it() => Start::Search,
            None => Start::Skip,
        };
        let buffers = free.borrow_mut().pop().unwrap_or_default();
        let (after, following) = link();
        let before = mem::replace(&mut before, following);
        let share = sizes.share;
        Ok::<_, io::Error>(Some(Task { piece, next, start, is_gzip, check, share, buffers, before, after }))
    };
    let worker = || {
        let mut memory = Box::<Memory>::default();
        move |task| decode_chunk(&mut memory, task)
    };
    ordered((threads, AHEAD), next, worker, |chunk| {
        let (has_searched, before) = (chunk.has_searched, join.totals());
        let (is_hit, buffers) = join.chunk(chunk)?;
        if has_searched {
            guesses.borrow_mut().count(is_hit);
        }
        free.borrow_mut().push(buffers);
        if join.totals() != before {
            size.set(sizes.of_piece(before, join.totals()));
        }
        is_done.set(join.is_done());
        kept_from.set(join.kept_from());
        Ok(())
    })
}

/// Whether guessing is worth its time: after some wrong guesses in a row, pieces are decoded in order for a while, then for longer and
/// longer.
struct Guesses {
    wrong: u32,
    /// Pieces without a guess to come.
    pause: u32,
    next_pause: u32,
}

impl Default for Guesses {
    fn default() -> Self {
        Guesses { wrong: 0, pause: 0, next_pause: Self::FIRST_PAUSE }
    }
}

impl Guesses {
    /// Wrong guesses in a row that are put up with.
    const MOST_WRONG: u32 = 4;
    const FIRST_PAUSE: u32 = 8;
    const LAST_PAUSE: u32 = 256;

    /// Whether the next piece is worth a guess.
    fn is_worth_it(&mut self) -> bool {
        let is_worth_it = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        is_worth_it
    }

    /// Counts the outcome of a guess.
    fn count(&mut self, is_hit: bool) {
        if is_hit {
            *self = Guesses::default();
            return;
        }
        self.wrong += 1;
        if self.wrong >= Self::MOST_WRONG {
            self.wrong = Self::MOST_WRONG - 2;
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(Self::LAST_PAUSE);
        }
    }
}

#[cfg(test)]
mod tests;

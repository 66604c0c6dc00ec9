//! [`decode`]: all content of a file on several threads, by its index.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};

use linerate_core::ordered;

use super::WINDOW;
use super::chunk::{Chunk, Piece, Task, Worker};
use super::points::{Index, Point};
use super::walk::Walk;
use crate::block_decoder::NO_STOP;
use crate::parallel::Totals;

/// Sizes in bytes.
pub(super) struct Sizes {
    /// Content of a chunk, or bytes of the file, from which on it ends at the next point.
    pub(super) chunk: u64,
    /// Most bytes of the file that are decoded at a time.
    pub(super) piece: usize,
    /// Most bytes of output of a chunk.
    pub(super) share: usize,
}

impl Sizes {
    const DEFAULT: Sizes = Sizes { chunk: 1 << 20, piece: 8 << 20, share: 16 << 20 };
}

/// Chunks besides those of the workers: read and waiting, or decoded and not written yet.
const AHEAD: usize = 2;
/// Bytes that the calling thread decodes at a time: much more than the window, which is copied each
/// time.
const BUFFER: usize = 256 << 10;

/// Decodes a gzip file from `reader` to `writer`, which is not flushed, on so many threads besides
/// the calling one, which reads, writes and checks. With 0 or 1 the calling thread does everything.
/// Each chunk of the file is decoded from a point of its index on.
///
/// Content, verdict and errors are those of [`Builder`](super::Builder), whatever the index: it is
/// a hint. Where it is wrong, the calling thread decodes alone. The index may be of a part of the
/// points.
///
/// Memory is at most 24 MiB per thread and 48 MiB besides. Content between two points is decoded by
/// one thread, and gains nothing beyond 16 MiB.
///
/// # Errors
/// Those of `reader`, except [`ErrorKind::Interrupted`](io::ErrorKind::Interrupted), which is
/// retried; those of `writer`, and of [`Builder`](super::Builder). Content before an error of the
/// data or of the reader is written first.
///
/// # Panics
/// If `reader` or `writer` panics; all threads have ended then.
pub fn decode<R: Read, W: Write>(reader: R, index: &Index, writer: W, threads: usize) -> io::Result<Totals> {
    decode_in(reader, index, writer, threads, &Sizes::DEFAULT)
}

pub(super) fn decode_in<R: Read, W: Write>(
    reader: R,
    index: &Index,
    writer: W,
    threads: usize,
    sizes: &Sizes,
) -> io::Result<Totals> {
    let points = if threads > 1 { &index.points[..] } else { &[] };
    let mut tasks = Tasks::new(reader, points, sizes);
    let mut join = Join { walk: Walk::new()?, writer, buffer: vec![0; BUFFER].into() };
    let (is_done, free) = (Cell::new(false), RefCell::new(Vec::new()));
    let next = || {
        let buffers = free.borrow_mut().pop().unwrap_or_default();
        Ok::<_, io::Error>(if is_done.get() { None } else { tasks.next(buffers) })
    };
    let worker = || {
        let mut worker = Worker::new();
        move |task| worker.decode(task)
    };
    ordered((threads, AHEAD), next, worker, |chunk| {
        join.chunk(&chunk)?;
        is_done.set(join.walk.is_at_end());
        free.borrow_mut().push((chunk.task.piece.bytes, chunk.task.output));
        Ok(())
    })?;
    join.end(tasks.failure)
}

/// Cuts the input at points.
struct Tasks<'i, R> {
    reader: R,
    points: &'i [Point],
    sizes: &'i Sizes,
    /// Bytes read.
    at: u64,
    /// Up to where no piece begins at a point.
    no_point_before: u64,
    /// The byte before `at`.
    last: u8,
    is_at_end: bool,
    /// Why reading has ended before the end, which is told after what precedes it.
    failure: Option<io::Error>,
}

impl<'i, R: Read> Tasks<'i, R> {
    fn new(reader: R, points: &'i [Point], sizes: &'i Sizes) -> Self {
        Tasks { reader, points, sizes, at: 0, no_point_before: 0, last: 0, is_at_end: false, failure: None }
    }

    /// The next piece, in buffers for input and output. `None` at the end.
    fn next(&mut self, (mut bytes, output): (Vec<u8>, Vec<u8>)) -> Option<Task<'i>> {
        bytes.clear();
        let mut piece = Piece { at: self.at, bytes };
        let mut point = None;
        if self.at >= self.no_point_before
            && let Some((first, rest)) = self.points.split_first()
        {
            self.points = rest;
            point = Some(first).filter(|first| first.bit / 8 + 1 >= self.at);
            // The rest of a byte that the piece before has, too.
            if self.at > 0 && first.bit % 8 != 0 && first.bit / 8 + 1 == self.at {
                piece = Piece { at: self.at - 1, bytes: piece.bytes };
                piece.bytes.push(self.last);
            }
            self.drop_near(first);
        }
        let end = self.points.first().map_or(u64::MAX, |next| next.bit);
        self.no_point_before = end.div_ceil(8);
        let most = self.no_point_before.saturating_sub(self.at).min(self.sizes.piece as u64);
        self.read(&mut piece.bytes, most as usize);
        self.last = piece.bytes.last().copied().unwrap_or(self.last);
        let (is_over, share) = (most > 0 && piece.bytes.is_empty(), self.sizes.share);
        (!is_over).then_some(Task { piece, point, end: end.min(i64::MAX as u64), output, share })
    }

    /// Drops the points after `first` that are too near to begin another chunk.
    fn drop_near(&mut self, first: &Point) {
        let is_near = |point: &Point| {
            let (content, bits) = (point.offset - first.offset, point.bit - first.bit);
            content < self.sizes.chunk && bits / 8 < self.sizes.chunk
        };
        let near = self.points.iter().take_while(|point| is_near(point)).count();
        self.points = &self.points[near..];
    }

    /// Reads `len` bytes, unless the input ends.
    fn read(&mut self, bytes: &mut Vec<u8>, len: usize) {
        let from = bytes.len();
        let mut limited = (&mut self.reader).take(if self.is_at_end { 0 } else { len as u64 });
        bytes.reserve(len);
        if let Err(error) = limited.read_to_end(bytes) {
            self.failure = Some(error);
        }
        let read = bytes.len() - from;
        self.is_at_end = read < len;
        self.at += read as u64;
    }
}

/// The decoder of the file, which knows the position up to which all is decoded and written.
struct Join<W> {
    walk: Walk,
    writer: W,
    buffer: Box<[u8]>,
}

impl<W: Write> Join<W> {
    /// Takes what a worker has decoded, and decodes the rest of its piece. Returns whether it was
    /// of use.
    fn chunk(&mut self, chunk: &Chunk<'_>) -> io::Result<bool> {
        let Task { piece, point, end, .. } = &chunk.task;
        let mut is_taken = false;
        if let Some(point) = point {
            self.decode(piece, point.bit)?;
            if self.is_at(point) && self.has_window(chunk) {
                self.adopt(chunk)?;
                is_taken = self.walk.offset > point.offset;
            }
        }
        self.decode(piece, *end)?;
        Ok(is_taken)
    }

    /// Decodes a piece, up to the first block that begins at a bit of the file or after it.
    fn decode(&mut self, piece: &Piece, stop: u64) -> io::Result<()> {
        loop {
            let position = self.walk.decoder.position();
            let src = piece.from(position);
            if src.is_empty() || self.walk.is_at_end() {
                return Ok(());
            }
            let progress = self.walk.step(src, &mut self.buffer, stop as i64 - 8 * position as i64)?;
            self.writer.write_all(&self.buffer[..progress.written])?;
            if progress.read == 0 && progress.written == 0 {
                return Ok(());
            }
        }
    }

    fn is_at(&self, point: &Point) -> bool {
        self.walk.decoder.block_bit() == Some(point.bit) && self.walk.offset == point.offset
    }

    /// Whether the window of a chunk has the bytes of the content that its matches refer to.
    fn has_window(&self, chunk: &Chunk<'_>) -> bool {
        let history = self.walk.decoder.history();
        let mut before = vec![0; history.len()];
        history.copy(history.len(), &mut before);
        let place = |window: &[u8], back: usize| window.len().checked_sub(back).map(|place| window[place]);
        let mut referred = chunk.referred.iter().zip((1..=WINDOW).rev()).filter(|(referred, _)| **referred);
        referred.all(|(_, back)| {
            let byte = place(&before, back);
            byte.is_some() && byte == place(&chunk.window, back)
        })
    }

    /// Takes a chunk that begins at the position: all of it, unless something is wrong, which
    /// decoding then meets.
    fn adopt(&mut self, chunk: &Chunk<'_>) -> io::Result<()> {
        for (i, segment) in chunk.segments.iter().enumerate() {
            if i > 0 && !self.feed(&chunk.task.piece, segment.from)? {
                break;
            }
            let Some(read) = segment.to.checked_sub(self.walk.decoder.position()) else { break };
            let output = &chunk.task.output[segment.output.clone()];
            if !self.walk.adopt(segment.blocks.snapshot(), read, output, segment.check)? {
                break;
            }
            self.writer.write_all(output)?;
        }
        Ok(())
    }

    /// Reads trailer and header up to the data of the next member, at `to`. Returns whether it is
    /// there.
    fn feed(&mut self, piece: &Piece, to: u64) -> io::Result<bool> {
        loop {
            let position = self.walk.decoder.position();
            if position >= to || self.walk.is_at_end() {
                return Ok(self.walk.decoder.block_bit() == Some(8 * to));
            }
            let src = piece.from(position);
            let len = src.len().min((to - position) as usize);
            if len == 0 || self.walk.step(&src[..len], &mut [], i64::MIN)?.read == 0 {
                return Ok(false);
            }
        }
    }

    /// Checks that the input may end here, where it could not be read for the reason of `failure`.
    fn end(mut self, failure: Option<io::Error>) -> io::Result<Totals> {
        let failure = failure.filter(|_| !self.walk.is_at_end());
        while !self.walk.is_at_end() {
            match self.walk.step(&[], &mut self.buffer, NO_STOP) {
                Ok(progress) if progress.written > 0 => {
                    self.writer.write_all(&self.buffer[..progress.written])?;
                }
                Ok(_) if failure.is_none() => {}
                Err(error) if failure.is_none() => return Err(error.into()),
                _ => break,
            }
        }
        let totals = Totals { bytes_in: self.walk.end(), bytes_out: self.walk.offset };
        failure.map_or(Ok(totals), Err)
    }
}

impl Piece {
    /// What there is from an offset of the file on.
    fn from(&self, offset: u64) -> &[u8] {
        let from = offset.checked_sub(self.at).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.bytes.get(from..)).unwrap_or_default()
    }
}

/// Whether the work of each chunk was of use.
#[cfg(test)]
pub(super) fn taken(file: &[u8], index: &Index, sizes: &Sizes) -> Vec<bool> {
    let (mut tasks, mut worker) = (Tasks::new(file, &index.points, sizes), Worker::new());
    let mut join = Join { walk: Walk::new().unwrap(), writer: io::sink(), buffer: vec![0; BUFFER].into() };
    let chunks = std::iter::from_fn(|| tasks.next(Default::default()));
    chunks.map(|task| join.chunk(&worker.decode(task)).unwrap()).collect()
}

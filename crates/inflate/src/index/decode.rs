//! [`decode`]: all content of a file on several threads, by its index.

use std::io::{self, Read, Write};

use super::points::{Index, Point};
use crate::options::{Format, Options};
use crate::parallel::{Cut, Outcome, Plan, Start, Totals, decode_by};
use crate::stream::Members;
use crate::stream_decoder::StreamDecoder;

/// Sizes in bytes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Content of a chunk, or bytes of the file, from which on it ends at the next point.
    pub(super) chunk: u64,
    /// Most bytes of the file in a piece.
    pub(super) piece: usize,
    /// Most bytes of output of a chunk.
    pub(super) share: usize,
}

impl Sizes {
    const DEFAULT: Sizes = Sizes { chunk: 1 << 20, piece: 6 << 20, share: 16 << 20 };
}

/// Decodes a gzip file from `reader` to `writer`, which is not flushed, on so many threads besides
/// the calling one, which reads, writes and checks. With 0 or 1 the calling thread does everything.
/// Each chunk of the file is decoded from a point of its index on.
///
/// Content, verdict and errors are those of [`Builder`](super::Builder), whatever the index: it is
/// a hint. Where it is wrong, the calling thread decodes alone. The index may be of a part of the
/// points.
///
/// Memory is at most 64 MiB and 24 MiB per thread. Content between two points is decoded by one
/// thread, and gains nothing beyond 16 MiB.
///
/// # Errors
/// Those of `reader`, except [`ErrorKind::Interrupted`](io::ErrorKind::Interrupted), which is
/// retried; those of `writer`, and of [`Builder`](super::Builder). Content before an error of the
/// data or of the reader is written first.
///
/// # Panics
/// If `reader` or `writer` panics; all threads have ended then.
pub fn decode<R: Read, W: Write>(
    reader: R,
    index: &Index,
    mut writer: W,
    threads: usize,
) -> io::Result<Totals> {
    decode_with(reader, index, threads, |part, _| writer.write_all(part))
}

/// As [`decode`], for programs that show progress or limit the content: `put` gets the content,
/// part after part, and the totals before each part. Its errors are returned at once.
///
/// # Errors
/// As [`decode`]; those of `put`.
///
/// # Panics
/// As [`decode`]; if `put` panics.
pub fn decode_with<R: Read>(
    reader: R,
    index: &Index,
    threads: usize,
    put: impl FnMut(&[u8], Totals) -> io::Result<()>,
) -> io::Result<Totals> {
    decode_in(reader, index, put, threads, Sizes::DEFAULT)
}

pub(super) fn decode_in<R: Read>(
    reader: R,
    index: &Index,
    put: impl FnMut(&[u8], Totals) -> io::Result<()>,
    threads: usize,
    sizes: Sizes,
) -> io::Result<Totals> {
    let plan = (threads > 1).then(|| Points::new(&index.points, sizes));
    decode_by(reader, put, members()?, threads, plan)
}

fn members() -> io::Result<Members> {
    Ok(Members::up_to_garbage(StreamDecoder::new(Options::new(Format::Gzip))?))
}

/// Cuts the input at points.
struct Points<'i> {
    /// Those at which pieces begin, each in another byte.
    points: Vec<&'i Point>,
    sizes: Sizes,
}

impl<'i> Points<'i> {
    fn new(all: &'i [Point], sizes: Sizes) -> Self {
        let mut points: Vec<&Point> = Vec::new();
        for point in all {
            let is_far = points.last().is_none_or(|last| {
                let bytes = point.byte() - last.byte();
                bytes > 0 && bytes.max(point.offset - last.offset) >= sizes.chunk
            });
            if is_far {
                points.push(point);
            }
        }
        Points { points, sizes }
    }

    /// The points at an offset of the file, and after it.
    fn from(&self, at: u64) -> &[&'i Point] {
        &self.points[self.points.partition_point(|point| point.byte() < at)..]
    }
}

impl<'i> Plan<'i> for Points<'i> {
    fn share(&self) -> usize {
        self.sizes.share
    }

    fn len(&mut self, at: u64) -> usize {
        let next = self.from(at + 1).first().map_or(u64::MAX, |point| point.byte());
        self.sizes.piece.min(usize::try_from(next - at).unwrap_or(usize::MAX))
    }

    fn cut(&mut self, at: u64, _: Option<u64>) -> Cut<'i> {
        let start = match self.from(at) {
            [point, ..] if point.byte() == at => Start::Known(point.bit, point.window.as_ref()),
            _ => Start::Skip,
        };
        Cut { start, end: Some(self.from(at + 1).first().map_or(u64::MAX, |next| next.bit)) }
    }

    fn learn(&mut self, _: Outcome) {}
}

/// Whether the work of each chunk was of use.
#[cfg(test)]
pub(super) fn hits(file: &[u8], index: &Index, sizes: Sizes) -> Vec<bool> {
    struct Noted<'h, 'i>(Points<'i>, &'h mut Vec<bool>);

    impl<'i> Plan<'i> for Noted<'_, 'i> {
        fn share(&self) -> usize {
            self.0.share()
        }

        fn len(&mut self, at: u64) -> usize {
            self.0.len(at)
        }

        fn cut(&mut self, at: u64, data: Option<u64>) -> Cut<'i> {
            self.0.cut(at, data)
        }

        fn learn(&mut self, outcome: Outcome) {
            self.1.push(outcome.is_hit);
        }
    }

    let mut hits = Vec::new();
    let plan = Noted(Points::new(&index.points, sizes), &mut hits);
    decode_by(file, |_, _| Ok(()), members().unwrap(), 2, Some(plan)).unwrap();
    hits
}

//! [`decode`]: decodes all content of a file on several threads by its index.

use std::io::{self, Read, Write};

use super::points::{Index, Point};
use crate::options::{Format, Options};
use crate::parallel::{Cut, Outcome, Plan, Start, Totals, decode_by};
use crate::stream::Members;
use crate::stream_decoder::StreamDecoder;

/// Sizes in bytes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// A chunk ends at the first point at which it has this many bytes, of content or of the file.
    pub(super) chunk: u64,
    /// Maximum size of a piece of the file.
    pub(super) piece: usize,
    /// Maximum output of a chunk; a worker stops there, and the calling thread decodes the rest.
    pub(super) share: usize,
}

impl Sizes {
    const DEFAULT: Sizes = Sizes { chunk: 1 << 20, piece: 6 << 20, share: 16 << 20 };
}

/// Decodes a gzip file from `reader` to `writer`, without flushing it. `threads` threads each
/// decode chunks of the file from points of its index; the calling thread reads, writes and checks.
/// With 0 or 1 the calling thread does everything.
///
/// Content, verdict and errors are those of [`Builder`](super::Builder), whatever the index, which
/// is only a hint. Where it is wrong, the calling thread decodes alone. The index may have only a
/// part of the points.
///
/// Memory is at most 64 MiB plus 24 MiB per thread. One thread decodes the content between two
/// points. The part of it after 16 MiB gains nothing from threads.
///
/// # Errors
/// Returns the errors of `reader`, except [`ErrorKind::Interrupted`](io::ErrorKind::Interrupted),
/// which is retried, those of `writer`, and those of [`Builder`](super::Builder). Content before an
/// error of the data or of the reader is written first.
///
/// # Panics
/// Panics if `reader` or `writer` does, after all threads have ended.
pub fn decode<R: Read, W: Write>(
    reader: R,
    index: &Index,
    mut writer: W,
    threads: usize,
) -> io::Result<Totals> {
    decode_with(reader, index, threads, |part, _| writer.write_all(part))
}

/// Like [`decode`], for programs that show progress or limit the content. `put` gets each part of
/// the content, and the totals before it. Its errors are returned at once.
///
/// # Errors
/// Returns the errors of [`decode`], and those of `put`.
///
/// # Panics
/// Panics as [`decode`] does, and if `put` does.
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

/// Divides the input at points.
struct Points<'i> {
    /// The points at which pieces begin. No two are in the same byte of the file.
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

    /// Returns the points at an offset of the file or after it.
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

/// Returns for each chunk whether its worker's output was used.
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

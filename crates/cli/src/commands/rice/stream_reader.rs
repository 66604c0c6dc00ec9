//! A v2 file to an array: streams one after another, each decoded in pieces of whole segments.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use linerate_core::Kind;
use linerate_io::MapSource;
use linerate_rice::v2::{self, Element, ElementType};
use linerate_rice::{Error, Options};

use super::dtype::{Dtype, Word};
use super::piece::{PIECE, engine_error, reserve};
use super::reader::Reader;
use super::shape::Shape;
use crate::ui::error::CliError;

/// A stream of a regular file that is longer than this is mapped. Ours are not.
const LONGEST_READ: u64 = 4 * PIECE;

/// Bytes before the table of a stream.
const HEADER: usize = 28;

/// What is known of a stream before its samples are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Offset in the file.
    pub(crate) at: u64,
    pub(crate) dtype: Dtype,
    pub(crate) samples: u64,
    pub(crate) row: Option<NonZeroU32>,
    pub(crate) segment: u32,
    pub(crate) segments: u64,
    /// Entries of its table: the segments, and the shape of an array if that is kept.
    entries: u64,
    /// Bytes of the whole stream.
    pub(crate) bytes: u64,
}

/// A stream that can be decoded.
pub(crate) struct Stream {
    pub(crate) head: Head,
    data: Data,
}

enum Data {
    Read(Vec<u8>),
    Mapped(MapSource),
}

impl Stream {
    fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Read(bytes) => bytes,
            // The stream lay within the file when it was mapped.
            Data::Mapped(map) => map.as_ref().get(self.head.at as usize..).unwrap_or_default(),
        }
    }

    /// Decodes all of it, in pieces of whole segments.
    pub(crate) fn decode<T: Word + Element>(
        &self,
        exec: Options,
        take: &mut dyn FnMut(&mut [T]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let Head { at, segment, segments, samples, .. } = self.head;
        let most = (PIECE as usize / size_of::<T>() / segment as usize).max(1);
        let mut piece = Vec::new();
        reserve(&mut piece, (most as u64 * u64::from(segment)).min(samples) as usize)?;
        for first in (0..segments as usize).step_by(most) {
            let which = first..(first + most).min(segments as usize);
            let n =
                v2::decode_segments::<T>(self.bytes(), which, &mut piece, exec).map_err(engine_error(at))?;
            take(&mut piece[..n])?;
        }
        Ok(())
    }
}

/// What all streams of a file have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamTotals {
    pub(crate) dtype: Dtype,
    pub(crate) row: Option<NonZeroU32>,
    pub(crate) samples: u64,
    pub(crate) streams: u64,
}

impl StreamTotals {
    /// The totals of one stream more.
    fn with(before: Option<StreamTotals>, head: &Head) -> Result<StreamTotals, CliError> {
        let Head { at, dtype, row, samples, .. } = *head;
        let Some(before) = before else { return Ok(StreamTotals { dtype, row, samples, streams: 1 }) };
        if dtype != before.dtype {
            let what = format!("a stream of {} after one of {}", dtype.name(), before.dtype.name());
            return Err(CliError::data(Kind::Corrupt, at + 5, what));
        }
        let samples = before.samples.checked_add(samples);
        let samples = samples.ok_or_else(|| CliError::data(Kind::Corrupt, at + 8, "too many samples"))?;
        // Streams of unlike rows have none in common.
        let row = row.filter(|_| row == before.row);
        Ok(StreamTotals { dtype, row, samples, streams: before.streams + 1 })
    }

    /// The shape that the rows make, if they are complete.
    pub(crate) fn shape(&self) -> Shape {
        Shape::of(self.samples, self.row.map(|row| row.get().into()))
    }
}

/// The streams of a file, one after another.
pub(crate) struct Streams {
    reader: Reader,
    /// Streams of a pipe that had to be read ahead.
    held: VecDeque<Stream>,
    /// What the streams handed out have in common.
    seen: Option<StreamTotals>,
}

const CUT_TABLE: &str = "the stream ends within its table of segments";
const CUT_SEGMENT: &str = "the stream ends before its last segment does";

impl Streams {
    pub(crate) fn new(reader: Reader) -> Streams {
        Streams { reader, held: VecDeque::new(), seen: None }
    }

    /// Offset of the next byte to be read.
    pub(crate) fn at(&self) -> u64 {
        self.reader.at()
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.reader.len().is_some()
    }

    /// What the streams handed out so far have in common.
    pub(crate) fn seen(&self) -> Option<StreamTotals> {
        self.seen
    }

    /// Looks at all streams without decoding them, and goes back to the first. Those of a pipe
    /// are held in memory meanwhile.
    pub(crate) fn totals(&mut self) -> Result<StreamTotals, CliError> {
        if self.is_regular() {
            let totals = self.heads(&mut |_| {})?;
            self.reader.rewind(0)?;
            return Ok(totals);
        }
        let mut totals = None;
        while let Some(stream) = self.load()? {
            totals = Some(StreamTotals::with(totals, &stream.head)?);
            self.held.push_back(stream);
        }
        totals.ok_or_else(empty)
    }

    /// Looks at the first stream, and goes back to it.
    pub(crate) fn first(&mut self) -> Result<StreamTotals, CliError> {
        let stream = self.load()?.ok_or_else(empty)?;
        let totals = StreamTotals::with(None, &stream.head);
        self.held.push_back(stream);
        totals
    }

    /// The next stream.
    pub(crate) fn next(&mut self) -> Result<Option<Stream>, CliError> {
        let next = match self.held.pop_front() {
            Some(stream) => Some(stream),
            None => self.load()?,
        };
        if let Some(stream) = &next {
            self.seen = Some(StreamTotals::with(self.seen, &stream.head)?);
        }
        Ok(next)
    }

    /// Reads the headers of all streams, and skips their data.
    pub(crate) fn heads(&mut self, each: &mut dyn FnMut(&Head)) -> Result<StreamTotals, CliError> {
        let mut totals = None;
        while let Some((mut head, _)) = self.head()? {
            self.skip(&mut head)?;
            totals = Some(StreamTotals::with(totals, &head)?);
            each(&head);
        }
        totals.ok_or_else(empty)
    }

    /// Reads the header of the next stream.
    fn head(&mut self) -> Result<Option<(Head, [u8; HEADER])>, CliError> {
        let at = self.reader.at();
        let mut bytes = [0; HEADER];
        let there = self.reader.fill(&mut bytes)?;
        if there == 0 && at > 0 {
            return Ok(None);
        }
        match v2::info(&bytes[..there]) {
            // Nothing is missing but the table, which comes next.
            Err(Error { kind: Kind::Truncated, .. }) if there == HEADER => {}
            Err(_) if there == 0 => return Err(empty()),
            Err(e) if e.kind == Kind::Corrupt && e.offset == 0 => return Err(foreign(at)),
            other => drop(other.map_err(engine_error(at))?),
        }
        let word = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        let element = ElementType::from_code(bytes[5]).unwrap_or(ElementType::I16);
        let samples = u64::from(word(8)) | u64::from(word(12)) << 32;
        let segment = word(16).max(1);
        let segments = samples.div_ceil(segment.into());
        let head = Head {
            at,
            dtype: element.into(),
            samples,
            row: NonZeroU32::new(word(20)),
            segment,
            segments,
            entries: segments.saturating_add((bytes[6] & 1).into()),
            bytes: HEADER as u64,
        };
        Ok(Some((head, bytes)))
    }

    /// Skips the rest of a stream, which determines its length.
    fn skip(&mut self, head: &mut Head) -> Result<(), CliError> {
        if head.entries > 0 {
            self.reader.skip((head.entries - 1).saturating_mul(4), CUT_TABLE)?;
            let words = self.reader.word(CUT_TABLE)?;
            self.reader.skip(u64::from(words) * 4, CUT_SEGMENT)?;
        }
        head.bytes = self.reader.at() - head.at;
        Ok(())
    }

    /// Reads the next stream, or maps it if it is long.
    fn load(&mut self) -> Result<Option<Stream>, CliError> {
        let Some((mut head, start)) = self.head()? else { return Ok(None) };
        let mut bytes = start.to_vec();
        if self.is_regular() {
            self.skip(&mut head)?;
            if head.bytes > LONGEST_READ {
                let map = MapSource::new(self.reader.file())
                    .map_err(CliError::io("cannot map the file"))?
                    .sequential();
                return Ok(Some(Stream { head, data: Data::Mapped(map) }));
            }
            self.reader.rewind(head.at + HEADER as u64)?;
            self.reader.append(&mut bytes, head.bytes - HEADER as u64, CUT_SEGMENT)?;
        } else if head.entries > 0 {
            self.reader.append(&mut bytes, head.entries.saturating_mul(4), CUT_TABLE)?;
            let words = bytes.last_chunk().map_or(0, |last| u32::from_le_bytes(*last));
            self.reader.append(&mut bytes, u64::from(words) * 4, CUT_SEGMENT)?;
            head.bytes = bytes.len() as u64;
        }
        Ok(Some(Stream { head, data: Data::Read(bytes) }))
    }
}

fn empty() -> CliError {
    CliError::data(Kind::Truncated, 0, "the input is empty")
}

/// What follows is not the start of a stream.
fn foreign(at: u64) -> CliError {
    let what = match at {
        0 => "this is not a v2 file; a v1 chunk needs --cd-values, or --v1",
        _ => "what follows the last stream is not a stream",
    };
    CliError::data(Kind::Corrupt, at, what)
}

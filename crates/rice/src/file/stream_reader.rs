//! Decodes a file of version 2: streams one after another, each in pieces of whole segments.

use core::mem::take;
use core::num::NonZeroU32;
use std::collections::VecDeque;

use bytemuck::{cast_slice, cast_slice_mut, pod_align_to_mut};
use linerate_core::{Error, Kind, Result};
use linerate_io::MapSource;

use super::{Input, PIECE, PartialShape, Piece, reserve, swap_little_endian, wav};
use crate::Options;
use crate::v2::file_record::{self, FileRecord};
use crate::v2::header::{Fields, HEADER};
use crate::v2::{self, Element, ElementType, Shape};

/// Longest stream of a regular file, in bytes, that is read into memory; a longer one is mapped.
/// The encoders of this module write shorter ones, unless a segment is longer than a piece.
const MAX_READ: u64 = 4 * PIECE;

/// Bytes of samples that a thread decodes in a piece, unless all threads together would decode more
/// than [`PIECE`] bytes. One thread's piece then stays in the cache until it is written.
const PER_THREAD: u64 = 4 << 20;

const CUT_TABLE: &str = "the stream ends within its table of segments";
const CUT_SEGMENT: &str = "the stream ends before its last segment does";
const EMPTY: Error = Error::new(Kind::Truncated, 0, "the input is empty");

/// The header of one stream of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamHeader {
    /// Offset in the file.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// The type of the samples.
    pub element: ElementType,
    /// Number of samples.
    pub samples: u64,
    /// Samples per row, if the stream has rows.
    pub row: Option<NonZeroU32>,
    /// The shape of its samples, if the stream has a shape record.
    pub shape: Option<Shape>,
    /// Number of channels, each of which has one sample in a row; 1 without channels.
    pub channels: u32,
    /// Samples of all channels per segment; the last segment may have fewer.
    pub segment: u32,
    /// Number of segments.
    pub segments: u64,
    /// Number of bytes in the stream's file record, if it has a file record instead of samples.
    /// These bytes are a part of the WAV file that was encoded.
    pub file_bytes: Option<u64>,
    /// Bytes per sample in that WAV file; 0 without a file record.
    sample_bytes: u8,
    /// Whether the file record has the first bytes of the WAV file.
    begins_file: bool,
    /// Number of bytes of samples that follow in the WAV file. Known only if the file record ends
    /// with the end of the WAV file's header and this states the number.
    data: Option<u64>,
}

impl StreamHeader {
    /// Takes the shape or the properties of the WAV file from a record.
    fn set_record(&mut self, fields: &Fields, record: &[u8]) -> Result<()> {
        if fields.has_shape {
            self.shape = Some(fields.shape(record)?);
        }
        if fields.has_record {
            let record = FileRecord::parse(record)?;
            (self.file_bytes, self.sample_bytes) = (Some(record.bytes.len() as u64), record.sample_bytes);
            self.begins_file = record.bytes.get(..12).is_some_and(wav::is_wav);
            self.data = wav::data_after(record.bytes);
        }
        Ok(())
    }
}

/// Properties of all streams of a file together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamTotals {
    /// The type of the samples.
    pub element: ElementType,
    /// Samples per row, if all streams have the same.
    pub row: Option<NonZeroU32>,
    /// Number of samples.
    pub samples: u64,
    /// Number of streams.
    pub streams: u64,
    /// The shape records of the streams, joined along the first axis. `None` if the first stream
    /// has none, or if they cannot be joined.
    record: Option<Shape>,
    /// Bytes per sample in the WAV file that was encoded, if it was one.
    sample_bytes: Option<u8>,
    /// Bytes of the WAV file other than its samples.
    file_bytes: u64,
    /// Bytes of samples of the WAV file that are still to come, if its header states their number.
    left: Option<u64>,
}

impl StreamTotals {
    /// Adds a stream to the totals of the streams before it. Returns an error if it does not belong
    /// to the same array or WAV file.
    fn plus(before: Option<StreamTotals>, header: &StreamHeader) -> Result<StreamTotals> {
        let StreamHeader { offset, element, row, samples, shape, sample_bytes, .. } = *header;
        let file_bytes = header.file_bytes.unwrap_or(0);
        let sample_bytes = header.file_bytes.map(|_| sample_bytes);
        let Some(before) = before else {
            return Ok(StreamTotals {
                element,
                row,
                samples,
                streams: 1,
                record: shape,
                sample_bytes,
                file_bytes,
                left: header.data,
            });
        };
        if element != before.element {
            return Err(Error::new(
                Kind::Corrupt,
                offset + 5,
                "a stream of another type than the one before",
            ));
        }
        let mixed = Error::new(Kind::Corrupt, offset, "streams of a WAV file beside those of another array");
        if sample_bytes.is_some_and(|bytes| before.sample_bytes != Some(bytes)) {
            return Err(mixed);
        }
        let left = match (before.sample_bytes, sample_bytes) {
            (None, _) => None,
            (Some(_), Some(_)) if header.begins_file => header.data,
            (Some(_), Some(_)) => before.left.or(header.data),
            (Some(_), None) if shape.is_some() => return Err(mixed),
            (Some(bytes), None) => {
                let bytes = samples.saturating_mul(bytes.into());
                before.left.map(|left| left.checked_sub(bytes).ok_or(mixed)).transpose()?
            }
        };
        let samples = before.samples.checked_add(samples);
        let samples = samples.ok_or(Error::new(Kind::Corrupt, offset + 8, "too many samples"))?;
        let row = row.filter(|_| row == before.row);
        let record = match (before.record, shape) {
            (Some(before), Some(shape)) => joined(&before, &shape),
            (record, _) => record,
        };
        Ok(StreamTotals {
            element,
            row,
            samples,
            streams: before.streams + 1,
            record,
            sample_bytes: before.sample_bytes,
            file_bytes: before.file_bytes.saturating_add(file_bytes),
            left,
        })
    }

    /// The shape of the array. It follows from the shape records, joined along the first axis, or
    /// else from the rows; incomplete rows make one axis.
    pub fn shape(&self) -> Shape {
        let rows = Shape::from_rows(self.samples, self.row.map(|row| row.get().into()));
        let Some(record) = self.record else { return rows };
        if record.samples() == Some(self.samples) {
            return record;
        }
        // Streams without a record belong to the same array: the first axis follows from the
        // samples.
        let rest = record.axes().get(1..).and_then(|rest| PartialShape::open(rest).ok());
        rest.and_then(|rest| rest.for_samples(self.samples)).unwrap_or(rows)
    }

    /// Size in bytes of the WAV file that was encoded, if it was one.
    pub fn wav_bytes(&self) -> Option<u64> {
        let samples = self.samples.saturating_mul(self.sample_bytes?.into());
        Some(samples.saturating_add(self.file_bytes))
    }
}

/// Joins two shapes along the first axis. `None` if that is impossible, as when other axes differ.
fn joined(before: &Shape, next: &Shape) -> Option<Shape> {
    let ((first, rest), (more, others)) = (before.axes().split_first()?, next.axes().split_first()?);
    let sum = first.checked_add(*more).filter(|_| rest == others)?;
    Shape::new(&[&[sum], rest].concat()).ok()
}

/// Decodes the streams of a file.
pub struct StreamReader {
    input: Input,
    options: Options,
    /// Maximum number of bytes of samples, or of a WAV file.
    max_output: u64,
    /// Streams of a pipe that were read ahead and are still to be decoded.
    held: VecDeque<Stream>,
    /// The totals of the streams begun so far.
    seen: Option<StreamTotals>,
    /// The stream being decoded, and its next segment.
    current: Option<(Stream, usize)>,
    /// The decoded samples, from the first address on that is aligned for them: see [`aligned`].
    piece: Vec<u8>,
    /// Memory of the last stream, for the next one.
    spare: Vec<u8>,
}

/// A stream, in memory or mapped.
struct Stream {
    header: StreamHeader,
    data: Data,
}

enum Data {
    /// The stream is at the beginning of a buffer.
    Read(Vec<u8>),
    Mapped(MapSource),
}

impl Stream {
    fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Read(bytes) => &bytes[..self.header.bytes as usize],
            // The stream lay within the file when it was mapped.
            Data::Mapped(map) => map.as_ref().get(self.header.offset as usize..).unwrap_or_default(),
        }
    }
}

impl StreamReader {
    /// Decodes the streams of `input`.
    pub fn new(mut input: Input, options: Options) -> StreamReader {
        input.set_threads(options);
        StreamReader {
            input,
            options,
            max_output: u64::MAX,
            held: VecDeque::new(),
            seen: None,
            current: None,
            piece: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Sets the maximum number of bytes to decode. The first stream that exceeds it is an error of
    /// [`Kind::Limit`]. Counts the bytes of samples or, for a WAV file, the bytes of the file, in
    /// which samples may be narrower than the samples that [`next_piece`](Self::next_piece)
    /// returns.
    #[must_use]
    pub fn max_output(self, bytes: u64) -> StreamReader {
        StreamReader { max_output: bytes, ..self }
    }

    /// Offset of the next byte of the input.
    pub fn position(&self) -> u64 {
        self.input.position()
    }

    /// Whether the input is a regular file. [`totals`](Self::totals) then holds no stream in
    /// memory.
    pub fn is_seekable(&self) -> bool {
        self.input.file_len().is_some()
    }

    /// The totals of the streams begun so far; at the end, of all streams.
    pub fn seen(&self) -> Option<StreamTotals> {
        self.seen
    }

    /// Reads the headers of all streams, and returns their totals. The streams can still be
    /// decoded; streams of a pipe are held in memory. Call this before any stream is read, by
    /// [`first`](Self::first) or otherwise: streams that were read before are not counted.
    ///
    /// # Errors
    /// Errors of [`next_piece`](Self::next_piece), except errors in segments, which are not
    /// decoded.
    pub fn totals(&mut self) -> Result<StreamTotals> {
        let mut totals = None;
        if self.is_seekable() {
            let start = self.input.position();
            totals = Some(self.headers()?.1);
            self.input.rewind(start)?;
        } else {
            while let Some(stream) = self.load()? {
                totals = Some(StreamTotals::plus(totals, &stream.header)?);
                self.held.push_back(stream);
            }
        }
        totals.ok_or(EMPTY)
    }

    /// Reads the first stream, and returns its totals. It can still be decoded.
    ///
    /// # Errors
    /// Errors of [`totals`](Self::totals).
    pub fn first(&mut self) -> Result<StreamTotals> {
        let stream = self.load()?.ok_or(EMPTY)?;
        let totals = StreamTotals::plus(None, &stream.header);
        self.held.push_back(stream);
        totals
    }

    /// Returns the headers of all streams, and their totals. The streams are skipped: they cannot
    /// be decoded afterwards.
    ///
    /// # Errors
    /// Errors of [`totals`](Self::totals).
    pub fn headers(&mut self) -> Result<(Vec<StreamHeader>, StreamTotals)> {
        let (mut headers, mut totals) = (Vec::new(), None);
        while let Some(header) = self.skip_stream()? {
            totals = Some(StreamTotals::plus(totals, &header)?);
            headers.push(header);
        }
        Ok((headers, totals.ok_or(EMPTY)?))
    }

    /// Whether a WAV file was encoded, which [`next_file_bytes`](Self::next_file_bytes) restores.
    /// Call this before anything is decoded.
    ///
    /// # Errors
    /// [`Kind::Read`] if reading fails.
    pub fn is_wav(&mut self) -> Result<bool> {
        if let Some(stream) = self.held.front() {
            return Ok(stream.header.file_bytes.is_some());
        }
        let fields = Fields::parse(self.input.peek(HEADER)?);
        Ok(fields.is_ok_and(|(fields, _)| fields.has_record))
    }

    /// Returns the next bytes of the WAV file that was encoded. `None` at its end.
    ///
    /// # Errors
    /// Errors of [`next_piece`](Self::next_piece); [`Kind::BadArgument`] also if no WAV file was
    /// encoded, and [`Kind::Corrupt`] for samples that are too large for the file's samples.
    pub fn next_file_bytes(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_file_part()?.map(Piece::bytes))
    }

    /// Returns bytes as [`next_file_bytes`](Self::next_file_bytes) does, and gives away the buffer
    /// of decoded samples.
    ///
    /// # Errors
    /// Errors of [`next_file_bytes`](Self::next_file_bytes).
    pub fn next_file_part(&mut self) -> Result<Option<Piece<'_>>> {
        while !self.has_segments() {
            if !self.next_stream()? {
                return Ok(None);
            }
            if self.is_at_record() {
                let Some((stream, _)) = &self.current else { return Ok(None) };
                let record = &stream.bytes()[HEADER + 4..];
                let record = FileRecord::parse(record).map_err(|e| e.shifted(stream.header.offset))?;
                return Ok(Some(Piece::Bytes(record.bytes)));
            }
        }
        let offset = self.current.as_ref().map_or(0, |(stream, _)| stream.header.offset);
        let Some(StreamTotals { sample_bytes: Some(sample_bytes), element, .. }) = self.seen else {
            return Err(Error::new(Kind::BadArgument, 0, "no WAV file was encoded"));
        };
        if wav::stored_as(sample_bytes) != element {
            return Err(Error::new(Kind::Corrupt, offset, "a WAV file of samples of another type"));
        }
        let n = self.decode_bytes()?.unwrap_or(0);
        let misfit =
            Error::new(Kind::Corrupt, offset, "a sample that does not fit into those of the WAV file");
        let n = wav::narrow(&mut cast_slice_mut(aligned(&mut self.piece))[..n], sample_bytes);
        Ok(Some(self.piece(n.ok_or(misfit)?)))
    }

    /// Decodes the next whole segments of a stream: at most 16 MiB of samples, or one longer
    /// segment. `None` after the last stream.
    ///
    /// # Errors
    /// * [`Kind::BadArgument`] if the samples are not of type `T`.
    /// * [`Kind::Truncated`], [`Kind::Corrupt`] or [`Kind::Unsupported`] as in [`v2::decode_into`];
    ///   [`Kind::Corrupt`] also if streams differ in type or other bytes follow them.
    /// * [`Kind::Limit`] if there is not enough memory, or for more output than
    ///   [`max_output`](Self::max_output).
    /// * [`Kind::Read`] if reading or mapping fails.
    pub fn next_piece<T: Element>(&mut self) -> Result<Option<&[T]>> {
        Ok(self.decode_piece::<T>()?.map(|n| &cast_slice(aligned(&mut self.piece))[..n]))
    }

    /// Decodes as [`next_piece`](Self::next_piece) does, for samples of any type, and returns
    /// little-endian bytes.
    ///
    /// # Errors
    /// Errors of [`next_piece`](Self::next_piece).
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_part()?.map(Piece::bytes))
    }

    /// Decodes as [`next_bytes`](Self::next_bytes) does, and gives away the buffer.
    ///
    /// # Errors
    /// Errors of [`next_piece`](Self::next_piece).
    pub fn next_part(&mut self) -> Result<Option<Piece<'_>>> {
        Ok(self.decode_bytes()?.map(|n| self.piece(n)))
    }

    /// The first `n` bytes that were decoded.
    fn piece(&mut self, n: usize) -> Piece<'_> {
        let (unaligned, ..) = pod_align_to_mut::<u8, u32>(&mut self.piece);
        match unaligned.is_empty() {
            true => Piece::Buffer(&mut self.piece, n),
            false => Piece::Bytes(&cast_slice(aligned(&mut self.piece))[..n]),
        }
    }

    /// Decodes a piece to little-endian bytes, and returns their number.
    fn decode_bytes(&mut self) -> Result<Option<usize>> {
        let Some(element) = self.next_element()? else { return Ok(None) };
        let n = match element {
            ElementType::I16 => self.decode_piece::<i16>(),
            ElementType::U16 => self.decode_piece::<u16>(),
            ElementType::I32 => self.decode_piece::<i32>(),
            ElementType::U32 => self.decode_piece::<u32>(),
        };
        let Some(n) = n? else { return Ok(None) };
        let n = n * element.bytes();
        swap_little_endian(&mut cast_slice_mut(aligned(&mut self.piece))[..n], element.bytes());
        Ok(Some(n))
    }

    /// Returns the type of the samples of the next piece; `None` after the last piece.
    fn next_element(&mut self) -> Result<Option<ElementType>> {
        Ok(self.advance()?.then(|| self.seen.map(|seen| seen.element)).flatten())
    }

    /// Decodes a piece, and returns its number of samples.
    fn decode_piece<T: Element>(&mut self) -> Result<Option<usize>> {
        if !self.advance()? {
            return Ok(None);
        }
        let Some((stream, next)) = &mut self.current else { return Ok(None) };
        let StreamHeader { offset, element, segment, segments, samples, .. } = stream.header;
        if element != T::TYPE {
            return Err(Error::new(Kind::BadArgument, offset, "samples of another type than asked for"));
        }
        if let Data::Mapped(_) = stream.data {
            self.input.check_mapped(offset + stream.header.bytes, CUT_SEGMENT)?;
        }
        let segment = segment as usize;
        let max = PIECE.min(self.options.thread_count() as u64 * PER_THREAD) as usize;
        let max_segments = (max / size_of::<T>() / segment).max(1);
        let most = ((max_segments * segment) as u64).min(samples) as usize * size_of::<T>();
        reserve(&mut self.piece, most.next_multiple_of(4) + align_of::<u32>() - 1)?;
        let segments = *next..(*next + max_segments).min(segments as usize);
        *next = segments.end;
        let options = self.options.for_samples(segments.len() * segment);
        let out = cast_slice_mut(aligned(&mut self.piece));
        let n = v2::decode_segments::<T>(stream.bytes(), segments, out, options)
            .map_err(|e| e.shifted(offset))?;
        Ok(Some(n))
    }

    /// Moves on to a stream that has segments to decode. Returns whether there is one.
    fn advance(&mut self) -> Result<bool> {
        while !self.has_segments() {
            if !self.next_stream()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the current stream has segments to decode.
    fn has_segments(&self) -> bool {
        self.current.as_ref().is_some_and(|(stream, next)| (*next as u64) < stream.header.segments)
    }

    /// Whether the current stream has a file record instead of samples.
    fn is_at_record(&self) -> bool {
        self.current.as_ref().is_some_and(|(stream, _)| stream.header.file_bytes.is_some())
    }

    /// Begins the next stream. Returns whether there is one.
    fn next_stream(&mut self) -> Result<bool> {
        if let Some((Stream { data: Data::Read(bytes), .. }, _)) = self.current.take() {
            self.spare = bytes;
        }
        let next = match self.held.pop_front() {
            Some(stream) => Some(stream),
            None => self.load()?,
        };
        let Some(stream) = next else { return Ok(false) };
        let seen = StreamTotals::plus(self.seen, &stream.header)?;
        self.seen = Some(seen);
        let samples = seen.samples.saturating_mul(seen.element.bytes() as u64);
        if seen.wav_bytes().unwrap_or(samples) > self.max_output {
            let message = "the output takes more bytes than the limit";
            return Err(Error::new(Kind::Limit, stream.header.offset, message));
        }
        self.current = Some((stream, 0));
        Ok(true)
    }

    /// Reads the header of the next stream, and returns it in three forms: as a [`StreamHeader`]
    /// that still lacks the size and the record's fields; as parsed fields; and as bytes. `None` at
    /// the end of the file.
    fn read_header(&mut self) -> Result<Option<(StreamHeader, Fields, [u8; HEADER])>> {
        let offset = self.input.position();
        let mut bytes = [0; HEADER];
        let len = self.input.fill(&mut bytes)?;
        if len == 0 {
            return if offset > 0 { Ok(None) } else { Err(EMPTY) };
        }
        let (fields, _) = Fields::parse(&bytes[..len]).map_err(|e| match (e.kind, e.offset) {
            (Kind::Corrupt, 0) => not_a_stream(offset),
            _ => e.shifted(offset),
        })?;
        let header = StreamHeader {
            offset,
            bytes: 0,
            element: fields.element,
            samples: fields.samples,
            row: fields.row,
            shape: None,
            channels: fields.channels,
            segment: fields.segment,
            segments: fields.segments,
            file_bytes: None,
            sample_bytes: 0,
            begins_file: false,
            data: None,
        };
        Ok(Some((header, fields, bytes)))
    }

    /// Reads the header and the record of the next stream, and skips its segments.
    fn skip_stream(&mut self) -> Result<Option<StreamHeader>> {
        let Some((mut header, fields, _)) = self.read_header()? else { return Ok(None) };
        self.skip_rest(&mut header, &fields)?;
        Ok(Some(header))
    }

    /// Reads what is needed after the header of a stream, including its record, and skips its
    /// segments. Completes `header` with the record and the size.
    fn skip_rest(&mut self, header: &mut StreamHeader, fields: &Fields) -> Result<()> {
        let entries = fields.entries();
        if entries > 0 {
            let first = self.input.word(CUT_TABLE)?;
            let last = match entries {
                1 => first,
                _ => {
                    self.input.skip((entries - 2).saturating_mul(4), CUT_TABLE)?;
                    self.input.word(CUT_TABLE)?
                }
            };
            let mut read = 0;
            let longest = match fields {
                Fields { has_shape: true, .. } => Shape::MAX_WORDS,
                Fields { has_record: true, .. } => file_record::MAX_WORDS,
                _ => 0,
            };
            if (1..=longest).contains(&first.min(last)) {
                let at = self.input.position();
                read = first.min(last);
                let mut record = Vec::new();
                self.input.append(&mut record, u64::from(read) * 4, CUT_SEGMENT)?;
                header.set_record(fields, &record).map_err(|e| e.shifted(at))?;
            } else if longest > 0 {
                return Err(Error::new(
                    Kind::Corrupt,
                    self.input.position(),
                    "a record of an impossible length",
                ));
            }
            self.input.skip(u64::from(last - read) * 4, CUT_SEGMENT)?;
        }
        header.bytes = self.input.position() - header.offset;
        Ok(())
    }

    /// Reads the next stream, or maps it if it is long and in a regular file.
    fn load(&mut self) -> Result<Option<Stream>> {
        let Some((mut header, fields, start)) = self.read_header()? else { return Ok(None) };
        let mut bytes = take(&mut self.spare);
        let entries = fields.entries();
        if self.is_seekable() {
            self.skip_rest(&mut header, &fields)?;
            if header.bytes > MAX_READ
                && let Some(file) = self.input.file()
            {
                let map = MapSource::new(file)
                    .map_err(|e| Error::from_io(Kind::Read, 0, "cannot map the file", &e))?;
                return Ok(Some(Stream { header, data: Data::Mapped(map.sequential()) }));
            }
            // The file was long enough for these bytes when it was opened.
            reserve(&mut bytes, header.bytes as usize)?;
            self.input.rewind(header.offset)?;
            self.input.read_exact(&mut bytes[..header.bytes as usize], CUT_SEGMENT)?;
            return Ok(Some(Stream { header, data: Data::Read(bytes) }));
        }
        bytes.clear();
        bytes.extend_from_slice(&start);
        if entries > 0 {
            self.input.append(&mut bytes, entries.saturating_mul(4), CUT_TABLE)?;
            let words = bytes.last_chunk().map_or(0, |last| u32::from_le_bytes(*last));
            self.input.append(&mut bytes, u64::from(words) * 4, CUT_SEGMENT)?;
            if fields.has_shape || fields.has_record {
                let start = HEADER + 4 * entries as usize;
                let words =
                    bytes[HEADER..].first_chunk().map_or(0, |first| u32::from_le_bytes(*first)) as usize;
                let record = bytes.get(start..start.saturating_add(words.saturating_mul(4)));
                let at = header.offset + start as u64;
                let damaged = Error::new(Kind::Corrupt, at, "a record of an impossible length");
                header.set_record(&fields, record.ok_or(damaged)?).map_err(|e| e.shifted(at))?;
            }
        }
        header.bytes = self.input.position() - header.offset;
        Ok(Some(Stream { header, data: Data::Read(bytes) }))
    }
}

/// The part of a buffer that is aligned for samples of every type.
fn aligned(buffer: &mut [u8]) -> &mut [u32] {
    pod_align_to_mut(buffer).1
}

fn not_a_stream(offset: u64) -> Error {
    let message = match offset {
        0 => "this is not a v2 file; a v1 chunk needs its cd_values",
        _ => "what follows the last stream is not a stream",
    };
    Error::new(Kind::Corrupt, offset, message)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::vec::Vec;

    use super::super::{ArrayReader, StreamEncoder};
    use super::*;
    use crate::v2::StreamOptions;

    #[test]
    fn streams_one_after_another_are_read_to_the_last_sample() {
        let parts: [Vec<i16>; 4] = [3000, 0, 1, 5000].map(|n| (0..n).map(|i| i % 1000).collect());
        let settings = StreamOptions::new().segment(NonZeroU32::new(100));
        let file = parts.each_ref().map(|part| v2::encode(&settings, part, Options::new()).unwrap()).concat();
        let mut reader = StreamReader::new(Input::from_reader(Cursor::new(file)), Options::new());
        let mut read = Vec::new();
        while let Some(piece) = reader.next_piece::<i16>().unwrap() {
            read.extend_from_slice(piece);
        }
        assert_eq!(read, parts.concat());
        assert_eq!(reader.seen().map(|seen| (seen.streams, seen.samples)), Some((4, 8001)));
    }

    #[test]
    fn a_buffer_that_is_given_away_may_be_replaced_by_any_other() {
        let samples: Vec<i32> = (0..5 << 20).map(|i| i % 1000 * 70_000).collect();
        let bytes: Vec<u8> = samples.iter().flat_map(|x| x.to_le_bytes()).collect();
        let input = Input::from_reader(Cursor::new(bytes.clone()));
        let array = ArrayReader::raw(input, ElementType::I32, PartialShape::any_length()).unwrap();
        let mut encoder = StreamEncoder::new(array, StreamOptions::new(), Options::new());
        // Buffers that are too small, too large and not empty.
        let mut others = [0, 3, 40 << 20].into_iter().cycle();
        let mut taken = |part: Piece<'_>| match part {
            Piece::Buffer(buffer, len) => {
                let mut bytes = core::mem::replace(buffer, vec![7; others.next().unwrap()]);
                bytes.truncate(len);
                bytes
            }
            Piece::Bytes(bytes) => bytes.to_vec(),
        };
        let mut file = Vec::new();
        while let Some(part) = encoder.next_part().unwrap() {
            file.extend(taken(part));
        }
        let mut reader = StreamReader::new(Input::from_reader(Cursor::new(file)), Options::new());
        let mut decoded = Vec::new();
        while let Some(part) = reader.next_part().unwrap() {
            decoded.extend(taken(part));
        }
        assert!(decoded == bytes);
        assert!(reader.seen().is_some_and(|seen| seen.streams == 2));
    }
}

//! The header of a stream, and the table after it.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 4 | 89 4C 52 32 |
//! | 4 | 1 | version, 2 |
//! | 5 | 1 | type of the samples: 0 i16, 1 u16, 2 i32, 3 u32 |
//! | 6 | 1 | bit 0: shape record before the segments; bit 1: rows hold channels; bit 2: file record |
//! | 7 | 1 | minor version: 2 with a file record, 1 if rows hold channels, else 0 |
//! | 8 | 8 | number of samples |
//! | 16 | 4 | samples per segment, 1 to 65536; with channels, samples of each channel |
//! | 20 | 4 | samples per row, or 0; with channels, their number |
//! | 24 | 4 | checksum of bytes 0 to 23 |
//! | 28 | 4 each | ends, in 32-bit words from the end of the table: of the record, if there is one, and of each part of a segment |

use core::num::NonZeroU32;
use core::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::checksum::checksum;
use super::geometry::Geometry;
use super::{ElementType, MAX_CHANNELS, MAX_SEGMENT, Shape, StreamOptions};

const MAGIC: [u8; 4] = *b"\x89LR2";
const VERSION: u8 = 2;

/// The minor version of streams with channels. Older decoders refuse it.
const MINOR: u8 = 1;

/// Bytes before the table.
pub(crate) const HEADER: usize = 28;

/// Flag in byte 6: the first table entry is for a shape record, which precedes the segments.
const SHAPE: u8 = 1;

/// Flag in byte 6, of minor version 1: rows hold one sample of each channel.
const CHANNELS: u8 = 2;

/// The minor version of streams with a file record: bytes of the original file, such as a WAV
/// header ([`FileRecord`](super::file_record::FileRecord)).
const RECORD_MINOR: u8 = 2;

/// Value of byte 6 in minor version 2: the stream has a file record and no samples.
const RECORD: u8 = 4;

/// Bytes covered by the header's checksum.
const COVERED: usize = 24;

/// The header of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// The type of the samples.
    pub element: ElementType,
    /// Number of samples.
    pub samples: u64,
    /// Samples per row, if the stream has rows.
    pub row: Option<NonZeroU32>,
    /// The shape of the array, if the stream stores it.
    pub shape: Option<Shape>,
    /// Number of channels, each of which has one sample in a row; 1 without channels.
    pub channels: u32,
    /// Samples of all channels per segment; the last segment may have fewer.
    pub segment: u32,
    /// Number of segments.
    pub segments: u64,
    /// Size of the whole stream in bytes.
    pub bytes: u64,
}

/// A checked header, with the table and the segments of its stream.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub(super) element: ElementType,
    pub(super) geometry: Geometry,
    row: Option<NonZeroU32>,
    shape: Option<Shape>,
    table: &'a [[u8; 4]],
    /// The bytes after the table, up to the end of the stream.
    payload: &'a [u8],
}

const fn corrupt(at: usize, what: &'static str) -> Error {
    Error::new(Kind::Corrupt, at as u64, what)
}

const fn truncated(at: usize, what: &'static str) -> Error {
    Error::new(Kind::Truncated, at as u64, what)
}

fn u32_at(bytes: &[u8; HEADER], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The checked fields of a header. The table after the header is not checked yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) element: ElementType,
    pub(crate) samples: u64,
    pub(crate) row: Option<NonZeroU32>,
    pub(crate) channels: u32,
    /// Samples of all channels per segment.
    pub(crate) segment: u32,
    pub(crate) segments: u64,
    pub(crate) has_shape: bool,
    pub(crate) has_record: bool,
}

impl Fields {
    /// Parses the header at the start of `stream`. Returns its fields, and the bytes after it.
    pub(crate) fn parse(stream: &[u8]) -> Result<(Fields, &[u8])> {
        let Some((head, rest)) = stream.split_first_chunk::<HEADER>() else {
            let magic = stream.len().min(4);
            return Err(match stream[..magic] == MAGIC[..magic] {
                true => truncated(stream.len(), "the stream ends within its header"),
                false => corrupt(0, "not a version 2 stream"),
            });
        };
        if head[..4] != MAGIC {
            return Err(corrupt(0, "not a version 2 stream"));
        }
        if head[4] != VERSION {
            return Err(Error::new(Kind::Unsupported, 4, "a stream of an unknown version"));
        }
        if checksum(&head[..COVERED]) != u32_at(head, COVERED) {
            return Err(corrupt(COVERED, "the checksum of the header does not match"));
        }
        let element = ElementType::from_code(head[5]).ok_or(Error::new(
            Kind::Unsupported,
            5,
            "samples of an unknown type",
        ))?;
        let is_known = match head[7] {
            0 => head[6] & !SHAPE == 0,
            MINOR => head[6] & !(SHAPE | CHANNELS) == 0,
            RECORD_MINOR => head[6] == RECORD,
            _ => false,
        };
        if !is_known {
            return Err(Error::new(Kind::Unsupported, 6, "a stream with unknown features"));
        }
        let frames = u32_at(head, 16);
        if !(1..=MAX_SEGMENT).contains(&frames) {
            return Err(corrupt(16, "segments of no samples or of more than 65536"));
        }
        let samples = u64::from(u32_at(head, 8)) | u64::from(u32_at(head, 12)) << 32;
        let has_record = head[6] == RECORD;
        if has_record && samples > 0 {
            return Err(corrupt(8, "samples in a stream of bytes of a file"));
        }
        let channels = if head[6] & CHANNELS != 0 { u32_at(head, 20) } else { 1 };
        let segment = u64::from(frames) * u64::from(channels);
        if head[6] & CHANNELS != 0
            && (!(2..=MAX_CHANNELS).contains(&channels)
                || segment > Geometry::MAX_SEGMENT
                || !samples.is_multiple_of(channels.into()))
        {
            return Err(corrupt(20, "an impossible number of channels"));
        }
        let fields = Fields {
            element,
            samples,
            row: NonZeroU32::new(u32_at(head, 20)),
            channels,
            segment: segment as u32,
            segments: samples.div_ceil(segment),
            has_shape: head[6] & SHAPE != 0,
            has_record,
        };
        Ok((fields, rest))
    }

    /// Parses a shape record, and checks that the shape has as many samples as the stream.
    pub(crate) fn shape(&self, record: &[u8]) -> Result<Shape> {
        let shape = Shape::parse(record).filter(|shape| shape.samples() == Some(self.samples));
        shape.ok_or(corrupt(0, "the shape of the array is damaged"))
    }

    /// Number of table entries: one for each part of a segment, and one for the record if there is
    /// one.
    pub(crate) fn entries(&self) -> u64 {
        self.segments
            .saturating_mul(self.channels.into())
            .saturating_add((self.has_shape || self.has_record).into())
    }
}

impl<'a> Layout<'a> {
    /// Parses the header, and finds the table and the segments. Bytes after the stream are ignored.
    pub(super) fn of(stream: &'a [u8]) -> Result<Layout<'a>> {
        let (fields, rest) = Fields::parse(stream)?;
        let Fields { element, samples, row, channels, segment, has_shape, .. } = fields;
        if fields.entries() > rest.len() as u64 / 4 {
            return Err(truncated(stream.len(), "the stream ends within its table of segments"));
        }
        // The table bounds the samples, at 65,536 for each entry, so this fails on 32-bit machines
        // only.
        let samples = usize::try_from(samples)
            .map_err(|_| Error::new(Kind::Limit, 8, "more samples than this machine can address"))?;
        let (table, payload) = rest.split_at(4 * fields.entries() as usize);
        let table = table.as_chunks::<4>().0;
        let words = table.last().map_or(0, |end| u32::from_le_bytes(*end)) as usize;
        let payload = payload
            .get(..words.saturating_mul(4))
            .ok_or(truncated(stream.len(), "the stream ends before its last segment does"))?;
        let mut layout = Layout {
            element,
            geometry: Geometry {
                samples,
                channels: channels as usize,
                frames: (segment / channels) as usize,
            },
            row,
            shape: None,
            table,
            payload,
        };
        if has_shape {
            let shape = fields.shape(&payload[layout.entry(0)?]);
            layout.shape = Some(shape.map_err(|e| e.shifted(layout.start() as u64))?);
        }
        if fields.has_record {
            super::file_record::FileRecord::parse(layout.payload)
                .map_err(|e| e.shifted(layout.start() as u64))?;
        }
        Ok(layout)
    }

    /// Offset of the end of the table, where the payload begins.
    pub(super) fn start(&self) -> usize {
        HEADER + 4 * self.table.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.start() + self.payload.len()
    }

    pub(super) fn info(&self) -> Info {
        Info {
            element: self.element,
            samples: self.geometry.samples as u64,
            row: self.row,
            shape: self.shape,
            channels: self.geometry.channels as u32,
            segment: self.geometry.segment() as u32,
            segments: self.geometry.segments() as u64,
            bytes: self.bytes() as u64,
        }
    }

    /// Byte range of part `i` in the payload.
    pub(super) fn place(&self, i: usize) -> Result<Range<usize>> {
        self.entry(self.table.len() - self.geometry.parts() + i)
    }

    /// Byte range in the payload of the record or part that table entry `i` describes.
    fn entry(&self, i: usize) -> Result<Range<usize>> {
        // On 32-bit machines the product may saturate, which is beyond the payload as well.
        let end = |i: usize| (u32::from_le_bytes(self.table[i]) as usize).saturating_mul(4);
        let (start, end) = (if i == 0 { 0 } else { end(i - 1) }, end(i));
        if start > end || end > self.payload.len() {
            return Err(corrupt(HEADER + 4 * i, "a segment that ends before it begins, or too late"));
        }
        Ok(start..end)
    }

    pub(super) fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// Reads the header of a stream. Other bytes may follow the stream; [`Info::bytes`] is its size.
///
/// Reads only the header, the shape or file record if there is one, and the table entries for it
/// and for the last segment.
///
/// # Errors
/// Offsets are in bytes of `stream`.
/// * [`Kind::Truncated`] if it ends within the header or before the end of its last segment.
/// * [`Kind::Corrupt`] if its magic number, checksum or record is wrong, or a field is impossible.
/// * [`Kind::Unsupported`] for a version, type or feature that is not known.
/// * [`Kind::Limit`] on a 32-bit machine, for more samples than it can address.
pub fn info(stream: &[u8]) -> Result<Info> {
    Layout::of(stream).map(|layout| layout.info())
}

/// Writes a stream with a file record and no samples to `out`.
#[cfg(feature = "file")]
pub(crate) fn write_file_record(
    element: ElementType,
    row: Option<NonZeroU32>,
    record: &super::file_record::FileRecord<'_>,
    out: &mut alloc::vec::Vec<u8>,
) {
    out.clear();
    let geometry = Geometry { samples: 0, channels: 1, frames: 1 };
    let mut head = write(element, &geometry, &StreamOptions::new().row(row));
    (head[6], head[7]) = (RECORD, RECORD_MINOR);
    let sum = checksum(&head[..COVERED]);
    head[COVERED..].copy_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(&[0; 4]);
    record.write(out);
    let words = ((out.len() - HEADER - 4) / 4) as u32;
    out[HEADER..HEADER + 4].copy_from_slice(&words.to_le_bytes());
}

/// Makes the header of a stream with samples.
pub(super) fn write(element: ElementType, geometry: &Geometry, settings: &StreamOptions) -> [u8; HEADER] {
    let has_channels = geometry.channels > 1;
    let mut head = [0; HEADER];
    head[..4].copy_from_slice(&MAGIC);
    head[4] = VERSION;
    head[5] = element.code();
    head[6] =
        if settings.array_shape().is_some() { SHAPE } else { 0 } | if has_channels { CHANNELS } else { 0 };
    head[7] = if has_channels { MINOR } else { 0 };
    head[8..16].copy_from_slice(&(geometry.samples as u64).to_le_bytes());
    head[16..20].copy_from_slice(&(geometry.frames as u32).to_le_bytes());
    head[20..24].copy_from_slice(&settings.row_len().map_or(0, NonZeroU32::get).to_le_bytes());
    let sum = checksum(&head[..COVERED]);
    head[COVERED..].copy_from_slice(&sum.to_le_bytes());
    head
}

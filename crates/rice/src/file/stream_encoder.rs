//! Encodes an array as a file of version 2: streams one after another, each of whole rows, or of
//! whole segments if a row is longer than a piece.

use linerate_core::Result;

use super::{ArrayReader, NOT_REPRODUCED, PIECE, PartialShape, Piece, SampleBuffer, reserve};
use crate::Options;
use crate::v2::{self, Element, ElementType, Info, StreamOptions};

/// Encodes an array as streams of version 2.
pub struct StreamEncoder {
    array: ArrayReader,
    settings: StreamOptions,
    options: Options,
    verify: bool,
    /// The shape of the array, if rows do not describe it. Streams of whole indices of the first
    /// axis then store their part of it.
    shape: Option<PartialShape>,
    streams: u64,
    first: Option<Info>,
    stream: Vec<u8>,
    decoded: SampleBuffer,
}

impl StreamEncoder {
    /// Encodes `array` with `settings`, whose row the streams store. For an array that rows do not
    /// describe, such as one with three axes, at least the first stream stores a shape too.
    pub fn new(mut array: ArrayReader, settings: StreamOptions, options: Options) -> StreamEncoder {
        array.set_threads(options);
        StreamEncoder {
            shape: array.undescribed_by_rows(),
            array,
            settings,
            options,
            verify: false,
            streams: 0,
            first: None,
            stream: Vec::new(),
            decoded: SampleBuffer::default(),
        }
    }

    /// Sets whether each stream is decoded again and compared with its samples.
    #[must_use]
    pub fn verify(self, verify: bool) -> StreamEncoder {
        StreamEncoder { verify, ..self }
    }

    /// The array, as far as it has been read.
    pub fn array(&self) -> &ArrayReader {
        &self.array
    }

    /// Number of streams encoded so far.
    pub fn streams(&self) -> u64 {
        self.streams
    }

    /// The header of the first stream with samples or, until there is one, of the first stream.
    /// `None` before a stream is encoded.
    pub fn first(&self) -> Option<&Info> {
        self.first.as_ref()
    }

    /// Encodes the next stream; `None` at the end of the array. An array without samples is one
    /// stream, which stores the type and the row.
    ///
    /// # Errors
    /// * Errors of [`ArrayReader::next_piece`] and [`v2::encode_into`].
    /// * [`Kind::Corrupt`](linerate_core::Kind::Corrupt) if verification finds other samples.
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_part()?.map(Piece::bytes))
    }

    /// Encodes as [`next_bytes`](Self::next_bytes) does, and gives away the buffer with the stream.
    ///
    /// # Errors
    /// Errors of [`next_bytes`](Self::next_bytes).
    pub fn next_part(&mut self) -> Result<Option<Piece<'_>>> {
        match self.array.element() {
            ElementType::I16 => self.next_stream::<i16>(),
            ElementType::U16 => self.next_stream::<u16>(),
            ElementType::I32 => self.next_stream::<i32>(),
            ElementType::U32 => self.next_stream::<u32>(),
        }
    }

    fn next_stream<T: Element>(&mut self) -> Result<Option<Piece<'_>>> {
        let max = PIECE / size_of::<T>() as u64;
        let samples = match self.shape.and_then(|shape| shape.slab()) {
            Some(slab) if slab <= max => max / slab * slab,
            // One index of the first axis has more samples than a stream. The first stream then has
            // no samples, and stores the other axes.
            Some(_) if self.streams == 0 => 0,
            _ => stream_samples(&self.settings, max),
        };
        let piece = self.array.next_piece::<T>(samples)?;
        if piece.is_empty() && self.streams > 0 {
            return Ok(None);
        }
        let shape = self.shape.and_then(|shape| shape.of_slabs(piece.len() as u64));
        let settings = if shape.is_some() { self.settings.shape(shape) } else { self.settings };
        let len = encoded(&settings, piece, self.options, self.verify, &mut self.stream, &mut self.decoded)?;
        if self.first.is_none_or(|first| first.samples == 0) {
            self.first = Some(v2::info(&self.stream[..len])?);
        }
        self.streams += 1;
        Ok(Some(Piece::Buffer(&mut self.stream, len)))
    }
}

/// Encodes one stream into `stream`, and decodes and compares it if `verify`. Returns its size in
/// bytes.
pub(super) fn encoded<T: Element>(
    settings: &StreamOptions,
    samples: &[T],
    options: Options,
    verify: bool,
    stream: &mut Vec<u8>,
    decoded: &mut SampleBuffer,
) -> Result<usize> {
    let options = options.for_samples(samples.len());
    reserve(stream, v2::bound::<T>(settings, samples.len()))?;
    let len = v2::encode_into(settings, samples, stream, options)?;
    if verify {
        decoded.reserve(size_of_val(samples))?;
        let decoded = &mut decoded.samples_mut::<T>()[..samples.len()];
        if v2::decode_into(&stream[..len], decoded, options) != Ok(samples.len()) || *decoded != *samples {
            return Err(NOT_REPRODUCED);
        }
    }
    Ok(len)
}

/// Number of samples per stream, about `max`: whole rows, or whole segments if there are no rows or
/// a row is longer than `max`.
pub(super) fn stream_samples(settings: &StreamOptions, max: u64) -> u64 {
    let row = settings.row_len().map(|row| u64::from(row.get())).filter(|&row| row <= max);
    let unit = row.unwrap_or(settings.segment_len().into());
    (max / unit).max(1) * unit
}

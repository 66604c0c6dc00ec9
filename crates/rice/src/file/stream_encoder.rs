//! An array as a file of version 2: streams one after another, each a piece of whole rows.

use linerate_core::Result;

use super::{ArrayReader, NOT_REPRODUCED, PIECE, SampleBuffer, reserve};
use crate::Options;
use crate::v2::{self, Element, ElementType, Info, StreamOptions};

/// Encodes an array as streams of version 2.
pub struct StreamEncoder {
    array: ArrayReader,
    settings: StreamOptions,
    options: Options,
    verify: bool,
    streams: u64,
    first: Option<Info>,
    stream: Vec<u8>,
    decoded: SampleBuffer,
}

impl StreamEncoder {
    /// Encodes `array` with these settings; of its shape, they keep the row.
    pub fn new(array: ArrayReader, settings: StreamOptions, options: Options) -> StreamEncoder {
        StreamEncoder {
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

    /// Whether each stream is decoded again and compared.
    #[must_use]
    pub fn verify(self, verify: bool) -> StreamEncoder {
        StreamEncoder { verify, ..self }
    }

    /// The array, as far as it has been read.
    pub fn array(&self) -> &ArrayReader {
        &self.array
    }

    /// Streams encoded so far.
    pub fn streams(&self) -> u64 {
        self.streams
    }

    /// The header of the first stream, once it is encoded.
    pub fn first(&self) -> Option<&Info> {
        self.first.as_ref()
    }

    /// The next stream; `None` at the end of the array. An array without samples is a stream too: it has a
    /// type and may have rows.
    ///
    /// # Errors
    /// * Those of [`ArrayReader::next_piece`] and [`v2::encode_into`].
    /// * [`Kind::Corrupt`](linerate_core::Kind::Corrupt) if verification finds other samples.
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        match self.array.element() {
            ElementType::I16 => self.next_stream::<i16>(),
            ElementType::U16 => self.next_stream::<u16>(),
            ElementType::I32 => self.next_stream::<i32>(),
            ElementType::U32 => self.next_stream::<u32>(),
        }
    }

    fn next_stream<T: Element>(&mut self) -> Result<Option<&[u8]>> {
        let piece = self.array.next_piece::<T>(stream_samples(&self.settings, size_of::<T>() as u64))?;
        if piece.is_empty() && self.streams > 0 {
            return Ok(None);
        }
        reserve(&mut self.stream, v2::bound::<T>(&self.settings, piece.len()))?;
        let len = v2::encode_into(&self.settings, piece, &mut self.stream, self.options)?;
        let stream = &self.stream[..len];
        if self.verify {
            self.decoded.reserve(size_of_val(piece))?;
            let decoded = &mut self.decoded.samples_mut::<T>()[..piece.len()];
            if v2::decode_into(stream, decoded, self.options) != Ok(piece.len()) || *decoded != *piece {
                return Err(NOT_REPRODUCED);
            }
        }
        if self.first.is_none() {
            self.first = Some(v2::info(stream)?);
        }
        self.streams += 1;
        Ok(Some(stream))
    }
}

/// Samples per stream: whole rows, or whole segments where a row is longer than a piece.
fn stream_samples(settings: &StreamOptions, sample_bytes: u64) -> u64 {
    let max = PIECE / sample_bytes;
    let row = settings.row_len().map(|row| u64::from(row.get())).filter(|&row| row <= max);
    let unit = row.unwrap_or(settings.segment_len().into());
    (max / unit).max(1) * unit
}

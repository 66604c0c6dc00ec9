//! Encodes a WAV file as a file of version 2: its samples, and all other bytes in file records.

use linerate_core::{Error, Kind, Result};

use super::stream_encoder::{encoded, stream_samples};
use super::wav::{WavHeader, widen};
use super::{Input, PIECE, Piece, SampleBuffer};
use crate::Options;
use crate::v2::file_record::{FileRecord, MAX_RECORD};
use crate::v2::header::write_file_record;
use crate::v2::{Element, ElementType, Shape, StreamOptions};

/// Encodes a WAV file as streams of version 2, from which [`StreamReader`](super::StreamReader)
/// restores it byte for byte.
///
/// Samples must be integers, stored in 1 to 4 bytes. Samples of one byte are encoded as `u16`, of
/// two bytes as `i16`, of three and four bytes as `i32`. A row holds one sample of each channel.
pub struct WavEncoder {
    input: Input,
    header: WavHeader,
    settings: StreamOptions,
    options: Options,
    verify: bool,
    next: Next,
    /// Number of bytes of `header.head` encoded so far.
    head_encoded: usize,
    /// Number of bytes of samples read so far.
    read: u64,
    /// An incomplete frame at the end of the file, which is encoded with the tail.
    rest: Vec<u8>,
    /// Bytes of the file that are being encoded.
    stored: Vec<u8>,
    samples: SampleBuffer,
    /// The last stream with samples.
    stream: Vec<u8>,
    /// The last stream with a file record.
    record: Vec<u8>,
    decoded: SampleBuffer,
}

/// The part of the file that is encoded next.
enum Next {
    Head,
    Samples,
    Tail,
}

impl WavEncoder {
    /// Reads the header of a WAV file. The file's channels replace the row settings of `settings`.
    ///
    /// # Errors
    /// * [`Kind::Unsupported`] for samples that are not integers of at most 32 bits.
    /// * [`Kind::Corrupt`] if it is not a WAV file or its header contradicts itself,
    ///   [`Kind::Truncated`] if the file ends before its samples, [`Kind::Limit`] for more than
    ///   16 MiB before them.
    /// * [`Kind::BadArgument`] if `settings` have a number of channels that is neither 1 nor that
    ///   of the file.
    /// * [`Kind::Read`] if reading fails.
    pub fn new(mut input: Input, settings: StreamOptions, options: Options) -> Result<WavEncoder> {
        input.set_threads(options);
        let header = WavHeader::read(&mut input)?;
        let channels = header.format.channels;
        if settings.channel_count().is_some_and(|n| n.get() > 1 && n != channels) {
            return Err(Error::new(Kind::BadArgument, 0, "the WAV file has another number of channels"));
        }
        let settings = settings.row((channels.get() > 1).then_some(channels));
        Ok(WavEncoder {
            input,
            header,
            settings,
            options,
            verify: false,
            next: Next::Head,
            head_encoded: 0,
            read: 0,
            rest: Vec::new(),
            stored: Vec::new(),
            samples: SampleBuffer::default(),
            stream: Vec::new(),
            record: Vec::new(),
            decoded: SampleBuffer::default(),
        })
    }

    /// Sets whether each stream is decoded again and compared with its samples.
    #[must_use]
    pub fn verify(self, verify: bool) -> WavEncoder {
        WavEncoder { verify, ..self }
    }

    /// The type that the samples are encoded as.
    pub fn element(&self) -> ElementType {
        self.header.format.element()
    }

    /// Number of samples encoded so far.
    pub fn samples(&self) -> u64 {
        self.read / u64::from(self.header.format.sample_bytes)
    }

    /// The shape of the samples encoded so far.
    pub fn shape(&self) -> Shape {
        Shape::from_rows(self.samples(), self.settings.row_len().map(|row| row.get().into()))
    }

    /// Offset of the next byte of the file.
    pub fn position(&self) -> u64 {
        self.input.position()
    }

    /// Encodes the next stream; `None` at the end of the file.
    ///
    /// # Errors
    /// * [`Kind::Read`] if reading fails, [`Kind::Limit`] if there is not enough memory.
    /// * [`Kind::Corrupt`] if verification finds other samples.
    /// * Errors of [`v2::encode_into`](crate::v2::encode_into) for the settings.
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_part()?.map(Piece::bytes))
    }

    /// Encodes as [`next_bytes`](Self::next_bytes) does, and gives away the buffer of a stream with
    /// samples.
    ///
    /// # Errors
    /// Errors of [`next_bytes`](Self::next_bytes).
    pub fn next_part(&mut self) -> Result<Option<Piece<'_>>> {
        loop {
            match self.next {
                Next::Head if self.head_encoded < self.header.head.len() => {
                    let end = self.header.head.len().min(self.head_encoded + MAX_RECORD);
                    self.stored.clear();
                    self.stored.extend_from_slice(&self.header.head[self.head_encoded..end]);
                    self.head_encoded = end;
                    return Ok(Some(self.record()));
                }
                Next::Head => self.next = Next::Samples,
                Next::Samples => {
                    let n = match self.element() {
                        ElementType::U16 => self.next_samples::<u16>()?,
                        ElementType::I16 => self.next_samples::<i16>()?,
                        ElementType::I32 | ElementType::U32 => self.next_samples::<i32>()?,
                    };
                    if n > 0 {
                        return Ok(Some(Piece::Buffer(&mut self.stream, n)));
                    }
                    self.next = Next::Tail;
                }
                Next::Tail => {
                    self.stored.clear();
                    self.stored.append(&mut self.rest);
                    let had = self.stored.len();
                    // Room for one byte more than a file has left, to read to its end. A file that
                    // has grown may have any number of bytes left.
                    let in_file =
                        self.input.file_len().and_then(|len| len.checked_sub(self.input.position()));
                    let left = in_file.map_or(MAX_RECORD as u64, |left| left + 1);
                    let room = left.saturating_add(had as u64).min(MAX_RECORD as u64) as usize;
                    self.stored.resize(room.max(had), 0);
                    let n = self.input.fill(&mut self.stored[had..])?;
                    self.stored.truncate(had + n);
                    return Ok(if self.stored.is_empty() { None } else { Some(self.record()) });
                }
            }
        }
    }

    /// Makes a stream with a file record of the bytes in `stored`.
    fn record(&mut self) -> Piece<'_> {
        let record = FileRecord { sample_bytes: self.header.format.sample_bytes, bytes: &self.stored };
        write_file_record(self.element(), self.settings.row_len(), &record, &mut self.record);
        Piece::Bytes(&self.record)
    }

    /// Encodes the next whole frames. Returns the size of the stream in bytes, or 0 after the last
    /// frame.
    fn next_samples<T: Element>(&mut self) -> Result<usize> {
        if !self.rest.is_empty() {
            return Ok(0); // the file ended inside a frame
        }
        let format = self.header.format;
        let frames =
            stream_samples(&self.settings, PIECE / size_of::<T>() as u64) / u64::from(format.channels.get());
        let left = self.header.data.map_or(u64::MAX, |data| data - self.read) / format.frame();
        let wanted = frames.max(1).min(left) * format.frame();
        self.stored.clear();
        // Memory grows as samples arrive, so that a wrong size costs nothing.
        let in_file = self.input.file_len().map(|len| len.saturating_sub(self.input.position()));
        let max_step = in_file.unwrap_or(0).max(1 << 20);
        while (self.stored.len() as u64) < wanted {
            let had = self.stored.len();
            let step = (wanted - had as u64).min(max_step) as usize;
            self.stored.try_reserve(step).map_err(|_| super::NO_MEMORY)?;
            self.stored.resize(had + step, 0);
            let n = self.input.fill(&mut self.stored[had..])?;
            self.stored.truncate(had + n);
            if n < step {
                break;
            }
        }
        let whole = self.stored.len() / format.frame() as usize * format.frame() as usize;
        self.rest = self.stored.split_off(whole);
        if whole == 0 {
            return Ok(0);
        }
        self.read += whole as u64;
        let count = whole / usize::from(format.sample_bytes);
        self.samples.reserve(count * size_of::<T>())?;
        widen(&self.stored, format.sample_bytes, &mut self.samples.samples_mut()[..count * size_of::<T>()]);
        super::swap_little_endian(&mut self.samples.samples_mut()[..count * size_of::<T>()], size_of::<T>());
        let samples = &self.samples.samples::<T>()[..count];
        encoded(&self.settings, samples, self.options, self.verify, &mut self.stream, &mut self.decoded)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::super::StreamReader;
    use super::*;

    #[test]
    fn tail_of_a_file_that_grows_meanwhile_takes_few_streams() {
        let mut wav = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\x02\0\x10\0data".to_vec();
        wav.extend(4_u32.to_le_bytes());
        wav.extend([1, 0, 2, 0]);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&wav).unwrap();
        file.rewind().unwrap();
        let input = Input::from_file(file.try_clone().unwrap()).unwrap();
        let mut encoder = WavEncoder::new(input, StreamOptions::new(), Options::new()).unwrap();
        let end = [7; 1000];
        let position = file.stream_position().unwrap();
        file.seek(std::io::SeekFrom::End(0)).unwrap();
        file.write_all(&end).unwrap();
        file.seek(std::io::SeekFrom::Start(position)).unwrap();
        let (mut rice, mut streams) = (Vec::new(), 0);
        while let Some(bytes) = encoder.next_bytes().unwrap() {
            rice.extend_from_slice(bytes);
            streams += 1;
        }
        // The header, the samples, one byte that shows that the file has grown, and the rest.
        assert_eq!(streams, 4);
        let mut reader = StreamReader::new(Input::from_reader(std::io::Cursor::new(rice)), Options::new());
        let mut decoded = Vec::new();
        while let Some(bytes) = reader.next_file_bytes().unwrap() {
            decoded.extend_from_slice(bytes);
        }
        wav.extend(end);
        assert!(decoded == wav);
    }
}

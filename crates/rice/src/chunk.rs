//! The layout of a chunk. It consists of little-endian 32-bit words: the number of samples, then
//! for each segment the number of words of its payload, and the payload.

use core::ops::Range;

use linerate_core::{Error, Kind, Result};

use crate::Params;

/// A segment of a chunk: independently coded samples, usually one waveform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Indices of its samples in the chunk.
    pub samples: Range<usize>,
    /// Byte range of its payload in the chunk.
    pub bytes: Range<usize>,
    /// The payload, which consists of whole 32-bit words.
    pub payload: &'a [u8],
}

/// Iterates over the segments of a chunk. Reads their lengths, but no payload.
///
/// Ends after the first error. If there is none, the segments cover all samples and the last one
/// ends with the chunk.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    chunk: &'a [u8],
    samples: usize,
    segment: usize,
    /// Length of the shortest code in bits: a 1 bit and k bits.
    shortest_code: usize,
    /// Number of samples before the next segment.
    sample: usize,
    /// Offset of the next segment in the chunk, in bytes.
    byte: usize,
    has_ended: bool,
}

fn word(chunk: &[u8], at: usize) -> Option<usize> {
    let bytes = chunk.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
}

/// Reads the number of samples of a chunk. Checks nothing else, unlike [`Segments::of`].
///
/// # Errors
/// [`Kind::Truncated`] if there are fewer than 4 bytes.
pub fn decoded_len(chunk: &[u8]) -> Result<usize> {
    word(chunk, 0).ok_or(Error::new(
        Kind::Truncated,
        chunk.len() as u64,
        "a chunk ends within its first word",
    ))
}

/// Counts the segments of a chunk. Needs no parameters, so it tells which of several possible
/// segment lengths was used.
///
/// # Errors
/// [`Kind::Truncated`] if the chunk ends within a length; [`Kind::Corrupt`] if a segment is longer
/// than the rest of the chunk.
pub fn segment_count(chunk: &[u8]) -> Result<usize> {
    decoded_len(chunk)?;
    let (mut count, mut at) = (0, 4);
    while at < chunk.len() {
        at = payload(chunk, at)?.end;
        count += 1;
    }
    Ok(count)
}

/// Byte range of the payload that follows the length field at offset `length`.
fn payload(chunk: &[u8], length: usize) -> Result<Range<usize>> {
    let words = word(chunk, length).ok_or(Error::new(
        Kind::Truncated,
        chunk.len() as u64,
        "a chunk ends before its last segment",
    ))?;
    let start = length + 4;
    let end = words.checked_mul(4).and_then(|n| n.checked_add(start)).filter(|&end| end <= chunk.len());
    let too_long = Error::new(Kind::Corrupt, length as u64, "a segment is longer than what is left");
    Ok(start..end.ok_or(too_long)?)
}

/// Whether a chunk of `bytes` bytes is larger than its `samples` samples by more than 2 % and by
/// more than 64 bytes. This happens if m is far too small or segments have only a few samples. The
/// chunk is valid all the same.
pub fn expands(samples: usize, bytes: u64) -> bool {
    let raw = 2 * samples as u64;
    bytes > raw + (raw / 50).max(64)
}

impl<'a> Segments<'a> {
    /// Returns the segments of `chunk`.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if there are fewer than 4 bytes; [`Kind::Corrupt`] if the chunk is too
    /// short for its number of samples, whatever they are. So on success there are at most 8
    /// samples for each byte of the chunk.
    pub fn of(params: &Params, chunk: &'a [u8]) -> Result<Segments<'a>> {
        let samples = decoded_len(chunk)?;
        let shortest_code = params.k() as usize + 1;
        if samples > (chunk.len() - 4).saturating_mul(8) / shortest_code {
            return Err(Error::new(Kind::Corrupt, 0, "a chunk is too short for its number of samples"));
        }
        let segment = params.segment_of(samples);
        Ok(Segments { chunk, samples, segment, shortest_code, sample: 0, byte: 4, has_ended: false })
    }

    /// Number of samples in the chunk.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Number of segments in the chunk.
    pub fn segment_count(&self) -> usize {
        self.samples.div_ceil(self.segment)
    }

    /// Number of samples in each segment except the last, which may have fewer.
    pub fn segment_len(&self) -> usize {
        self.segment
    }

    fn advance(&mut self) -> Result<Segment<'a>> {
        let length = self.byte;
        let Range { start, end } = payload(self.chunk, length)?;
        let samples = self.sample..(self.sample + self.segment).min(self.samples);
        if samples.len() > (end - start) * 8 / self.shortest_code {
            return Err(Error::new(Kind::Corrupt, length as u64, "a segment is too short for its samples"));
        }
        (self.sample, self.byte) = (samples.end, end);
        Ok(Segment { samples, bytes: start..end, payload: &self.chunk[start..end] })
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Result<Segment<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        if self.sample == self.samples {
            self.has_ended = true;
            let rest = self.byte != self.chunk.len();
            let what = "a chunk goes on after its last segment";
            return rest.then(|| Err(Error::new(Kind::Corrupt, self.byte as u64, what)));
        }
        let next = self.advance();
        self.has_ended = next.is_err();
        Some(next)
    }
}

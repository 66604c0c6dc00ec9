//! Decodes one chunk of HDF5 filter 32025, in pieces of whole segments.

use bytemuck::cast_slice;
use linerate_core::{Error, Kind, Result};

use super::{Input, PIECE_SAMPLES, reserve, swap_little_endian};
use crate::{Options, Params, decode_into};

const CUT_COUNT: &str = "a chunk ends within its first word";
const CUT_LENGTH: &str = "a chunk ends before its last segment";
const CUT_PAYLOAD: &str = "a segment is longer than what is left";

/// Length of an escape, the longest code, in bits.
const LONGEST_CODE: u64 = 25;

/// Decodes one chunk, which is the whole input. A chunk does not store its parameters, so the
/// caller must know them.
pub struct ChunkReader {
    input: Input,
    params: Params,
    options: Options,
    /// Length of the shortest code, in bits.
    shortest_code: u64,
    /// Number of samples per segment.
    segment: u64,
    samples: u64,
    /// Number of samples of the segments read or skipped so far.
    passed: u64,
    /// The segments of a piece, as a chunk of its own.
    piece: Vec<u8>,
    decoded: Vec<i16>,
}

/// The size of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkSegment {
    /// Number of samples.
    pub samples: u64,
    /// Number of 32-bit words of its payload.
    pub words: u32,
}

impl ChunkReader {
    /// Reads the number of samples, and checks that a chunk in a regular file is long enough for
    /// that many.
    ///
    /// # Errors
    /// [`Kind::Truncated`] for fewer than 4 bytes, [`Kind::Corrupt`] for more samples than a
    /// regular file can hold, [`Kind::Read`] if reading fails.
    pub fn new(mut input: Input, params: &Params, options: Options) -> Result<ChunkReader> {
        let samples = u64::from(input.word(CUT_COUNT)?);
        let shortest_code = u64::from(params.m().trailing_zeros()) + 1;
        if input
            .file_len()
            .is_some_and(|len| samples > len.saturating_sub(4).saturating_mul(8) / shortest_code)
        {
            return Err(Error::new(Kind::Corrupt, 0, "a chunk is too short for its number of samples"));
        }
        Ok(ChunkReader {
            input,
            params: *params,
            options,
            shortest_code,
            segment: params.segment().map_or(samples, |n| u64::from(n.get()).min(samples)).max(1),
            samples,
            passed: 0,
            piece: Vec::new(),
            decoded: Vec::new(),
        })
    }

    /// Number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Number of segments.
    pub fn segments(&self) -> u64 {
        self.samples.div_ceil(self.segment)
    }

    /// Offset of the next byte of the input.
    pub fn position(&self) -> u64 {
        self.input.position()
    }

    /// Skips a segment and returns its size. `None` after the last one.
    ///
    /// # Errors
    /// Errors of [`next_piece`](Self::next_piece), except errors in the payload, which is not read.
    pub fn skip_segment(&mut self) -> Result<Option<ChunkSegment>> {
        let Some(segment) = self.next_length()? else { return Ok(None) };
        self.input.skip(u64::from(segment.words) * 4, CUT_PAYLOAD)?;
        Ok(Some(segment))
    }

    /// Decodes the next whole segments, as many as it takes to have 16 MiB of samples. `None` after
    /// the last one.
    ///
    /// # Errors
    /// * [`Kind::Truncated`] if the input ends before the last segment does.
    /// * [`Kind::Corrupt`] for lengths that do not fit, invalid codes, or bytes after the chunk.
    /// * [`Kind::Read`] if reading fails, [`Kind::Limit`] if there is not enough memory.
    pub fn next_piece(&mut self) -> Result<Option<&[i16]>> {
        Ok(self.decode_piece()?.map(|n| &self.decoded[..n]))
    }

    /// Decodes as [`next_piece`](Self::next_piece) does, and returns little-endian bytes.
    ///
    /// # Errors
    /// Errors of [`next_piece`](Self::next_piece).
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        let Some(n) = self.decode_piece()? else { return Ok(None) };
        swap_little_endian(bytemuck::cast_slice_mut(&mut self.decoded[..n]), 2);
        Ok(Some(cast_slice(&self.decoded[..n])))
    }

    /// Decodes a piece, and returns its number of samples.
    fn decode_piece(&mut self) -> Result<Option<usize>> {
        let start = self.input.position();
        self.piece.clear();
        self.piece.extend([0; 4]);
        let mut samples = 0;
        while samples < PIECE_SAMPLES {
            let Some(segment) = self.next_length()? else { break };
            self.piece.extend(segment.words.to_le_bytes());
            self.input.append(&mut self.piece, u64::from(segment.words) * 4, CUT_PAYLOAD)?;
            samples += segment.samples;
        }
        if samples == 0 {
            return Ok(None);
        }
        // The number fits 32 bits, since the number of samples of the whole chunk does.
        self.piece[..4].copy_from_slice(&(samples as u32).to_le_bytes());
        // Each sample takes at least one bit of what was read, which bounds the allocation.
        reserve(&mut self.decoded, samples as usize)?;
        let options = self.options.for_samples(samples as usize);
        let n = decode_into(&self.params, &self.piece, &mut self.decoded, options)
            .map_err(|e| e.shifted(start.saturating_sub(4)))?;
        Ok(Some(n))
    }

    /// Reads the length of the next segment, and checks it against the segment's samples and the
    /// rest of a regular file. `None` after the last segment.
    fn next_length(&mut self) -> Result<Option<ChunkSegment>> {
        let at = self.input.position();
        let corrupt = |message| Err(Error::new(Kind::Corrupt, at, message));
        if self.passed == self.samples {
            return match self.input.has_ended()? {
                true => Ok(None),
                false => corrupt("a chunk goes on after its last segment"),
            };
        }
        let samples = self.segment.min(self.samples - self.passed);
        let words = self.input.word(CUT_LENGTH)?;
        if self.input.file_len().is_some_and(|len| u64::from(words) * 4 > len.saturating_sub(at + 4)) {
            return corrupt(CUT_PAYLOAD);
        }
        if samples * self.shortest_code > u64::from(words) * 32 {
            return corrupt("a segment is too short for its samples");
        }
        if u64::from(words) > (samples * LONGEST_CODE).div_ceil(32) {
            return corrupt("a segment is too long for its samples");
        }
        self.passed += samples;
        Ok(Some(ChunkSegment { samples, words }))
    }
}

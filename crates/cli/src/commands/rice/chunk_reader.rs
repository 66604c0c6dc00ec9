//! One chunk of filter 32025 to an array, in pieces of whole segments.

use linerate_core::Kind;
use linerate_rice::{Options, Params, decode_into};

use super::piece::{PIECE_SAMPLES, engine_error, reserve};
use super::reader::Reader;
use crate::ui::error::CliError;

/// A chunk being read segment by segment.
pub(crate) struct Walk<'a> {
    reader: &'a mut Reader,
    /// Least bits of a sample.
    least: u64,
    segment: u64,
    samples: u64,
    /// Samples passed.
    passed: u64,
}

const CUT_COUNT: &str = "a chunk ends within its first word";
const CUT_LENGTH: &str = "a chunk ends before its last segment";
const CUT_PAYLOAD: &str = "a segment is longer than what is left";

/// A segment whose payload is next.
pub(crate) struct Found {
    pub(crate) samples: u64,
    /// Words of its payload.
    pub(crate) words: u32,
}

impl<'a> Walk<'a> {
    /// Reads the number of samples. A chunk of a regular file must be long enough for it.
    pub(crate) fn new(reader: &'a mut Reader, params: &Params) -> Result<Walk<'a>, CliError> {
        let samples = u64::from(reader.word(CUT_COUNT)?);
        let least = u64::from(params.m().trailing_zeros()) + 1;
        if reader.len().is_some_and(|len| samples > len.saturating_sub(4).saturating_mul(8) / least) {
            let what = "a chunk is too short for its number of samples";
            return Err(CliError::data(Kind::Corrupt, 0, what));
        }
        let segment = params.segment().map_or(samples, |n| u64::from(n.get()).min(samples)).max(1);
        Ok(Walk { reader, least, segment, samples, passed: 0 })
    }

    /// Samples in the chunk.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// Segments in the chunk.
    pub(crate) fn segments(&self) -> u64 {
        self.samples.div_ceil(self.segment)
    }

    /// Offset of the next byte.
    pub(crate) fn at(&self) -> u64 {
        self.reader.at()
    }

    /// Reads the length of the next segment, which must fit its samples and what is left.
    pub(crate) fn next(&mut self) -> Result<Option<Found>, CliError> {
        let at = self.reader.at();
        let corrupt = |what| Err(CliError::data(Kind::Corrupt, at, what));
        if self.passed == self.samples {
            return match self.reader.has_ended()? {
                true => Ok(None),
                false => corrupt("a chunk goes on after its last segment"),
            };
        }
        let samples = self.segment.min(self.samples - self.passed);
        let words = self.reader.word(CUT_LENGTH)?;
        if self.reader.len().is_some_and(|len| u64::from(words) * 4 > len.saturating_sub(at + 4)) {
            return corrupt(CUT_PAYLOAD);
        }
        if samples * self.least > u64::from(words) * 32 {
            return corrupt("a segment is too short for its samples");
        }
        if u64::from(words) > (samples * LONGEST_CODE).div_ceil(32) {
            return corrupt("a segment is too long for its samples");
        }
        self.passed += samples;
        Ok(Some(Found { samples, words }))
    }

    /// Appends the payload of the segment found last.
    fn payload(&mut self, found: &Found, into: &mut Vec<u8>) -> Result<(), CliError> {
        self.reader.append(into, u64::from(found.words) * 4, CUT_PAYLOAD)
    }

    /// Passes over the payload of the segment found last.
    pub(crate) fn skip(&mut self, found: &Found) -> Result<(), CliError> {
        self.reader.skip(u64::from(found.words) * 4, CUT_PAYLOAD)
    }
}

/// Bits of an escape, the longest code.
const LONGEST_CODE: u64 = 25;

/// Takes decoded samples, with the number of input bytes used so far.
pub(crate) type Take<'a> = &'a mut dyn FnMut(&mut [i16], u64) -> Result<(), CliError>;

/// Decodes the rest of a chunk, in pieces of whole segments.
pub(crate) fn decode_all(
    mut walk: Walk<'_>,
    params: &Params,
    exec: Options,
    take: Take<'_>,
) -> Result<(), CliError> {
    let (mut piece, mut decoded) = (Vec::new(), Vec::new());
    let mut over = false;
    while !over {
        let start = walk.at();
        piece.clear();
        piece.extend([0; 4]);
        let mut samples = 0;
        while samples < PIECE_SAMPLES {
            let Some(found) = walk.next()? else {
                over = true;
                break;
            };
            piece.extend(found.words.to_le_bytes());
            walk.payload(&found, &mut piece)?;
            samples += found.samples;
        }
        // At most the number of samples of the chunk, which has 32 bits.
        piece[..4].copy_from_slice(&(samples as u32).to_le_bytes());
        // No more than the bits that were read can hold.
        reserve(&mut decoded, samples as usize)?;
        let n =
            decode_into(params, &piece, &mut decoded, exec).map_err(engine_error(start.saturating_sub(4)))?;
        take(&mut decoded[..n], walk.at())?;
    }
    Ok(())
}

//! A chunk of filter 32025 that is written and read in pieces of whole segments.

use std::num::NonZeroU32;

use linerate_core::{Error, Kind};
use linerate_rice::tune::Histogram;
use linerate_rice::{Exec, Filter, Params, decode_into, encode_into, encoded_len};

use super::args::{Auto, Segment};
use super::array::Dtype;
use super::input::{Input, PIECE, no_memory};
use super::reader::Reader;
use crate::failure::Failure;

/// Samples of a piece, unless a segment is longer.
const PIECE_SAMPLES: u64 = PIECE / 2;

/// Samples per piece: whole segments, at least one.
fn piece_of(segment: u64) -> u64 {
    (PIECE_SAMPLES / segment).max(1) * segment
}

/// What an array is to become.
pub(crate) struct Wanted {
    pub(crate) m: Auto<u32>,
    pub(crate) segment: Segment,
    pub(crate) filter: Filter,
}

/// How the engine's errors become ours: `at` is the offset of the engine's byte 0.
pub(crate) fn failure(at: u64) -> impl Fn(Error) -> Failure {
    move |e| Failure::data(e.kind, at.saturating_add(e.at), e.what)
}

/// Refuses arrays that a chunk cannot hold.
pub(crate) fn check(input: &Input) -> Result<u32, Failure> {
    let unsupported = |what: &'static str| Failure::data(Kind::Unsupported, 0, what);
    if !matches!(input.dtype(), Dtype::I16 | Dtype::U16) {
        return Err(unsupported("a v1 chunk holds 16-bit samples, and these have 32"));
    }
    match input.samples().map(u32::try_from) {
        Some(Ok(samples)) => Ok(samples),
        Some(Err(_)) => Err(unsupported("a v1 chunk holds at most 4294967295 samples")),
        None => {
            Err(Failure::Refused("a v1 chunk of raw samples from a pipe needs a complete --shape".into()))
        }
    }
}

/// The segment as `cd_values` have it; `None` is the whole chunk.
pub(crate) fn segment(input: &Input, wanted: Segment) -> Result<Option<NonZeroU32>, Failure> {
    match (wanted, input.row()) {
        (Segment::Given(n), _) => Ok(Some(n)),
        (Segment::All, _) | (Segment::Row, None) => Ok(None),
        (Segment::Row, Some(row)) => match i32::try_from(row).ok().and_then(|n| NonZeroU32::new(n as u32)) {
            Some(row) => Ok(Some(row)),
            None => {
                let what = "a row is longer than cd_values can say: give --segment";
                Err(Failure::data(Kind::Unsupported, 0, what))
            }
        },
    }
}

/// Bits for every m, added up over pieces.
#[derive(Default)]
struct Bits([u64; 16]);

impl Bits {
    fn add(&mut self, samples: &[i16], segment: Option<NonZeroU32>, filter: &Filter) {
        let histogram = Histogram::of(samples, segment, filter);
        (1..16).for_each(|k| self.0[k as usize] += histogram.bits(k));
    }

    fn best_m(&self) -> u32 {
        (1..16).min_by_key(|&k| self.0[k]).map_or(8, |k| 1 << k)
    }
}

/// Takes bytes of the chunk, with the number of input bytes used so far.
pub(crate) type Put<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<(), Failure>;

/// Encodes an array as one chunk. With `verify`, what was written is decoded and compared.
pub(crate) fn encode(
    input: &mut Input,
    wanted: &Wanted,
    exec: Exec,
    verify: bool,
    put: Put<'_>,
) -> Result<Params, Failure> {
    let samples = check(input)?;
    let segment = segment(input, wanted.segment)?;
    let piece = piece_of(segment.map_or(u64::from(samples), |n| n.get().min(samples).into()).max(1));
    let mut encoder = Encoder { exec, verify, chunk: Vec::new(), back: Vec::new() };
    if piece > PIECE_SAMPLES && input.is_regular() {
        // Segments too long to be copied: the file is mapped.
        let whole = input.whole::<i16>()?;
        let params = parameters(wanted, segment, &mut |bits| {
            bits.add(whole.samples(), segment, &wanted.filter);
            Ok(())
        })?;
        put(&samples.to_le_bytes(), 0)?;
        for piece in whole.samples().chunks(piece as usize) {
            encoder.piece(&params, piece, input.at(), put)?;
        }
        return Ok(params);
    }
    let mut buffer: Vec<i16> = Vec::new();
    let mut more = input.next(piece, &mut buffer)?;
    let params = parameters(wanted, segment, &mut |bits| {
        bits.add(&buffer, segment, &wanted.filter);
        if input.is_regular() && (buffer.len() as u64) < u64::from(samples) {
            while input.next(piece, &mut buffer)? {
                bits.add(&buffer, segment, &wanted.filter);
            }
            input.rewind()?;
            input.next(piece, &mut buffer)?;
        }
        Ok(())
    })?;
    put(&samples.to_le_bytes(), 0)?;
    while more {
        encoder.piece(&params, &buffer, input.at(), put)?;
        more = input.next(piece, &mut buffer)?;
    }
    Ok(params)
}

/// The parameters wanted; `count` gives the bits by which m is chosen where that is to be done.
fn parameters(
    wanted: &Wanted,
    segment: Option<NonZeroU32>,
    count: &mut dyn FnMut(&mut Bits) -> Result<(), Failure>,
) -> Result<Params, Failure> {
    let m = match wanted.m {
        Auto::Given(m) => m,
        Auto::Auto => {
            let mut bits = Bits::default();
            count(&mut bits)?;
            bits.best_m()
        }
    };
    let params = Params::new(m, segment).map_err(failure(0))?;
    Ok(params.with_filter(wanted.filter))
}

/// Encodes pieces of whole segments.
struct Encoder {
    exec: Exec,
    verify: bool,
    /// A chunk of one piece.
    chunk: Vec<u8>,
    /// A piece decoded.
    back: Vec<i16>,
}

impl Encoder {
    fn piece(&mut self, params: &Params, piece: &[i16], used: u64, put: Put<'_>) -> Result<(), Failure> {
        let room = match piece.len() as u64 > PIECE_SAMPLES {
            // The bound of a long one is too much memory to ask for unseen.
            true => encoded_len(params, piece, self.exec).map_err(failure(0))? as usize,
            false => params.bound(piece.len()),
        };
        reserve(&mut self.chunk, room)?;
        let len = encode_into(params, piece, &mut self.chunk, self.exec).map_err(failure(0))?;
        let chunk = &self.chunk[..len];
        if self.verify {
            reserve(&mut self.back, piece.len())?;
            let decoded = decode_into(params, chunk, &mut self.back, self.exec);
            if decoded != Ok(piece.len()) || self.back[..piece.len()] != *piece {
                return Err(differs());
            }
        }
        // Without the count, which is that of the piece.
        put(&chunk[4..], used)
    }
}

/// Makes `buffer` at least `len` long.
pub(crate) fn reserve<T: Copy + Default>(buffer: &mut Vec<T>, len: usize) -> Result<(), Failure> {
    if buffer.len() < len {
        buffer.try_reserve_exact(len - buffer.len()).map_err(|_| no_memory())?;
        buffer.resize(len, T::default());
    }
    Ok(())
}

pub(crate) fn differs() -> Failure {
    Failure::Refused("what was encoded does not decode to the input: nothing is kept".into())
}

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
    pub(crate) fn new(reader: &'a mut Reader, params: &Params) -> Result<Walk<'a>, Failure> {
        let samples = u64::from(reader.word(CUT_COUNT)?);
        let least = u64::from(params.m().trailing_zeros()) + 1;
        if reader.len().is_some_and(|len| samples > len.saturating_sub(4).saturating_mul(8) / least) {
            let what = "a chunk is too short for its number of samples";
            return Err(Failure::data(Kind::Corrupt, 0, what));
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
    pub(crate) fn next(&mut self) -> Result<Option<Found>, Failure> {
        let at = self.reader.at();
        let corrupt = |what| Err(Failure::data(Kind::Corrupt, at, what));
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
    fn payload(&mut self, found: &Found, into: &mut Vec<u8>) -> Result<(), Failure> {
        self.reader.append(into, u64::from(found.words) * 4, CUT_PAYLOAD)
    }

    /// Passes over the payload of the segment found last.
    pub(crate) fn skip(&mut self, found: &Found) -> Result<(), Failure> {
        self.reader.skip(u64::from(found.words) * 4, CUT_PAYLOAD)
    }
}

/// Bits of an escape, the longest code.
const LONGEST_CODE: u64 = 25;

/// Takes decoded samples, with the number of input bytes used so far.
pub(crate) type Take<'a> = &'a mut dyn FnMut(&mut [i16], u64) -> Result<(), Failure>;

/// Decodes the rest of a chunk, in pieces of whole segments.
pub(crate) fn decode_all(
    mut walk: Walk<'_>,
    params: &Params,
    exec: Exec,
    take: Take<'_>,
) -> Result<(), Failure> {
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
        let n = decode_into(params, &piece, &mut decoded, exec).map_err(failure(start.saturating_sub(4)))?;
        take(&mut decoded[..n], walk.at())?;
    }
    Ok(())
}

//! An array to one chunk of filter 32025, in pieces of whole segments.

use std::num::NonZeroU32;

use linerate_core::Kind;
use linerate_rice::tune::Histogram;
use linerate_rice::{Filter, Options, Params, decode_into, encode_into, encoded_len, expands};

use super::args::{Auto, Segment};
use super::dtype::Dtype;
use super::input::Input;
use super::piece::{PIECE_SAMPLES, Put, differs, engine_error, reserve};
use super::shape::Shape;
use crate::ui::error::CliError;

/// Samples per piece: whole segments, at least one.
fn piece_of(segment: u64) -> u64 {
    (PIECE_SAMPLES / segment).max(1) * segment
}

/// What an array is to become.
pub(crate) struct Wanted {
    pub(crate) m: Auto<u32>,
    pub(crate) segment: Segment,
    pub(crate) filter: Filter,
    /// Keep a chunk that is larger than its samples.
    pub(crate) allow_expansion: bool,
}

impl Wanted {
    fn params(&self, m: u32, segment: Option<NonZeroU32>) -> Result<Params, CliError> {
        let params = Params::new(m, segment).map_err(engine_error(0))?;
        Ok(params.with_filter(self.filter))
    }
}

/// Refuses arrays that a chunk cannot hold; returns their number of samples.
pub(crate) fn check(input: &Input) -> Result<u32, CliError> {
    let unsupported = |what: &'static str| CliError::data(Kind::Unsupported, 0, what);
    if !matches!(input.dtype(), Dtype::I16 | Dtype::U16) {
        return Err(unsupported("a v1 chunk holds 16-bit samples, and these have 32"));
    }
    match input.samples().map(u32::try_from) {
        Some(Ok(samples)) => Ok(samples),
        Some(Err(_)) => Err(unsupported("a v1 chunk holds at most 4294967295 samples")),
        None => {
            Err(CliError::Refused("a v1 chunk of raw samples from a pipe needs a complete --shape".into()))
        }
    }
}

/// The segment as `cd_values` have it; `None` is the whole chunk.
pub(crate) fn segment(input: &Input, wanted: Segment) -> Result<Option<NonZeroU32>, CliError> {
    match (wanted, input.row()) {
        (Segment::Auto, row) => {
            let samples = input.samples().unwrap_or(0);
            Ok(Params::segment_for(&Shape::of(samples, row).0))
        }
        (Segment::Given(n), _) => Ok(Some(n)),
        (Segment::All, _) | (Segment::Row, None) => Ok(None),
        (Segment::Row, Some(row)) => match i32::try_from(row).ok().and_then(|n| NonZeroU32::new(n as u32)) {
            Some(row) => Ok(Some(row)),
            None => {
                let what = "a row is longer than cd_values can say: give --segment";
                Err(CliError::data(Kind::Unsupported, 0, what))
            }
        },
    }
}

/// Bits for every m, added up over pieces.
#[derive(Default)]
struct Bits([u64; 16]);

impl Bits {
    fn plus(mut self, samples: &[i16], segment: Option<NonZeroU32>, filter: &Filter) -> Bits {
        let histogram = Histogram::of(samples, segment, filter);
        (1..16).for_each(|k| self.0[k as usize] += histogram.bits(k));
        self
    }

    fn best_m(&self) -> u32 {
        (1..16).min_by_key(|&k| self.0[k]).map_or(8, |k| 1 << k)
    }
}

/// Encodes an array as one chunk. With `verify`, what was written is decoded and compared.
pub(crate) fn encode(
    input: &mut Input,
    wanted: &Wanted,
    exec: Options,
    verify: bool,
    put: Put<'_>,
) -> Result<Params, CliError> {
    let samples = check(input)?;
    let segment = segment(input, wanted.segment)?;
    let piece = piece_of(segment.map_or(samples, |n| n.get().min(samples)).max(1).into());
    let most = (!wanted.allow_expansion).then_some(samples);
    let mut encoder = Encoder { exec, verify, most, bytes: 4, chunk: Vec::new(), back: Vec::new() };
    put(&samples.to_le_bytes(), input.at())?;
    match piece > PIECE_SAMPLES && input.is_regular() {
        true => encode_mapped(input, wanted, segment, piece, &mut encoder, put),
        false => encode_pieces(input, wanted, segment, piece, &mut encoder, put),
    }
}

/// Encodes a file whose segments are too long to be copied.
fn encode_mapped(
    input: &mut Input,
    wanted: &Wanted,
    segment: Option<NonZeroU32>,
    piece: u64,
    encoder: &mut Encoder,
    put: Put<'_>,
) -> Result<Params, CliError> {
    let whole = input.whole::<i16>()?;
    let m = match wanted.m {
        Auto::Given(m) => m,
        Auto::Auto => Bits::default().plus(whole.samples(), segment, &wanted.filter).best_m(),
    };
    let params = wanted.params(m, segment)?;
    for piece in whole.samples().chunks(piece as usize) {
        encoder.piece(&params, piece, input.at(), put)?;
    }
    Ok(params)
}

/// Encodes a file or a pipe piece by piece. To choose m, a file is read twice; of a pipe the first
/// piece has to do.
fn encode_pieces(
    input: &mut Input,
    wanted: &Wanted,
    segment: Option<NonZeroU32>,
    piece: u64,
    encoder: &mut Encoder,
    put: Put<'_>,
) -> Result<Params, CliError> {
    let mut buffer: Vec<i16> = Vec::new();
    let mut more = input.next(piece, &mut buffer)?;
    let m = match wanted.m {
        Auto::Given(m) => m,
        Auto::Auto => {
            let mut bits = Bits::default().plus(&buffer, segment, &wanted.filter);
            if input.is_regular() && input.samples() != Some(input.read()) {
                while input.next(piece, &mut buffer)? {
                    bits = bits.plus(&buffer, segment, &wanted.filter);
                }
                input.rewind()?;
                more = input.next(piece, &mut buffer)?;
            }
            bits.best_m()
        }
    };
    let params = wanted.params(m, segment)?;
    while more {
        encoder.piece(&params, &buffer, input.at(), put)?;
        more = input.next(piece, &mut buffer)?;
    }
    Ok(params)
}

/// Encodes pieces of whole segments.
struct Encoder {
    exec: Options,
    verify: bool,
    /// Samples of the whole chunk, if it must not expand.
    most: Option<u32>,
    /// Bytes of the chunk so far.
    bytes: u64,
    /// A chunk of one piece.
    chunk: Vec<u8>,
    /// A piece decoded.
    back: Vec<i16>,
}

impl Encoder {
    fn piece(&mut self, params: &Params, piece: &[i16], used: u64, put: Put<'_>) -> Result<(), CliError> {
        let additional = match piece.len() as u64 > PIECE_SAMPLES {
            // The bound of a long one is too much memory to ask for unseen.
            true => encoded_len(params, piece, self.exec).map_err(engine_error(0))? as usize,
            false => params.bound(piece.len()),
        };
        reserve(&mut self.chunk, additional)?;
        let len = encode_into(params, piece, &mut self.chunk, self.exec).map_err(engine_error(0))?;
        let chunk = &self.chunk[..len];
        if self.verify {
            reserve(&mut self.back, piece.len())?;
            let decoded = decode_into(params, chunk, &mut self.back, self.exec);
            if decoded != Ok(piece.len()) || self.back[..piece.len()] != *piece {
                return Err(differs());
            }
        }
        self.bytes += len as u64 - 4;
        if self.most.is_some_and(|samples| expands(samples as usize, self.bytes)) {
            return Err(CliError::Refused(
                "the chunk is larger than its samples: let --m and --segment be chosen, or leave out --v1, \
                 or give --allow-expansion"
                    .into(),
            ));
        }
        // Without the count, which is that of the piece.
        put(&chunk[4..], used)
    }
}

//! Encodes an array as one chunk of HDF5 filter 32025, in pieces of whole segments.

use core::mem;
use core::num::NonZeroU32;

use linerate_core::{Error, Kind, Result};

use super::{ArrayReader, NOT_REPRODUCED, PIECE_SAMPLES, reserve};
use crate::tune::Histogram;
use crate::v2::{ElementType, Shape};
use crate::{Filter, Options, Params, decode_into, encode_into, encoded_len, expands};

/// How the samples of a chunk are divided into segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SegmentChoice {
    /// Chosen by the shape: see [`Params::segment_for`].
    #[default]
    Auto,
    /// One segment for each row (the last axis). An array of one axis is one segment.
    Row,
    /// One segment for the whole array.
    All,
    /// Segments of this many samples.
    Samples(NonZeroU32),
}

impl SegmentChoice {
    /// Returns the samples per segment for a chunk of `array`; `None` is one segment.
    ///
    /// # Errors
    /// * [`Kind::Unsupported`] if a chunk cannot hold the array: 32-bit samples, or 2^32 samples or
    ///   more; with [`Row`](Self::Row), also for rows of 2^31 samples or more.
    /// * [`Kind::BadArgument`] if the number of samples, with which a chunk begins, is not known.
    pub fn for_array(self, array: &ArrayReader) -> Result<Option<NonZeroU32>> {
        let samples = chunk_samples(array)?;
        match (self, array.row()) {
            (SegmentChoice::Auto, row) => {
                Ok(Params::segment_for(Shape::from_rows(samples.into(), row).axes()))
            }
            (SegmentChoice::Samples(n), _) => Ok(Some(n)),
            (SegmentChoice::All, _) | (SegmentChoice::Row, None) => Ok(None),
            (SegmentChoice::Row, Some(row)) => {
                let row = i32::try_from(row).ok().and_then(|n| NonZeroU32::new(n as u32));
                let message = "a row is longer than cd_values can say: give the samples of a segment";
                row.map(Some).ok_or(Error::new(Kind::Unsupported, 0, message))
            }
        }
    }
}

/// Returns the number of samples of an array, which must be one that a chunk can hold.
fn chunk_samples(array: &ArrayReader) -> Result<u32> {
    let unsupported = |message| Error::new(Kind::Unsupported, 0, message);
    if !matches!(array.element(), ElementType::I16 | ElementType::U16) {
        return Err(unsupported("a v1 chunk holds 16-bit samples, and these have 32"));
    }
    let unknown = "a v1 chunk begins with the number of samples: give a complete shape";
    let samples = array.samples().ok_or(Error::new(Kind::BadArgument, 0, unknown))?;
    u32::try_from(samples).map_err(|_| unsupported("a v1 chunk holds at most 4294967295 samples"))
}

/// Options of a [`ChunkEncoder`].
#[derive(Clone, Copy, Debug)]
pub struct ChunkOptions {
    m: Option<u32>,
    segment: SegmentChoice,
    filter: Filter,
    allow_expansion: bool,
    verify: bool,
}

impl Default for ChunkOptions {
    /// [`ChunkOptions::new`].
    fn default() -> ChunkOptions {
        ChunkOptions::new()
    }
}

impl ChunkOptions {
    /// The defaults: the m that gives the smallest chunk, segments chosen by the shape, and the
    /// running difference as filter. A chunk that [`expands`] is an error, and pieces are not
    /// verified.
    pub const fn new() -> ChunkOptions {
        ChunkOptions {
            m: None,
            segment: SegmentChoice::Auto,
            filter: Filter::DELTA,
            allow_expansion: false,
            verify: false,
        }
    }

    /// Sets the Rice parameter, a power of two from 2 to 32,768. `None` chooses the m that makes
    /// the chunk smallest, or for a pipe the m that makes its first piece smallest: whole segments
    /// of up to 16 MiB, or one longer segment.
    #[must_use]
    pub const fn m(self, m: Option<u32>) -> ChunkOptions {
        ChunkOptions { m, ..self }
    }

    /// Sets how the samples are divided into segments.
    #[must_use]
    pub const fn segment(self, segment: SegmentChoice) -> ChunkOptions {
        ChunkOptions { segment, ..self }
    }

    /// Sets the prediction filter.
    #[must_use]
    pub const fn filter(self, filter: Filter) -> ChunkOptions {
        ChunkOptions { filter, ..self }
    }

    /// Sets whether a chunk may be larger than its samples by more than 2 %: see [`expands`].
    #[must_use]
    pub const fn allow_expansion(self, allow: bool) -> ChunkOptions {
        ChunkOptions { allow_expansion: allow, ..self }
    }

    /// Sets whether each piece is decoded again and compared with its samples.
    #[must_use]
    pub const fn verify(self, verify: bool) -> ChunkOptions {
        ChunkOptions { verify, ..self }
    }

    fn params(&self, m: u32, segment: Option<NonZeroU32>) -> Result<Params> {
        Ok(Params::new(m, segment)?.with_filter(self.filter))
    }
}

/// Number of samples per piece: whole segments, at least one.
fn piece_samples(segment: u64) -> u64 {
    (PIECE_SAMPLES / segment).max(1) * segment
}

/// Encodes an array as one chunk.
pub struct ChunkEncoder {
    array: ArrayReader,
    params: Params,
    /// The number of samples, with which a chunk begins.
    count: [u8; 4],
    is_begun: bool,
    piece_samples: u64,
    state: PieceSource,
    encoder: PieceEncoder,
}

enum PieceSource {
    /// Pieces are read. If `is_pending`, the array holds a piece that was read to choose m and is
    /// still to be encoded.
    Read { is_pending: bool },
    /// All samples are mapped, because a segment is longer than a piece. The first `encoded`
    /// samples are done.
    Mapped { encoded: usize },
}

impl ChunkEncoder {
    /// Chooses the parameters. If m is not given, that reads a file once, and the first piece of a
    /// pipe.
    ///
    /// # Errors
    /// Errors of [`SegmentChoice::for_array`], [`Params::new`] and [`ArrayReader::next_piece`].
    pub fn new(mut array: ArrayReader, settings: &ChunkOptions, options: Options) -> Result<ChunkEncoder> {
        array.set_threads(options);
        let samples = chunk_samples(&array)?;
        let segment = settings.segment.for_array(&array)?;
        let piece_samples = piece_samples(segment.map_or(samples, |n| n.get().min(samples)).max(1).into());
        let state = match piece_samples > PIECE_SAMPLES && array.is_seekable() {
            true => PieceSource::Mapped { encoded: 0 },
            false => PieceSource::Read { is_pending: settings.m.is_none() },
        };
        let m = match (settings.m, &state) {
            (Some(m), _) => m,
            (None, PieceSource::Mapped { .. }) => {
                Bits::default().plus(array.whole()?, segment, &settings.filter).best_m()
            }
            (None, PieceSource::Read { .. }) => best_m(&mut array, piece_samples, segment, &settings.filter)?,
        };
        let params = settings.params(m, segment)?;
        let encoder = PieceEncoder {
            options,
            verify: settings.verify,
            unexpanded_samples: (!settings.allow_expansion).then_some(samples),
            bytes: 4,
            chunk: Vec::new(),
            decoded: Vec::new(),
        };
        Ok(ChunkEncoder {
            array,
            params,
            count: samples.to_le_bytes(),
            is_begun: false,
            piece_samples,
            state,
            encoder,
        })
    }

    /// The parameters of the chunk, which it does not store.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The array, as far as it has been read.
    pub fn array(&self) -> &ArrayReader {
        &self.array
    }

    /// Returns the next bytes of the chunk; `None` at its end.
    ///
    /// # Errors
    /// * Errors of [`ArrayReader::next_piece`].
    /// * [`Kind::BadArgument`] for parameters that would lose data, as in [`encode_into`], and if
    ///   the chunk expands, unless that is allowed.
    /// * [`Kind::Corrupt`] if verification finds other samples.
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        if !mem::replace(&mut self.is_begun, true) {
            return Ok(Some(&self.count));
        }
        let piece = match &mut self.state {
            PieceSource::Mapped { encoded } => {
                let rest = self.array.whole::<i16>()?.get(*encoded..).unwrap_or_default();
                let piece = &rest[..rest.len().min(self.piece_samples as usize)];
                *encoded += piece.len();
                piece
            }
            PieceSource::Read { is_pending } => match mem::take(is_pending) {
                true => self.array.piece(),
                false => self.array.next_piece(self.piece_samples)?,
            },
        };
        match piece {
            [] => Ok(None),
            piece => self.encoder.encode(&self.params, piece).map(Some),
        }
    }
}

/// Finds the best m of an array, and leaves the array's first piece ready to be encoded. A file is
/// read to its end and rewound; for a pipe, the first piece decides.
fn best_m(
    array: &mut ArrayReader,
    piece_samples: u64,
    segment: Option<NonZeroU32>,
    filter: &Filter,
) -> Result<u32> {
    let mut bits = Bits::default().plus(array.next_piece(piece_samples)?, segment, filter);
    if array.is_seekable() && array.samples() != Some(array.samples_read()) {
        loop {
            match array.next_piece(piece_samples)? {
                [] => break,
                piece => bits = bits.plus(piece, segment, filter),
            }
        }
        array.rewind()?;
        array.next_piece::<i16>(piece_samples)?;
    }
    Ok(bits.best_m())
}

/// The number of bits that all codes take for each m = 2^k, indexed by k and added up over pieces.
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

/// Encodes pieces of whole segments.
struct PieceEncoder {
    options: Options,
    verify: bool,
    /// Number of samples of the whole chunk, to check that it does not expand; `None` if it may.
    unexpanded_samples: Option<u32>,
    /// Number of bytes of the chunk so far.
    bytes: u64,
    /// A piece, encoded as a chunk of its own.
    chunk: Vec<u8>,
    /// The same piece decoded again, for verification.
    decoded: Vec<i16>,
}

impl PieceEncoder {
    /// Encodes a piece and returns its segments.
    fn encode(&mut self, params: &Params, piece: &[i16]) -> Result<&[u8]> {
        let options = self.options.for_samples(piece.len());
        let capacity = match piece.len() as u64 > PIECE_SAMPLES {
            // The bound of a long piece may be far more memory than the piece needs, so its exact
            // size is measured.
            true => encoded_len(params, piece, options)? as usize,
            false => params.bound(piece.len()),
        };
        reserve(&mut self.chunk, capacity)?;
        let len = encode_into(params, piece, &mut self.chunk, options)?;
        let chunk = &self.chunk[..len];
        if self.verify {
            reserve(&mut self.decoded, piece.len())?;
            let decoded = decode_into(params, chunk, &mut self.decoded, options);
            if decoded != Ok(piece.len()) || self.decoded[..piece.len()] != *piece {
                return Err(NOT_REPRODUCED);
            }
        }
        self.bytes += len as u64 - 4;
        if self.unexpanded_samples.is_some_and(|samples| expands(samples as usize, self.bytes)) {
            let message = "the chunk is larger than its samples: let m and the segment be chosen, write version \
                           2, or allow expansion";
            return Err(Error::new(Kind::BadArgument, 0, message));
        }
        // The first word is left out, because it counts the samples of the piece and not of the
        // whole chunk.
        Ok(&chunk[4..])
    }
}

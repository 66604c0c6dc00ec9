//! Options of the encoder.

use core::num::NonZeroU32;

use linerate_core::{Error, Kind, Result};

use super::{MAX_SEGMENT, Shape};

/// Rows up to this length are one segment each.
const LONGEST_ROW: u32 = 16_384;

/// Samples of a segment that does not hold one row: few enough that predictors follow a changing signal
/// and threads share the segments.
const DEFAULT_SEGMENT: u32 = 4096;

/// Rows shorter than this share segments, since each segment costs about 20 bytes.
const SHORT_ROW: u32 = 1024;

/// How the encoder divides samples into segments, and which shape the stream keeps.
///
/// ```
/// use linerate_rice::v2::StreamOptions;
/// let rows_of_7000 = StreamOptions::new().row(7000.try_into().ok());
/// assert_eq!(rows_of_7000.segment_len(), 7000);
/// assert_eq!(StreamOptions::new().segment_len(), 4096);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StreamOptions {
    segment: Option<NonZeroU32>,
    row: Option<NonZeroU32>,
    shape: Option<Shape>,
}

impl StreamOptions {
    /// Segments of the default length, no rows, no shape.
    pub const fn new() -> StreamOptions {
        StreamOptions { segment: None, row: None, shape: None }
    }

    /// Sets the samples of each segment, at most [`MAX_SEGMENT`]. Segments are coded, and can be decoded,
    /// one by one. `None` chooses by the length of a row: one row where that is sensible, otherwise
    /// about 4096 samples.
    #[must_use]
    pub const fn segment(self, segment: Option<NonZeroU32>) -> StreamOptions {
        StreamOptions { segment, ..self }
    }

    /// Sets the samples of a row. The stream keeps the length, so that the shape of a table of waveforms
    /// survives; the last row may be incomplete.
    #[must_use]
    pub const fn row(self, row: Option<NonZeroU32>) -> StreamOptions {
        StreamOptions { row, ..self }
    }

    /// Sets the shape of an array. The stream keeps it, in 8 bytes and 8 per axis: for arrays that the
    /// number of samples and the length of a row do not describe.
    #[must_use]
    pub const fn shape(self, shape: Option<Shape>) -> StreamOptions {
        StreamOptions { shape, ..self }
    }

    /// The shape that the stream keeps.
    pub const fn array_shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    /// Samples per row.
    pub const fn row_len(&self) -> Option<NonZeroU32> {
        self.row
    }

    /// Samples per segment; the last one may be shorter.
    pub fn segment_len(&self) -> u32 {
        match (self.segment, self.row) {
            (Some(segment), _) => segment.get(),
            (None, None) => DEFAULT_SEGMENT,
            (None, Some(row)) => match row.get() {
                row @ 0..SHORT_ROW => DEFAULT_SEGMENT / row * row,
                row @ SHORT_ROW..=LONGEST_ROW => row,
                // Equal parts, in whole blocks.
                row => row.div_ceil(row.div_ceil(DEFAULT_SEGMENT)).next_multiple_of(super::BLOCK as u32),
            },
        }
    }

    pub(super) fn check(&self, samples: usize) -> Result<()> {
        if self.segment_len() > MAX_SEGMENT {
            return Err(Error::new(Kind::BadArgument, 0, "a segment of more than 65536 samples"));
        }
        if self.shape.is_some_and(|shape| shape.samples() != Some(samples as u64)) {
            return Err(Error::new(Kind::BadArgument, 0, "a shape of more or fewer samples than there are"));
        }
        Ok(())
    }
}

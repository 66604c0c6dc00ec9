//! What the caller may choose about a stream, and the room it needs.

use core::num::NonZeroU32;

use linerate_core::{Error, Kind, Result};

use super::header::HEADER;
use super::segment::RAW_HEAD;
use super::{Element, MAX_SEGMENT, Shape};

/// Rows up to this length are one segment each.
const LONGEST_ROW: u32 = 16_384;

/// About how long segments are that do not hold one row each: predictors follow a signal that
/// changes, and threads have something to share out.
const USUAL: u32 = 4096;

/// Rows shorter than this share segments, since each segment costs about 20 bytes.
const SHORT_ROW: u32 = 1024;

/// How a stream is cut into segments, and what shape it remembers.
///
/// ```
/// use linerate_rice::v2::Settings;
/// let rows_of_7000 = Settings::default().with_row(7000.try_into().ok());
/// assert_eq!(rows_of_7000.segment(), 7000);
/// assert_eq!(Settings::default().segment(), 4096);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    segment: Option<NonZeroU32>,
    row: Option<NonZeroU32>,
    shape: Option<Shape>,
}

impl Settings {
    /// Settings with `segment` samples in each segment, at most [`MAX_SEGMENT`]. Segments are
    /// coded, and can be decoded, one by one. With `None` the length follows from that of a row:
    /// one row where that is sensible, otherwise about 4096 samples.
    pub const fn new(segment: Option<NonZeroU32>) -> Settings {
        Settings { segment, row: None, shape: None }
    }

    /// The same with rows of `row` samples, or without rows. The length is kept in the stream, so
    /// that the shape of a table of waveforms survives; nothing requires that rows be complete.
    #[must_use]
    pub const fn with_row(self, row: Option<NonZeroU32>) -> Settings {
        Settings { row, ..self }
    }

    /// The same with the shape of an array, or without one. It is kept in the stream, for arrays
    /// that a number of samples and the length of a row do not describe; it takes 8 bytes and 8 per
    /// axis.
    #[must_use]
    pub const fn with_shape(self, shape: Option<Shape>) -> Settings {
        Settings { shape, ..self }
    }

    /// The shape that is kept in the stream.
    pub const fn shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    /// Samples per row.
    pub const fn row(&self) -> Option<NonZeroU32> {
        self.row
    }

    /// Samples per segment; the last one may be shorter.
    pub fn segment(&self) -> u32 {
        match (self.segment, self.row) {
            (Some(segment), _) => segment.get(),
            (None, None) => USUAL,
            (None, Some(row)) => match row.get() {
                row @ 0..SHORT_ROW => USUAL / row * row,
                row @ SHORT_ROW..=LONGEST_ROW => row,
                // Equal parts, in whole blocks.
                row => row.div_ceil(row.div_ceil(USUAL)).next_multiple_of(super::BLOCK as u32),
            },
        }
    }

    pub(super) fn check(&self, samples: usize) -> Result<()> {
        if self.segment() > MAX_SEGMENT {
            return Err(Error::new(Kind::BadArgument, 0, "a segment of more than 65536 samples"));
        }
        if self.shape.is_some_and(|shape| shape.samples() != Some(samples as u64)) {
            return Err(Error::new(Kind::BadArgument, 0, "a shape of more or fewer samples than there are"));
        }
        Ok(())
    }
}

/// Most bytes that a stream of `samples` samples has.
///
/// A segment that prediction does not make smaller holds its samples as they are, behind 5 bytes
/// and filled up to a multiple of 4; 4 bytes of the table and 28 of the header come on top, and what
/// a shape takes.
///
/// ```
/// use linerate_rice::v2::{Settings, bound};
/// assert_eq!(bound::<u16>(&Settings::default(), 4096), 28 + 4 + 8200);
/// ```
pub fn bound<T: Element>(settings: &Settings, samples: usize) -> usize {
    let segment = settings.segment() as usize;
    let of = |n: usize| 4 + segment_bound::<T>(n);
    let (whole, rest) = (samples / segment, samples % segment);
    let shape = settings.shape().map_or(0, |shape| 4 + shape.bytes());
    HEADER + shape + whole * of(segment) + if rest > 0 { of(rest) } else { 0 }
}

/// Most bytes of one segment of `n` samples.
pub(super) fn segment_bound<T: Element>(n: usize) -> usize {
    (RAW_HEAD + n * T::TYPE.bytes()).next_multiple_of(4)
}

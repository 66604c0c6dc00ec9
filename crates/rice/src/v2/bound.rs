//! The largest size of a stream and of a segment.

use super::header::HEADER;
use super::segment::RAW_HEAD;
use super::{Element, StreamOptions};

/// Maximum size in bytes of a stream of `samples` samples.
///
/// A segment that prediction does not make smaller holds 5 bytes, then its samples as they are, padded
/// to a multiple of 4. The table adds 4 bytes per segment, the header 28, and a shape its record.
///
/// ```
/// use linerate_rice::v2::{StreamOptions, bound};
/// assert_eq!(bound::<u16>(&StreamOptions::new(), 4096), 28 + 4 + 8200);
/// ```
pub fn bound<T: Element>(settings: &StreamOptions, samples: usize) -> usize {
    let segment = settings.segment_len() as usize;
    let of = |n: usize| 4 + segment_bound::<T>(n);
    let (whole, rest) = (samples / segment, samples % segment);
    let shape = settings.array_shape().map_or(0, |shape| 4 + shape.bytes());
    HEADER + shape + whole * of(segment) + if rest > 0 { of(rest) } else { 0 }
}

/// Maximum size in bytes of one segment of `n` samples.
pub(super) fn segment_bound<T: Element>(n: usize) -> usize {
    (RAW_HEAD + n * T::TYPE.bytes()).next_multiple_of(4)
}

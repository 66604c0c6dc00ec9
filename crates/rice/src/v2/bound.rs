//! The maximum size of a stream.

use super::header::HEADER;
use super::{Element, StreamOptions};

/// Returns the maximum size in bytes of a stream of `samples` samples.
///
/// A segment that prediction does not make smaller has 5 bytes and then its samples as they are,
/// padded to a multiple of 4. The table adds 4 bytes per segment, the header 28, and a shape its
/// record and 4 bytes in the table. With channels, each part of a segment counts as a segment.
/// Saturates at `usize::MAX`, which no buffer can hold.
///
/// ```
/// use linerate_rice::v2::{StreamOptions, bound};
/// assert_eq!(bound::<u16>(&StreamOptions::new(), 4096), 28 + 4 + 8200);
/// assert_eq!(bound::<u16>(&StreamOptions::new(), usize::MAX / 2), usize::MAX);
/// ```
pub fn bound<T: Element>(settings: &StreamOptions, samples: usize) -> usize {
    let shape = settings.array_shape().map_or(0, |shape| 4 + shape.bytes());
    let parts = settings.geometries(samples).into_iter().flatten().map(|geometry| geometry.bound::<T>());
    parts.max().unwrap_or(0).saturating_add(HEADER + shape)
}

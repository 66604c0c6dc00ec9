//! The division of the samples of a stream into channels, segments and parts.
//!
//! A segment is a run of samples that is coded independently. With channels it consists of whole
//! frames, each of which has one sample of every channel, and it has one part per channel. Without
//! channels, a segment is its only part.

use core::ops::Range;

use super::Element;
use super::segment::RAW_HEAD;

/// The division of the samples of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of samples.
    pub(super) samples: usize,
    /// Number of channels, at least 1. `samples` is a multiple of it.
    pub(super) channels: usize,
    /// Number of samples in each part of a segment; parts of the last segment may have fewer.
    pub(super) frames: usize,
}

impl Geometry {
    /// Maximum number of samples in a segment, of all channels together. A thread that decodes
    /// holds at most that many samples beside its output.
    pub(super) const MAX_SEGMENT: u64 = 1 << 24;

    /// Samples of all channels in a segment; the last segment may have fewer.
    pub(super) fn segment(&self) -> usize {
        self.channels * self.frames
    }

    pub(super) fn segments(&self) -> usize {
        self.samples.div_ceil(self.segment())
    }

    /// Number of parts of all segments. Each part has an entry in the table.
    pub(super) fn parts(&self) -> usize {
        self.segments() * self.channels
    }

    /// Indices of the samples of segment `i`.
    pub(super) fn samples_of(&self, i: usize) -> Range<usize> {
        i * self.segment()..((i + 1) * self.segment()).min(self.samples)
    }

    /// Maximum size in bytes of all parts and of their table entries.
    pub(super) fn bound<T: Element>(&self) -> usize {
        let of = |frames: usize| part_bound::<T>(frames).saturating_add(4).saturating_mul(self.channels);
        let (whole, rest) = (self.samples / self.segment(), self.samples % self.segment());
        let last = if rest > 0 { of(rest / self.channels) } else { 0 };
        whole.saturating_mul(of(self.frames)).saturating_add(last)
    }
}

/// Maximum size in bytes of a part of `n` samples.
pub(super) fn part_bound<T: Element>(n: usize) -> usize {
    let bytes = n.saturating_mul(T::TYPE.bytes()).saturating_add(RAW_HEAD);
    bytes.checked_next_multiple_of(4).unwrap_or(usize::MAX)
}

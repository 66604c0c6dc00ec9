//! References of a channel to channels before it, whose samples of the same moment are part of its prediction:
//! leads of an ECG that are sums of others, the side of stereo sound, neighbouring sites of a probe.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | bits 0 to 3: number of references, 1 or 2; bits 4 to 7: shift |
//! | 1 each | distance to the channel |
//! | 2 each | signed weight |

use super::element::Word;
use crate::kernel::channels::Weighted;

/// Weighted channels whose sum, divided by 2^shift, is subtracted from the samples of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct References {
    distances: [u8; References::MAX],
    weights: [i16; References::MAX],
    len: u8,
    shift: u8,
}

impl References {
    /// Maximum number of channels that one channel refers to: augmented ECG leads are sums of two others.
    pub(crate) const MAX: usize = 2;

    /// Bytes of a distance and a weight.
    pub(super) const ENTRY: usize = 3;

    pub(crate) const NONE: References =
        References { distances: [0; References::MAX], weights: [0; References::MAX], len: 0, shift: 0 };

    /// References at these distances, each with its weight, divided by 2^`shift`, at most 2^15.
    pub(super) fn new(distances: &[u8], weights: &[i16], shift: u8) -> References {
        let mut all = References { len: distances.len() as u8, shift, ..References::NONE };
        all.distances[..distances.len()].copy_from_slice(distances);
        all.weights[..weights.len()].copy_from_slice(weights);
        all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads references of channel `channel`: `counts`, and the distances and weights that it announces. `None` if
    /// there are none or too many, or if one is not to a channel before it.
    pub(super) fn parse(counts: u8, list: &[u8], channel: usize) -> Option<References> {
        let len = usize::from(counts & 0xf);
        let (distances, weights) = list.split_at_checked(len)?;
        let exists = |&distance: &u8| (1..=channel).contains(&usize::from(distance));
        if !(1..=References::MAX).contains(&len) || !distances.iter().all(exists) {
            return None;
        }
        let mut all = [0; References::MAX];
        all.iter_mut().zip(weights.as_chunks().0).for_each(|(to, weight)| *to = i16::from_le_bytes(*weight));
        Some(References::new(distances, &all[..len], counts >> 4))
    }

    /// Bytes of its fields in the head of a segment.
    pub(super) fn bytes(&self) -> usize {
        if self.is_empty() { 0 } else { 1 + References::ENTRY * usize::from(self.len) }
    }

    pub(super) fn write(&self, mut put: impl FnMut(&[u8])) {
        let len = usize::from(self.len);
        if len > 0 {
            put(&[self.len | self.shift << 4]);
            put(&self.distances[..len]);
            self.weights[..len].iter().for_each(|weight| put(&weight.to_le_bytes()));
        }
    }

    /// The channels referred to by channel `channel`. `channels` begins with all channels before it, one after
    /// another, of `frames` samples each. `None` without references.
    pub(super) fn weighted<'a, W: Word>(
        &self,
        channels: &'a [W],
        channel: usize,
        frames: usize,
        sign: W,
    ) -> Option<Weighted<'a, W>> {
        let of = |i: usize| &channels[(channel - usize::from(self.distances[i])) * frames..][..frames];
        // A single reference stands beside itself, with a weight of zero.
        let second = usize::from(self.len).checked_sub(1)?;
        Some(Weighted {
            channels: [of(0), of(second)],
            weights: self.weights,
            shift: self.shift.into(),
            sign,
        })
    }
}

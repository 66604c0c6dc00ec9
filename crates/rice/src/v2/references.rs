//! References of a channel to channels before it. Their samples of the same frame take part in its
//! prediction, which helps for leads of an ECG that are sums of others, for stereo sound, and for
//! neighbouring sites of a probe.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | bits 0 to 3: number of references, 1 or 2; bits 4 to 7: shift |
//! | 1 each | distance to the channel, for each reference |
//! | 2 each | signed weight, for each reference |

use super::element::Word;
use crate::kernel::channels::Weighted;

/// The channels that a channel refers to, with their weights. Their weighted sum, divided by
/// 2^shift, is subtracted from the samples of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct References {
    distances: [u8; References::MAX],
    weights: [i16; References::MAX],
    len: u8,
    shift: u8,
}

impl References {
    /// Maximum number of channels that one channel refers to. Augmented ECG leads are sums of two
    /// others.
    pub(crate) const MAX: usize = 2;

    /// Number of bytes of a reference: its distance and its weight.
    pub(super) const ENTRY: usize = 3;

    pub(crate) const NONE: References =
        References { distances: [0; References::MAX], weights: [0; References::MAX], len: 0, shift: 0 };

    /// Creates references at these distances, each with its weight. The sum is divided by
    /// 2^`shift`, at most 2^15.
    pub(super) fn new(distances: &[u8], weights: &[i16], shift: u8) -> References {
        let mut all = References { len: distances.len() as u8, shift, ..References::NONE };
        all.distances[..distances.len()].copy_from_slice(distances);
        all.weights[..weights.len()].copy_from_slice(weights);
        all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Parses the references of channel `channel`: the byte `counts`, and the list of distances and
    /// weights that it announces. `None` if there are no references or too many, or if one refers
    /// to a channel that is not before it.
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

    /// Size in bytes in the head of a segment.
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

    /// Returns the samples of the channels that channel `channel` refers to, with their weights.
    /// `channels` begins with all channels before it, one after another, of `frames` samples each.
    /// `None` without references.
    pub(super) fn weighted<'a, W: Word>(
        &self,
        channels: &'a [W],
        channel: usize,
        frames: usize,
        sign: W,
    ) -> Option<Weighted<'a, W>> {
        let of = |i: usize| &channels[(channel - usize::from(self.distances[i])) * frames..][..frames];
        // A single reference is used twice, the second time with a weight of zero.
        let second = usize::from(self.len).checked_sub(1)?;
        Some(Weighted {
            channels: [of(0), of(second)],
            weights: self.weights,
            shift: self.shift.into(),
            sign,
        })
    }
}

//! Selects a dictionary's content: segments of the samples whose *d*-mers occur in the most
//! samples, as in COVER (Liao, Petri, Moffat and Wirth 2016). Segments are chosen among all samples
//! by lazy greedy maximisation (Minoux 1978), instead of one from each epoch.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Length of a *d*-mer in bytes, which is the shortest repetition that counts. A block repeats
/// shorter ones by itself.
const DMER: usize = 6;
/// Smallest region, in bytes. The best segment of each region is a candidate.
const MIN_REGION: usize = 1024;
/// A *d*-mer is worth nothing if the same sample has it less than this many bytes before.
const RECENT: usize = 1024;
/// A segment is chosen if its value is at least this fraction of the next one's upper bound.
/// Finding the exact maximum takes several times as long.
const SLACK: (u64, u64) = (7, 8);
/// Range of the binary logarithm of the number of counters. They take at most 512 KiB, which fit
/// the L2 cache.
const COUNTERS: (u32, u32) = (10, 17);
/// Takes the place of the hash at a position that is worth nothing, because its sample ends, or its
/// *d*-mer is recent.
const NONE: u32 = u32::MAX;

/// Samples, and the number of samples in which each *d*-mer occurs.
pub(crate) struct Cover {
    bytes: Vec<u8>,
    /// Hash of the *d*-mer at each position.
    hashes: Vec<u32>,
    /// Number of samples with a *d*-mer of each hash, minus one.
    counts: Vec<u32>,
}

/// Position at which a *d*-mer was seen last.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The position plus one; 0 if the *d*-mer was not seen.
    end: usize,
    /// Number of the sample with the position, from 1.
    sample: u32,
    /// Number of samples in which the *d*-mer was seen.
    samples: u32,
}

impl Cover {
    pub(crate) fn new(samples: &[&[u8]]) -> Cover {
        let mut bytes = samples.concat();
        let len = bytes.len();
        let log = len.max(1).ilog2().clamp(COUNTERS.0, COUNTERS.1);
        // Make room to read 8 bytes at the last position.
        bytes.resize(len + 8, 0);
        let mut hashes = vec![NONE; len];
        let mut seen = vec![Seen::default(); 1 << log];
        let mut start = 0;
        for (number, sample) in (1..).zip(samples) {
            let dmers = (sample.len() + 1).saturating_sub(DMER);
            for at in start..start + dmers {
                let hash = hash(&bytes[at..], log);
                let last = &mut seen[hash as usize];
                if last.end == 0 || at - (last.end - 1) >= RECENT || last.sample != number {
                    hashes[at] = hash;
                }
                last.samples += u32::from(last.sample != number);
                (last.sample, last.end) = (number, at + 1);
            }
            start += sample.len();
        }
        bytes.truncate(len);
        // A *d*-mer that occurs in only one sample helps no other.
        let counts = seen.iter().map(|last| last.samples.saturating_sub(1)).collect();
        Cover { bytes, hashes, counts }
    }

    /// Selects content of at most `size` bytes, made of segments of at most `segment` bytes. The
    /// most valuable segments are last, where offsets are smallest.
    pub(crate) fn select(&self, size: usize, segment: usize) -> Vec<u8> {
        let mut values = self.counts.clone();
        let region = (2 * segment).max(MIN_REGION);
        let mut heap = BinaryHeap::new();
        for start in (0..self.bytes.len()).step_by(region) {
            let (value, _) = self.best_window(start..start + region, segment, &values);
            heap.push((value, Reverse(start)));
        }
        let mut segments: Vec<&[u8]> = Vec::new();
        let mut room = size;
        while let Some((_, Reverse(start))) = heap.pop().filter(|&(value, _)| value > 0 && room >= DMER) {
            // The value may have fallen since it was computed. It never rises.
            let (value, at) = self.best_window(start..start + region, segment, &values);
            if heap.peek().is_none_or(|&(next, _)| value * SLACK.1 >= next * SLACK.0) && value > 0 {
                let chosen = self.take(at, segment.min(room), &mut values);
                room -= chosen.len();
                segments.push(chosen);
            }
            heap.push((value, Reverse(start)));
        }
        segments.iter().rev().copied().collect::<Vec<_>>().concat()
    }

    /// Returns the value and the position of the most valuable window of `len` bytes that begins in
    /// a region.
    fn best_window(&self, region: Range<usize>, len: usize, values: &[u32]) -> (u64, usize) {
        let width = len.saturating_sub(DMER - 1).max(1);
        let end = (region.end + width - 1).min(self.hashes.len());
        let of = |hash: u32| values.get(hash as usize).map_or(0, |&value| u64::from(value));
        let (mut value, mut best) = (0, (0, region.start));
        for at in region.start..end {
            value += of(self.hashes[at]);
            if at >= region.start + width {
                value -= of(self.hashes[at - width]);
            }
            if value > best.0 {
                best = (value, (at + 1).saturating_sub(width).max(region.start));
            }
        }
        best
    }

    /// Returns a window without ends that are worth nothing, and sets the value of its *d*-mers to
    /// 0.
    fn take(&self, at: usize, len: usize, values: &mut [u32]) -> &[u8] {
        let end = (at + len).min(self.bytes.len());
        let dmers = at..(end + 1).saturating_sub(DMER).max(at);
        let is_valuable = |&at: &usize| values.get(self.hashes[at] as usize).is_some_and(|&value| value > 0);
        let first = dmers.clone().find(is_valuable).unwrap_or(at);
        let last = dmers.clone().rev().find(is_valuable).map_or(end, |last| last + DMER);
        for at in dmers {
            if let Some(value) = values.get_mut(self.hashes[at] as usize) {
                *value = 0;
            }
        }
        &self.bytes[first..last]
    }
}

/// Hashes the *d*-mer at the beginning of at least 8 bytes.
fn hash(bytes: &[u8], log: u32) -> u32 {
    let Some(first) = bytes.first_chunk() else { return NONE };
    let dmer = u64::from_le_bytes(*first) << (8 * (8 - DMER));
    (dmer.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - log)) as u32
}

//! Skips incompressible data: data without matches and with a flat byte histogram, such as
//! encrypted or compressed data.
//!
//! The match loops stop at a run of [`LONG_RUN`] literals. If the data after it [is
//! incompressible](is_incompressible), it goes to stored blocks with only sparse probes, at a
//! fraction of the cost of coding. Repeats of a few hundred bytes are still found.

use super::matcher::{Buckets, MAX_DISTANCE, MIN_MATCH, PositionTable};
use super::rebased::RebasedBuffer;

/// Length of a literal run after which a match loop tests for incompressible data.
pub(crate) const LONG_RUN: usize = 512;
/// Number of bytes in the histogram.
const SAMPLE: usize = 512;
/// Number of bytes skipped between two tests.
const RECHECK: usize = 4096;
/// Spacing of inserted positions, and number of neighbouring positions in a burst of probes.
const SPACING: usize = 16;
/// Number of bytes from one burst of probes to the next.
const BURST_EVERY: usize = 512;

/// Returns whether the histogram of the first 512 bytes of `data` is so flat that coding would save
/// less than 4 %: its collision entropy is above 7.7 bits per byte. Shorter data counts as
/// compressible.
///
/// Random bytes collide with probability 1/256, so the squared counts of 512 bytes sum to about
/// 1,536, with a standard deviation of 45. A sum of 1,750 corresponds to a collision entropy of 7.7
/// bits per byte. The Shannon entropy, which bounds what codes can save, is no lower.
pub(crate) fn is_incompressible(data: &[u8]) -> bool {
    let Some(sample) = data.first_chunk::<SAMPLE>() else {
        return false;
    };
    let mut counts = [0u16; 256];
    for &byte in sample {
        counts[usize::from(byte)] += 1;
    }
    counts.iter().map(|&c| u32::from(c) * u32::from(c)).sum::<u32>() < 1_750
}

/// The current literal run of a match loop.
pub(crate) struct LiteralRun {
    /// First position of the run.
    pub(super) start: usize,
    /// The data up to this position was tested and is compressible.
    pub(super) checked: usize,
}

impl LiteralRun {
    /// Begins a run at position `at`.
    pub(crate) fn new(at: usize) -> Self {
        LiteralRun { start: at, checked: at }
    }

    /// Returns whether the run is long at position `at` and the data there is incompressible.
    pub(super) fn literal_run_is_incompressible(&mut self, buffer: &[u8], at: usize) -> bool {
        if at - self.start <= LONG_RUN || at <= self.checked {
            return false;
        }
        self.checked = at + LONG_RUN;
        is_incompressible(&buffer[at..])
    }
}

/// Skips incompressible data from `at`. Returns the first position that may be compressible, or the
/// end.
///
/// Inserts every 16th position, and probes 16 neighbouring positions in every 512 bytes, so it
/// finds repeats of 550 bytes.
pub(crate) fn skip_incompressible<B: Buckets, const N: usize>(
    table: &mut PositionTable<N>,
    call: &mut RebasedBuffer<'_>,
    at: usize,
) -> usize {
    let len = call.buffer.len();
    let mut reached = at;
    while is_incompressible(&call.buffer[reached..]) {
        let recheck = len.min(reached + RECHECK);
        while reached < recheck {
            let burst = reached..len.min(reached + SPACING);
            if let Some(found) = burst.into_iter().find(|&p| position_has_match::<B, N>(table, call, p)) {
                return found;
            }
            let next = recheck.min(reached + BURST_EVERY);
            (reached..next).step_by(SPACING).for_each(|p| insert::<B, N>(table, call, p));
            reached = next;
        }
    }
    // A rest too short for a histogram is skipped with the incompressible data before it.
    if reached > at && len - reached < SAMPLE { len } else { reached }
}

/// Like [`skip_incompressible`], for a match finder that needs every position. `insert` inserts a
/// position; if its second argument is true it also returns whether a match of 4 bytes begins
/// there.
pub(crate) fn skip_with(buffer: &[u8], at: usize, mut insert: impl FnMut(usize, bool) -> bool) -> usize {
    let len = buffer.len();
    let hashed_end = (len + 1).saturating_sub(MIN_MATCH);
    let mut reached = at;
    while is_incompressible(&buffer[reached..]) {
        let recheck = len.min(reached + RECHECK);
        while reached < recheck {
            let burst = reached..hashed_end.min(reached + SPACING);
            for p in burst {
                reached = p + 1;
                if insert(p, true) {
                    return reached;
                }
            }
            let next = recheck.min(reached + BURST_EVERY);
            for p in reached..next.min(hashed_end) {
                insert(p, false);
            }
            reached = next;
        }
    }
    // A rest too short for a histogram is skipped with the incompressible data before it.
    if reached > at && len - reached < SAMPLE { len } else { reached }
}

/// Returns whether position `p` has a match of 4 bytes at its newest candidate.
fn position_has_match<B: Buckets, const N: usize>(
    table: &mut PositionTable<N>,
    call: &mut RebasedBuffer<'_>,
    p: usize,
) -> bool {
    let Some(&bytes) = call.buffer[p..].first_chunk::<MIN_MATCH>() else {
        return false;
    };
    let here = call.rebased_position(p, table);
    let lowest = call.lowest().max(here.saturating_sub(MAX_DISTANCE));
    let candidate = table.newest::<B>(u32::from_le_bytes(bytes)).max(lowest);
    candidate < here && call.buffer[call.offset_of(candidate)..].starts_with(&bytes)
}

/// Inserts position `p` into the table.
fn insert<B: Buckets, const N: usize>(table: &mut PositionTable<N>, call: &mut RebasedBuffer<'_>, p: usize) {
    if let Some(&bytes) = call.buffer[p..].first_chunk() {
        let here = call.rebased_position(p, table);
        table.insert::<B>(u32::from_le_bytes(bytes), here);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::matcher::{MatchTable, Single};

    fn noise(n: usize) -> Vec<u8> {
        let mut x = 88_172_645_463_325_252u64;
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 32) as u8
        };
        (0..n).map(|_| next()).collect()
    }

    fn skipped(data: &[u8], at: usize) -> usize {
        let mut table = Box::new(MatchTable::new());
        let mut call = RebasedBuffer::begin::<Single, _>(data, &mut table);
        skip_incompressible::<Single, _>(&mut table, &mut call, at)
    }

    #[test]
    fn noise_is_incompressible_and_short_or_7_bit_data_is_not() {
        let noise = noise(SAMPLE);
        assert!(is_incompressible(&noise));
        assert!(!is_incompressible(&noise[1..]), "shorter than the histogram");
        assert!(!is_incompressible(&noise.iter().map(|b| b & 0x7f).collect::<Vec<_>>()));
        assert!(!is_incompressible(&[0; SAMPLE]));
    }

    #[test]
    fn noise_is_skipped_to_its_end() {
        let noise = noise(if cfg!(miri) { 3_000 } else { 100_000 });
        assert_eq!(skipped(&noise, 1), noise.len());
        assert_eq!(skipped(&noise[..300], 1), 1, "shorter than the histogram");
    }

    #[test]
    fn repeat_in_noise_and_text_after_noise_end_the_skip() {
        let mut data = noise(10_000);
        data.extend_from_within(3_000..3_600);
        let found = skipped(&data, 1);
        assert!((10_000..10_600).contains(&found), "{found}");

        let mut data = noise(10_000);
        data.extend(b"plain text. ".repeat(2_000));
        let found = skipped(&data, 1);
        assert!(found < 10_000 + RECHECK, "{found}");
    }
}

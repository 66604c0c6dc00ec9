//! Passing over data that has neither matches nor skewed byte counts: encrypted, compressed, noise.
//!
//! The match loops stop at a run of [`LONG_RUN`] literals. If what follows is [flat](is_flat), it is
//! left to stored blocks unseen but for a look now and then, which costs a fraction of coding it
//! and still finds repeats of a few hundred bytes.

use super::matcher::{Buckets, MAX_DISTANCE, MIN_MATCH, Positions};
use super::segment::Numbered;

/// Literals without a match after which a match loop asks whether to go on.
pub(crate) const LONG_RUN: usize = 512;
/// Bytes that decide whether data is flat.
const SAMPLE: usize = 512;
/// How often data passed over is asked again.
const RECHECK: usize = 4096;
/// Distance of the positions entered, and number of neighbours looked up.
const SPACING: usize = 16;
/// How often neighbours are looked up.
const BURST_EVERY: usize = 512;

/// Whether the first 512 bytes of `data` occur so evenly that coding them would gain less than about 3 %.
///
/// Random bytes collide with probability 1/256: the squared counts of 512 come to about 1,536 with
/// a deviation of 45. 1,750 stands for a collision entropy of 7.7 bits a byte, and Shannon's, which
/// bounds what codes can gain, is no lower.
pub(crate) fn is_flat(data: &[u8]) -> bool {
    let Some(sample) = data.first_chunk::<SAMPLE>() else {
        return false;
    };
    let mut counts = [0u16; 256];
    for &byte in sample {
        counts[usize::from(byte)] += 1;
    }
    counts.iter().map(|&c| u32::from(c) * u32::from(c)).sum::<u32>() < 1_750
}

/// The run of literals that a match loop is in.
pub(crate) struct Run {
    /// Where it began.
    pub(super) start: usize,
    /// Up to here it is known not to be flat.
    pub(super) checked: usize,
}

impl Run {
    /// A run that begins at position `at`.
    pub(crate) fn new(at: usize) -> Self {
        Run { start: at, checked: at }
    }

    /// Whether the run has become long at position `at` and what follows there is flat.
    pub(super) fn ends_in_flat(&mut self, buffer: &[u8], at: usize) -> bool {
        if at - self.start <= LONG_RUN || at <= self.checked {
            return false;
        }
        self.checked = at + LONG_RUN;
        is_flat(&buffer[at..])
    }
}

/// The position up to which nothing from `at` on is worth coding; `at` itself if it may be.
///
/// Every 16th position is entered into the table, and in every 512 bytes 16 neighbours are looked
/// up, so a repeat of some 550 bytes is not missed.
pub(crate) fn pass_over<B: Buckets, const N: usize>(
    table: &mut Positions<N>,
    call: &mut Numbered<'_>,
    at: usize,
) -> usize {
    let len = call.buffer.len();
    let mut reached = at;
    while is_flat(&call.buffer[reached..]) {
        let recheck = len.min(reached + RECHECK);
        while reached < recheck {
            let burst = reached..len.min(reached + SPACING);
            if let Some(found) = burst.into_iter().find(|&p| has_match::<B, N>(table, call, p)) {
                return found;
            }
            let next = recheck.min(reached + BURST_EVERY);
            (reached..next).step_by(SPACING).for_each(|p| enter::<B, N>(table, call, p));
            reached = next;
        }
    }
    // What is left of flat data and too short for a sample goes the same way.
    if reached > at && len - reached < SAMPLE { len } else { reached }
}

/// Whether the 4 bytes at position `p` occurred where the table says.
fn has_match<B: Buckets, const N: usize>(
    table: &mut Positions<N>,
    call: &mut Numbered<'_>,
    p: usize,
) -> bool {
    let Some(&bytes) = call.buffer[p..].first_chunk::<MIN_MATCH>() else {
        return false;
    };
    let here = call.number(p, table);
    let lowest = call.lowest().max(here.saturating_sub(MAX_DISTANCE));
    let candidate = table.newest::<B>(u32::from_le_bytes(bytes)).max(lowest);
    candidate < here && call.buffer[call.position(candidate)..].starts_with(&bytes)
}

/// Enters position `p` into the table.
fn enter<B: Buckets, const N: usize>(table: &mut Positions<N>, call: &mut Numbered<'_>, p: usize) {
    if let Some(&bytes) = call.buffer[p..].first_chunk() {
        let here = call.number(p, table);
        table.enter::<B>(u32::from_le_bytes(bytes), here);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::matcher::{Single, Table};

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

    fn passed_over(data: &[u8], at: usize) -> usize {
        let mut table = Box::new(Table::new());
        let mut call = Numbered::begin(data, &mut table);
        pass_over::<Single, _>(&mut table, &mut call, at)
    }

    #[test]
    fn noise_is_flat_and_text_or_base64_is_not() {
        let noise = noise(SAMPLE);
        assert!(is_flat(&noise));
        assert!(!is_flat(&noise[1..]), "too short to tell");
        assert!(!is_flat(&noise.iter().map(|b| b & 0x7f).collect::<Vec<_>>()));
        assert!(!is_flat(&[0; SAMPLE]));
    }

    #[test]
    fn noise_is_passed_over_to_its_end() {
        let noise = noise(100_000);
        assert_eq!(passed_over(&noise, 1), noise.len());
        assert_eq!(passed_over(&noise[..300], 1), 1, "too short to tell");
    }

    #[test]
    fn a_repeat_in_noise_and_text_after_it_are_found() {
        let mut data = noise(10_000);
        data.extend_from_within(3_000..3_600);
        let found = passed_over(&data, 1);
        assert!((10_000..10_600).contains(&found), "{found}");

        let mut data = noise(10_000);
        data.extend(b"plain text. ".repeat(2_000));
        let found = passed_over(&data, 1);
        assert!(found < 10_000 + RECHECK, "{found}");
    }
}

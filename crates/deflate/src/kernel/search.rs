//! The search for matches that all levels share: four positions per look, one branch for them all.
//!
//! Two things bound a greedy search: mispredicted branches, and the chain of dependent steps from
//! one match to the next (load, hash, slot, candidate, compare, length, next position), some 40
//! cycles of latency during which little else can start. So four neighbouring positions are
//! looked up together, whether any of them has a match is one branch, and which of them to take
//! is arithmetic on a packed score. Compares are 16 bytes wide: wider ones cross cache lines more
//! often than they spare a branch.

use super::isa::{Isa, read32, read64};
use super::matcher::{MAX_DISTANCE, MAX_MATCH, MIN_MATCH};

/// Bytes that a [`Look`] may read from its first position on.
pub(crate) const LOOKAHEAD: usize = 4 + 16;
/// Positions per look.
pub(crate) const LANES: usize = 4;
/// A run of literals this long makes the search skip; it grows faster the longer the run.
pub(crate) const RUN: usize = 64;

/// Which slot of a table of 2^`bits` the 4 bytes of `word` belong to.
#[inline(always)]
pub(crate) fn hash(word: u32, bits: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1) >> (32 - bits)) as usize
}

/// Four positions and their candidates, as position numbers.
pub(crate) struct Look {
    /// The 8 bytes at the first position.
    pub(crate) word: u64,
    candidates: [usize; LANES],
    any: bool,
}

/// The match chosen from a [`Look`].
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// Literals before it: 0 to 3.
    pub(crate) lane: usize,
    pub(crate) length: usize,
    pub(crate) distance: usize,
    /// The number of the position behind it.
    pub(crate) next: usize,
}

impl Look {
    /// Looks up the positions `here` to `here + 3` in `slots`, a table of 2^`BITS`, and enters them.
    ///
    /// # Safety
    /// `origin + n` must be readable for all numbers n from `lowest` to `here + LOOKAHEAD`;
    /// `slots` must have 2^`BITS` entries; `lowest` must be below `here`.
    #[inline(always)]
    pub(crate) unsafe fn new<const BITS: u32>(
        slots: &mut [u16],
        origin: *const u8,
        here: usize,
        lowest: usize,
    ) -> Self {
        let low = lowest.max(here.saturating_sub(MAX_DISTANCE - (LANES - 1)));
        let mut candidates = [0; LANES];
        let mut hits = 0;
        // SAFETY: a hash is below 2^BITS; candidates are clamped to `low..here + 4`.
        unsafe {
            let word = read64(origin.wrapping_add(here));
            for (lane, candidate) in candidates.iter_mut().enumerate() {
                let slot = slots.get_unchecked_mut(hash((word >> (8 * lane)) as u32, BITS));
                *candidate = usize::from(*slot).max(low);
                *slot = (here + lane) as u16;
            }
            for (lane, candidate) in candidates.iter().enumerate() {
                let bytes = read32(origin.wrapping_add(*candidate));
                hits |= u32::from(bytes == (word >> (8 * lane)) as u32) << lane;
            }
            Look { word, candidates, any: opaque(hits) != 0 }
        }
    }

    /// Whether any of the four has a match. The one branch that nobody can predict well.
    #[inline(always)]
    pub(crate) fn any(&self) -> bool {
        self.any
    }

    /// The literal at lane `i`, 0 to 3.
    #[inline(always)]
    pub(crate) fn literal(&self, i: usize) -> u32 {
        (self.word >> (8 * i)) as u32 & 0xff
    }

    /// The longest match of the four, the first among equals. There must be one.
    ///
    /// # Safety
    /// As [`new`](Self::new), for the same `origin` and `here`, up to the number `end`; the CPU must
    /// support the tier that `I` is for.
    #[inline(always)]
    pub(crate) unsafe fn best<I: Isa>(&self, origin: *const u8, here: usize, end: usize) -> Found {
        // length << 16 | (3 - lane) << 8 | length + lane: the greatest wins, and how far to go on
        // is its low byte. A lane without a match has a length below 4 and cannot win.
        let score = |lane: usize| {
            let position = origin.wrapping_add(here + lane);
            // SAFETY: 16 bytes from `here + 3` are within the lookahead.
            let length = unsafe { I::common16(position, origin.wrapping_add(self.candidates[lane])) };
            let length = opaque(length as u32);
            (length << 16) + length + ((3 - lane as u32) << 8 | lane as u32)
        };
        let best = score(0).max(score(1)).max(score(2).max(score(3)));
        let lane = 3 - (best >> 8 & 3) as usize;
        let mut length = (best >> 16) as usize;
        let mut next = here + (best & 0xff) as usize;
        let distance = here + lane - self.candidates[lane];
        if length == 16 {
            // SAFETY: as the caller vouches.
            length = unsafe { extend(origin, here + lane, distance, end, 16) };
            next = here + lane + length;
        }
        Found { lane, length, distance, next }
    }
}

/// Length of the match at number `at` with `distance`, `length` bytes of which are known to agree.
///
/// # Safety
/// `origin + n` must be readable for n from `at - distance` up to `end`.
#[inline(always)]
pub(crate) unsafe fn extend(
    origin: *const u8,
    at: usize,
    distance: usize,
    end: usize,
    mut length: usize,
) -> usize {
    let most = MAX_MATCH.min(end - at);
    let byte = |n: usize| origin.wrapping_add(n);
    // SAFETY: reads stay below `at + most <= end`.
    unsafe {
        while length + 8 <= most {
            let differ = read64(byte(at + length)) ^ read64(byte(at + length - distance));
            if differ != 0 {
                return length + (differ.trailing_zeros() / 8) as usize;
            }
            length += 8;
        }
        while length < most && *byte(at + length) == *byte(at + length - distance) {
            length += 1;
        }
    }
    length
}

/// Looks up one position near the end of the input, reading nothing at or past `end`; length 0
/// without a match.
///
/// # Safety
/// `origin + n` must be readable for n from `lowest` up to `end`; `here` must be between.
#[inline(always)]
pub(crate) unsafe fn look_once<const BITS: u32>(
    slots: &mut [u16],
    origin: *const u8,
    here: usize,
    lowest: usize,
    end: usize,
) -> Found {
    let none = Found { lane: 0, length: 0, distance: 0, next: here + 1 };
    if here + MIN_MATCH > end {
        return none;
    }
    // SAFETY: 4 bytes from `here` end at `end` at the latest; the candidate is clamped as in `Look`.
    unsafe {
        let word = read32(origin.wrapping_add(here));
        let slot = &mut slots[hash(word, BITS)];
        let candidate = usize::from(*slot).max(lowest).max(here.saturating_sub(MAX_DISTANCE));
        *slot = here as u16;
        if read32(origin.wrapping_add(candidate)) != word {
            return none;
        }
        let distance = here - candidate;
        let length = extend(origin, here, distance, end, MIN_MATCH);
        Found { lane: 0, length, distance, next: here + length }
    }
}

/// Hides from the compiler where `x` comes from.
///
/// It would otherwise take a test of four conditions apart into four branches, and four scalar
/// bit counts together into one long vector emulation; both were measured to cost 10 % and more.
#[inline(always)]
fn opaque(mut x: u32) -> u32 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction at all, only a comment.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

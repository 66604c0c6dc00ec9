//! The search for matches that all levels share: four positions per look, one branch for them all.
//!
//! Two things bound a greedy search: mispredicted branches, and the chain of dependent steps from
//! one match to the next (load, hash, slot, candidate, compare, length, next position), some 40
//! cycles of latency during which little else can start. So four neighbouring positions are
//! looked up together, whether any of them has a match is one branch, and which of them to take
//! is arithmetic on a packed score. Compares are 16 bytes wide: wider ones cross cache lines more
//! often than they spare a branch.

use core::hint::select_unpredictable;

use super::isa::{Isa, prefetch, read32, read64};
use super::matcher::{MAX_DISTANCE, MAX_MATCH, MIN_MATCH, Positions};
use super::segment::Numbered;

/// Enters the first `history` positions of a call's buffer into its table.
pub(crate) fn insert_history<const N: usize, const BITS: u32>(
    table: &mut Positions<N>,
    call: &Numbered<'_>,
    history: usize,
) {
    for (i, bytes) in call.buffer[..history].windows(MIN_MATCH).enumerate() {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        table.slots[hash(word, BITS)] = (call.lowest() + i) as u16;
    }
}

/// Bytes that a [`Look`] may read from its first position on.
pub(crate) const LOOKAHEAD: usize = 4 + 16;
/// How far ahead input is asked for: it often comes from another core or the network, and a
/// look has too little to do to wait for memory.
const AHEAD: usize = 2048;
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
    word: u64,
    candidates: [usize; LANES],
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
    /// Candidates are not below `low`; see [`low`].
    ///
    /// # Safety
    /// `origin + n` must be readable for all numbers n from `low` to `here + LOOKAHEAD`; `slots`
    /// must have 2^`BITS` entries; `low` must be below `here`.
    #[inline(always)]
    pub(crate) unsafe fn new<const BITS: u32>(
        slots: &mut [u16],
        origin: *const u8,
        here: usize,
        low: usize,
    ) -> Self {
        // SAFETY: a hash is below 2^BITS.
        unsafe {
            let word = read64(origin.wrapping_add(here));
            prefetch(origin.wrapping_add(here + AHEAD));
            let mut candidates = [0; LANES];
            for (lane, candidate) in candidates.iter_mut().enumerate() {
                let slot = slots.get_unchecked_mut(hash((word >> (8 * lane)) as u32, BITS));
                *candidate = usize::from(*slot).max(low);
                *slot = (here + lane) as u16;
            }
            Look { word, candidates }
        }
    }

    /// Whether any of the four has a match. The one branch that nobody can predict well.
    ///
    /// # Safety
    /// As [`new`](Self::new), for the same `origin`.
    #[inline(always)]
    pub(crate) unsafe fn any(&self, origin: *const u8) -> bool {
        // SAFETY: as the caller vouches.
        let hit = |lane: usize| unsafe { self.hit(origin, lane) };
        opaque(u32::from(hit(0) | hit(1) | hit(2) | hit(3))) != 0
    }

    #[inline(always)]
    unsafe fn hit(&self, origin: *const u8, lane: usize) -> bool {
        // SAFETY: candidates are from `low` to `here + 3`.
        let bytes = unsafe { read32(origin.wrapping_add(self.candidates[lane])) };
        bytes == (self.word >> (8 * lane)) as u32
    }

    /// The literal at lane `i`, 0 to 3.
    #[inline(always)]
    pub(crate) fn literal(&self, i: usize) -> u32 {
        (self.word >> (8 * i)) as u32 & 0xff
    }

    /// The first match of the four. There must be one.
    ///
    /// # Safety
    /// As [`best`](Self::best).
    #[inline(always)]
    pub(crate) unsafe fn first<I: Isa>(&self, origin: *const u8, here: usize, end: usize) -> Found {
        // (lane << 16 | candidate) of each lane, chosen without a branch.
        let lane = |i: usize| (i << 16) + self.candidates[i];
        // SAFETY: as the caller vouches.
        let hit = |i: usize| unsafe { self.hit(origin, i) };
        let chosen = select_unpredictable(hit(2), lane(2), lane(3));
        let chosen = select_unpredictable(hit(1), lane(1), chosen);
        let chosen = select_unpredictable(hit(0), lane(0), chosen);
        let (lane, candidate) = (chosen >> 16, chosen & 0xffff);
        let at = here + lane;
        // SAFETY: 16 bytes from `here + 3` are within the lookahead.
        let mut length = unsafe { I::common16(origin.wrapping_add(at), origin.wrapping_add(candidate)) };
        let distance = at - candidate;
        if length == 16 {
            // SAFETY: as the caller vouches.
            length = unsafe { extend_long(origin, at, distance, end) };
        }
        Found { lane, length, distance, next: at + length }
    }

    /// The longest match of the four, the first among equals. There must be one.
    ///
    /// # Safety
    /// As [`new`](Self::new), for the same `origin` and `here`, up to the number `end`; the CPU must
    /// support the tier that `I` is for.
    #[inline(always)]
    pub(crate) unsafe fn best<I: Isa>(&self, origin: *const u8, here: usize, end: usize) -> Found {
        // length << 32 | (3 - lane) << 16 | candidate: the greatest has the longest match and, among
        // equals, comes first. A lane without a match has a length below 4 and cannot win.
        let score = |lane: usize| {
            let position = origin.wrapping_add(here + lane);
            // SAFETY: 16 bytes from `here + 3` are within the lookahead.
            let length = unsafe { I::common16(position, origin.wrapping_add(self.candidates[lane])) };
            let length = u64::from(opaque(length as u32));
            (length << 32) + (((3 - lane) << 16) + self.candidates[lane]) as u64
        };
        let best = score(0).max(score(1)).max(score(2).max(score(3)));
        let mut length = (best >> 32) as usize;
        let lane = 3 - (best as u32 >> 16) as usize;
        let at = here + lane;
        let distance = at - usize::from(best as u16);
        if length == 16 {
            // SAFETY: as the caller vouches.
            length = unsafe { extend_long(origin, at, distance, end) };
        }
        Found { lane, length, distance, next: at + length }
    }
}

/// Whether position numbers from `here` on can be further than deflate's window from `lowest`.
///
/// Until then the lowest number a candidate may have is a constant, which is worth a loop of its
/// own: most calls are shorter than the window.
pub(crate) fn is_far(here: usize, lowest: usize) -> bool {
    here > lowest + REACH
}

/// How far back from the first position of a look its last may refer.
pub(crate) const REACH: usize = MAX_DISTANCE - (LANES - 1);

/// The lowest candidate for a look at `here`.
#[inline(always)]
pub(crate) fn low<const FAR: bool>(here: usize, lowest: usize) -> usize {
    if FAR { here - REACH } else { lowest }
}

/// Length of the match at number `at` with `distance`, 16 bytes of which are known to agree.
///
/// # Safety
/// As [`extend`]; the CPU must support the tier that `I` is for.
#[inline(never)]
unsafe fn extend_long(origin: *const u8, at: usize, distance: usize, end: usize) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { extend(origin, at, distance, end, 16) }
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

/// Enters a position 2 before the end of a match, `next`: the one inside that pays for itself.
///
/// # Safety
/// As [`Look::new`], with `next` at most `end`.
#[inline(always)]
pub(crate) unsafe fn enter_inside<const BITS: u32>(
    slots: &mut [u16],
    origin: *const u8,
    next: usize,
    end: usize,
) {
    // A match may end with the input: 4 bytes must be left to read.
    let inside = (next - 2).min(end - MIN_MATCH);
    // SAFETY: as the caller vouches; a hash is below 2^BITS.
    unsafe {
        let word = read32(origin.wrapping_add(inside));
        *slots.get_unchecked_mut(hash(word, BITS)) = inside as u16;
    }
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

/// As [`opaque`], for a value that is to stay in a register instead of being derived again.
#[inline(always)]
pub(crate) fn hold(mut x: usize) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction at all, only a comment.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
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

//! The search for matches that all levels share: four positions per look, one branch for them all.
//!
//! Two things bound a greedy search: mispredicted branches, and the chain of dependent steps from
//! one match to the next (load, hash, slot, candidate, compare, length, next position), some 40
//! cycles of latency during which little else can start. So four neighbouring positions are
//! looked up together, whether any of them has a match is one branch, and which of them to take
//! is arithmetic on a packed score. Compares are 16 bytes wide: wider ones cross cache lines more
//! often than they spare a branch.

use core::marker::PhantomData;

use linerate_core::prefetch_line;

use super::isa::{Isa, read32, read64};
use super::matcher::{Buckets, MAX_DISTANCE, MAX_MATCH, MIN_MATCH, Positions};
use super::segment::Numbered;

/// Enters the first `history` positions of a call's buffer into its table.
pub(crate) fn insert_history<B: Buckets, const N: usize>(
    table: &mut Positions<N>,
    call: &Numbered<'_>,
    history: usize,
) {
    for (i, bytes) in call.buffer[..history].windows(MIN_MATCH).enumerate() {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        table.enter::<B>(word, call.lowest() + i);
    }
}

/// Enters the first position of a call, which has nothing before it: from then on every position
/// has a candidate to be clamped to.
pub(crate) fn enter_first<B: Buckets, const N: usize>(table: &mut Positions<N>, call: &mut Numbered<'_>) {
    if let Some(&bytes) = call.buffer.first_chunk() {
        let number = call.number(0, table);
        table.enter::<B>(u32::from_le_bytes(bytes), number);
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

/// Four positions and their candidates, as position numbers.
pub(crate) struct Look<B: Buckets> {
    /// The 8 bytes at the first position.
    word: u64,
    /// The newest candidate of each.
    candidates: [usize; LANES],
    /// The one before, if there are two ways.
    older: [usize; LANES],
    buckets: PhantomData<B>,
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

impl<B: Buckets> Look<B> {
    /// Looks up the positions `here` to `here + 3` in `slots`, and enters them. Candidates are not
    /// below `low`; see [`low`].
    ///
    /// # Safety
    /// `origin + n` must be readable for all numbers n from `low` to `here + LOOKAHEAD`; `slots`
    /// must have all buckets of `B`; `low` must be below `here`.
    #[inline(always)]
    pub(crate) unsafe fn new(slots: &mut [u16], origin: *const u8, here: usize, low: usize) -> Self {
        let (mut candidates, mut older) = ([0; LANES], [0; LANES]);
        // SAFETY: as the caller vouches.
        unsafe {
            let word = read64(origin.wrapping_add(here));
            prefetch_line(origin.wrapping_add(here + AHEAD) as usize);
            for lane in 0..LANES {
                let bucket = B::bucket((word >> (8 * lane)) as u32);
                candidates[lane] = usize::from(*slots.get_unchecked(bucket)).max(low);
                if B::WAYS == 2 {
                    older[lane] = usize::from(*slots.get_unchecked(bucket + 1)).max(low);
                }
                B::enter(slots, bucket, here + lane);
            }
            Look { word, candidates, older, buckets: PhantomData }
        }
    }

    /// Whether any of the four has a match. The one branch that nobody can predict well.
    ///
    /// # Safety
    /// As [`new`](Self::new), for the same `origin`.
    #[inline(always)]
    pub(crate) unsafe fn any(&self, origin: *const u8) -> bool {
        let hit = |candidates: &[usize; LANES], lane: usize| {
            // SAFETY: candidates are from `low` to `here + 3`.
            let bytes = unsafe { read32(origin.wrapping_add(candidates[lane])) };
            bytes == (self.word >> (8 * lane)) as u32
        };
        let hits = |c: &[usize; LANES]| hit(c, 0) | hit(c, 1) | hit(c, 2) | hit(c, 3);
        let any =
            if B::WAYS == 2 { hits(&self.candidates) | hits(&self.older) } else { hits(&self.candidates) };
        opaque(u32::from(any)) != 0
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
        // length << 32 | (3 - lane) << 16 | candidate: the greatest has the longest match and, among
        // equals, comes first and is nearest. A lane without a match has a length below 4 and
        // cannot win.
        let score = |candidates: &[usize; LANES], lane: usize| {
            let position = origin.wrapping_add(here + lane);
            // SAFETY: 16 bytes from `here + 3` are within the lookahead.
            let length = unsafe { I::common16(position, origin.wrapping_add(candidates[lane])) };
            let length = u64::from(opaque(length as u32));
            (length << 32) + (((3 - lane) << 16) + candidates[lane]) as u64
        };
        let scores = |c: &[usize; LANES]| score(c, 0).max(score(c, 1)).max(score(c, 2).max(score(c, 3)));
        let newest = scores(&self.candidates);
        let best = if B::WAYS == 2 { newest.max(scores(&self.older)) } else { newest };
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

/// Enters the position 2 before the end of a match, `next`: the one inside that pays for itself. The
/// thorough also enter those 3 and 1 before.
///
/// # Safety
/// As [`Look::new`], with `next` at most `end`.
#[inline(always)]
pub(crate) unsafe fn enter_inside<B: Buckets>(slots: &mut [u16], origin: *const u8, next: usize, end: usize) {
    let mut enter = |inside: usize| {
        // A match may end with the input: 4 bytes must be left to read.
        let inside = inside.min(end - MIN_MATCH);
        // SAFETY: as the caller vouches.
        unsafe { B::enter(slots, B::bucket(read32(origin.wrapping_add(inside))), inside) };
    };
    if B::THOROUGH {
        enter(next - 3);
    }
    enter(next - 2);
    if B::THOROUGH {
        enter(next - 1);
    }
}

/// Looks up one position near the end of the input, reading nothing at or past `end`; length 0
/// without a match.
///
/// # Safety
/// `origin + n` must be readable for n from `lowest` up to `end`; `here` must be between; `slots`
/// must have all buckets of `B`.
#[inline(always)]
pub(crate) unsafe fn look_once<B: Buckets>(
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
        let bucket = B::bucket(word);
        let candidate = usize::from(slots[bucket]).max(lowest).max(here.saturating_sub(MAX_DISTANCE));
        B::enter(slots, bucket, here);
        if candidate >= here || read32(origin.wrapping_add(candidate)) != word {
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
fn opaque(x: u32) -> u32 {
    hold(x as usize) as u32
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

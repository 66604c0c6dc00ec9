//! The match search of levels 1 to 3: four positions per probe, with one branch for all of them.
//!
//! Two things bound a greedy search: mispredicted branches, and the chain of dependent steps from
//! one match to the next (load, hash, slot, candidate, compare, length, next position), about 40
//! cycles of latency during which little else can start. So four neighbouring positions are looked
//! up together, one branch tests whether any of them has a match, and arithmetic on a packed score
//! chooses among them. Compares are 16 bytes wide: wider ones cross cache lines more often than
//! they save a branch.

use core::marker::PhantomData;

use linerate_core::prefetch_line;

use super::isa::{Isa, read32, read64};
use super::matcher::{Buckets, MAX_DISTANCE, MAX_MATCH, MIN_MATCH, PositionTable};
use super::rebased::RebasedBuffer;

/// Inserts the first `history` positions of a call's buffer into its table.
pub(crate) fn insert_history<B: Buckets, const N: usize>(
    table: &mut PositionTable<N>,
    call: &RebasedBuffer<'_>,
    history: usize,
) {
    for (i, bytes) in call.buffer[..history].windows(MIN_MATCH).enumerate() {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        table.insert::<B>(word, call.lowest() + i);
    }
}

/// Inserts the first position of a call, so that every later position has a candidate.
pub(crate) fn insert_first<B: Buckets, const N: usize>(
    table: &mut PositionTable<N>,
    call: &mut RebasedBuffer<'_>,
) {
    if let Some(&bytes) = call.buffer.first_chunk() {
        let number = call.rebased_position(0, table);
        table.insert::<B>(u32::from_le_bytes(bytes), number);
    }
}

/// Number of bytes that a [`Probe`] may read from its first position.
pub(crate) const LOOKAHEAD: usize = 4 + 16;
/// Distance in bytes by which input is prefetched. Input often comes from another core or the
/// network, and a probe is too short to hide a cache miss.
const PREFETCH_DISTANCE: usize = 2048;
/// Number of positions per probe.
pub(crate) const PROBE_WIDTH: usize = 4;
/// Length of a literal run after which the search skips positions: the longer the run, the more.
pub(crate) const SKIP_AFTER: usize = 64;

/// Four neighbouring positions and their candidates, as rebased positions.
pub(crate) struct Probe<B: Buckets> {
    /// The 4 bytes at each position.
    words: [u32; PROBE_WIDTH],
    /// The newest candidate of each position.
    candidates: [usize; PROBE_WIDTH],
    /// The older candidate of each position, if buckets hold two.
    older: [usize; PROBE_WIDTH],
    buckets: PhantomData<B>,
}

/// A match.
#[derive(Clone, Copy)]
pub(crate) struct Match {
    /// Number of literals between the probe's first position and the match: 0 to 3.
    pub(crate) literals_before: usize,
    pub(crate) length: usize,
    pub(crate) distance: usize,
    /// The rebased position after the match.
    pub(crate) end: usize,
}

impl<B: Buckets> Probe<B> {
    /// Probes positions `here` to `here + 3` in `slots` and inserts them. `R` clamps the
    /// candidates; `lowest` is the first position of the call.
    ///
    /// # Safety
    /// `origin + n` must be readable for all positions n from the lowest candidate to `here +
    /// LOOKAHEAD`. `slots` must have all buckets of `B`, and only positions that `R` allows.
    /// `lowest` must be below `here`.
    #[inline(always)]
    pub(crate) unsafe fn new<R: Reach>(
        slots: &mut [u16],
        origin: *const u8,
        here: usize,
        lowest: usize,
    ) -> Self {
        let (mut candidates, mut older) = ([0; PROBE_WIDTH], [0; PROBE_WIDTH]);
        // SAFETY: as the caller vouches.
        unsafe {
            // Four loads: shifting the words out of one takes more instructions on the dependency
            // chain.
            let words = [0, 1, 2, 3].map(|offset| read32(origin.wrapping_add(here + offset)));
            prefetch_line(origin.wrapping_add(here + PREFETCH_DISTANCE) as usize);
            for offset in 0..PROBE_WIDTH {
                let bucket = B::bucket(words[offset]);
                candidates[offset] = R::clamp(usize::from(*slots.get_unchecked(bucket)), here, lowest);
                if B::WAYS == 2 {
                    older[offset] = R::clamp(usize::from(*slots.get_unchecked(bucket + 1)), here, lowest);
                }
                B::insert(slots, bucket, here + offset);
            }
            Probe { words, candidates, older, buckets: PhantomData }
        }
    }

    /// Returns whether any of the four positions has a match. This is the one unpredictable branch.
    ///
    /// # Safety
    /// As for [`new`](Self::new), with the same `origin`.
    #[inline(always)]
    pub(crate) unsafe fn has_match(&self, origin: *const u8) -> bool {
        let hit = |candidates: &[usize; PROBE_WIDTH], offset: usize| {
            // SAFETY: candidates are from the lowest to `here + 3`.
            let bytes = unsafe { read32(origin.wrapping_add(candidates[offset])) };
            bytes == self.words[offset]
        };
        let hits = |c: &[usize; PROBE_WIDTH]| hit(c, 0) | hit(c, 1) | hit(c, 2) | hit(c, 3);
        let any =
            if B::WAYS == 2 { hits(&self.candidates) | hits(&self.older) } else { hits(&self.candidates) };
        opaque_bool(any)
    }

    /// Returns the literal at offset `i` of the probe, 0 to 3.
    #[inline(always)]
    pub(crate) fn literal(&self, i: usize) -> u32 {
        self.words[0] >> (8 * i) & 0xff
    }

    /// Returns the four literals, the first one lowest.
    #[inline(always)]
    pub(crate) fn literals(&self) -> u32 {
        self.words[0]
    }

    /// Returns the longest match of the four positions, and the first among equals. Matches of 16
    /// bytes or more count as equal. There must be a match.
    ///
    /// # Safety
    /// As for [`new`](Self::new), with the same `origin` and `here`, up to position `end`. The CPU
    /// must support the tier that `I` is for.
    #[inline(always)]
    pub(crate) unsafe fn best<I: Isa>(&self, origin: *const u8, here: usize, end: usize) -> Match {
        // The score is length << 32 | (3 - offset) << 16 | candidate. The greatest has the longest
        // match and, among equals, the first and nearest. An offset without a match has a length
        // below 4 and cannot win.
        let score = |candidates: &[usize; PROBE_WIDTH], offset: usize| {
            let position = origin.wrapping_add(here + offset);
            // SAFETY: the lookahead has 16 bytes from `here + 3`.
            let length = unsafe { I::common16(position, origin.wrapping_add(candidates[offset])) };
            let length = u64::from(opaque(length as u32));
            // Computed before the length is known, which takes an addition off the dependency
            // chain.
            let rest = keep_in_register(((3 - offset) << 16) + candidates[offset]);
            (length << 32) + rest as u64
        };
        let scores =
            |c: &[usize; PROBE_WIDTH]| score(c, 0).max(score(c, 1)).max(score(c, 2).max(score(c, 3)));
        let newest = scores(&self.candidates);
        let best = if B::WAYS == 2 { newest.max(scores(&self.older)) } else { newest };
        let mut length = (best >> 32) as usize;
        let before_last = (best as u32 >> 16) as usize;
        let (offset, at) = (3 - before_last, keep_in_register(here + 3) - before_last);
        let distance = at - usize::from(best as u16);
        if length == 16 {
            // SAFETY: as the caller vouches.
            length = unsafe { extend_long::<I>(origin, at, distance, end) };
        }
        Match { literals_before: offset, length, distance, end: at + length }
    }
}

/// Largest distance of a match from the first position of a probe. It is 3 less than the format's,
/// so that it is also valid for the probe's last position.
const MAX_PROBE_DISTANCE: usize = MAX_DISTANCE - (PROBE_WIDTH - 1);

/// The positions that a table may hold, and so the clamping that a candidate needs. It is a type so
/// that each case gets its own loop, because clamping is on the dependency chain from one match to
/// the next.
pub(crate) trait Reach {
    /// Clamps a candidate for a probe at `here` to what may be read and matched, in a call whose
    /// first position is `lowest`.
    fn clamp(candidate: usize, here: usize, lowest: usize) -> usize;
}

/// The table has positions of this call only, all within the window, so a candidate needs no
/// clamping. An empty slot means the first position.
pub(crate) struct Fresh;
/// The table has positions of this call, all within the window, and positions of earlier calls. A
/// candidate of an earlier call is clamped to the first position of this call.
pub(crate) struct Near;
/// The table has positions of this call at any distance, and positions of earlier calls. Any
/// candidate beyond the window is clamped to the last position within it.
pub(crate) struct Far;

impl Reach for Fresh {
    #[inline(always)]
    fn clamp(candidate: usize, _: usize, _: usize) -> usize {
        candidate
    }
}

impl Reach for Near {
    #[inline(always)]
    fn clamp(candidate: usize, _: usize, lowest: usize) -> usize {
        candidate.max(lowest)
    }
}

impl Reach for Far {
    #[inline(always)]
    fn clamp(candidate: usize, here: usize, _: usize) -> usize {
        candidate.max(here - MAX_PROBE_DISTANCE)
    }
}

/// The part of a call that one form of a match loop covers.
pub(crate) enum Stretch {
    /// The stretch ends at this position, and is searched with [`Fresh`].
    Fresh(usize),
    /// The stretch ends at this position, and is searched with [`Near`].
    Near(usize),
    /// The stretch ends with the call, and is searched with [`Far`].
    Far,
}

impl Stretch {
    /// Returns the stretch that begins at position `here` of a call.
    #[inline(always)]
    pub(crate) fn at(here: usize, call: &RebasedBuffer<'_>) -> Self {
        let lowest = call.lowest();
        let end = lowest + MAX_PROBE_DISTANCE + 1;
        if here >= end {
            Stretch::Far
        } else if call.is_alone() {
            Stretch::Fresh(end)
        } else {
            Stretch::Near(end)
        }
    }
}

/// Returns the length of the match at position `at` with `distance`, whose first 16 bytes are known
/// to match.
///
/// # Safety
/// As for [`extend`]. The CPU must support the tier that `I` is for.
#[inline(always)]
unsafe fn extend_long<I: Isa>(origin: *const u8, at: usize, distance: usize, end: usize) -> usize {
    let mut length = 16;
    // SAFETY: as the caller vouches; the next 32 bytes are before `end`.
    unsafe {
        if at + 48 <= end {
            // The end of a match is unpredictable, so one branch serves most matches instead of one
            // for each 8 bytes.
            let position = origin.wrapping_add(at + 16);
            let more = I::common32(position, position.wrapping_sub(distance));
            if more < 32 {
                return 16 + more;
            }
            length = 48;
        }
        extend_rest(origin, at, distance, end, length)
    }
}

/// Does what [`extend`] does, but is not inlined into the loop.
///
/// # Safety
/// See [`extend`].
#[inline(never)]
unsafe fn extend_rest(origin: *const u8, at: usize, distance: usize, end: usize, length: usize) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { extend(origin, at, distance, end, length) }
}

/// Returns the length of the match at position `at` with `distance`, whose first `length` bytes are
/// known to match.
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

/// Inserts the position 2 bytes before `next`, the end of a match. With [`Buckets::THOROUGH`] also
/// inserts the positions 3 bytes and 1 byte before `next`.
///
/// # Safety
/// As for [`Probe::new`], with a probe at `next`.
#[inline(always)]
pub(crate) unsafe fn insert_inside<B: Buckets>(slots: &mut [u16], origin: *const u8, next: usize) {
    // SAFETY: as the caller vouches.
    unsafe { insert_up_to::<B>(slots, origin, next, usize::MAX) };
}

/// Like [`insert_inside`], if no probe follows. The match may end with the input, so only positions
/// that have 4 bytes are inserted.
///
/// # Safety
/// As for [`Probe::new`], with `next` at most `end`.
#[cold]
#[inline(never)]
pub(crate) unsafe fn insert_inside_last<B: Buckets>(
    slots: &mut [u16],
    origin: *const u8,
    next: usize,
    end: usize,
) {
    // SAFETY: as the caller vouches.
    unsafe { insert_up_to::<B>(slots, origin, next, end - MIN_MATCH) };
}

/// Inserts positions inside a match that ends at `next`, but none after `most`.
///
/// # Safety
/// As for [`Probe::new`]. 4 bytes must be readable at `most` or at the last position inserted.
#[inline(always)]
unsafe fn insert_up_to<B: Buckets>(slots: &mut [u16], origin: *const u8, next: usize, most: usize) {
    let mut enter = |inside: usize| {
        let inside = inside.min(most);
        // SAFETY: as the caller vouches.
        unsafe { B::insert(slots, B::bucket(read32(origin.wrapping_add(inside))), inside) };
    };
    if B::THOROUGH {
        enter(next - 3);
    }
    enter(next - 2);
    if B::THOROUGH {
        enter(next - 1);
    }
}

/// Probes one position near the end of the input, without reading at `end` or past it. Without a
/// match it returns length 0.
///
/// # Safety
/// `origin + n` must be readable for n from `lowest` up to `end`, and `here` must be in this range.
/// `slots` must have all buckets of `B`.
#[inline(always)]
pub(crate) unsafe fn probe_one<B: Buckets>(
    slots: &mut [u16],
    origin: *const u8,
    here: usize,
    lowest: usize,
    end: usize,
) -> Match {
    let none = Match { literals_before: 0, length: 0, distance: 0, end: here + 1 };
    if here + MIN_MATCH > end {
        return none;
    }
    // SAFETY: 4 bytes from `here` end at `end` at the latest; the candidate is clamped as in
    // `Probe`.
    unsafe {
        let word = read32(origin.wrapping_add(here));
        let bucket = B::bucket(word);
        let candidate = usize::from(slots[bucket]).max(lowest).max(here.saturating_sub(MAX_DISTANCE));
        B::insert(slots, bucket, here);
        if candidate >= here || read32(origin.wrapping_add(candidate)) != word {
            return none;
        }
        let distance = here - candidate;
        let length = extend(origin, here, distance, end, MIN_MATCH);
        Match { literals_before: 0, length, distance, end: here + length }
    }
}

/// Hides the origin of `x` from the compiler (an optimization barrier), except under Miri, which
/// runs no assembler, and on targets other than x86-64 and ARM64.
///
/// Without it the compiler splits a test of four conditions into four branches, and merges four
/// scalar bit counts into one long vector emulation. Both were measured to cost 10 % or more.
#[inline(always)]
pub(super) fn opaque(x: u32) -> u32 {
    keep_in_register(x as usize) as u32
}

/// Like [`opaque`], for a condition.
#[inline(always)]
fn opaque_bool(x: bool) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut byte = u8::from(x);
        // SAFETY: no instruction at all, only a comment.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg_byte) byte, options(pure, nomem, nostack, preserves_flags));
        }
        byte != 0
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    {
        opaque(u32::from(x)) != 0
    }
}

/// Like [`opaque`], for a value to keep in a register instead of recomputing it.
#[inline(always)]
#[cfg_attr(
    any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))),
    expect(unused_mut, reason = "only the assembler writes it")
)]
pub(crate) fn keep_in_register(mut x: usize) -> usize {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: no instruction at all, only a comment.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

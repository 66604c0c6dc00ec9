//! Hash tables of 16-bit position numbers that need no clearing between calls.
//!
//! Numbers go on from call to call, so an entry left by an earlier call is below the number that
//! this call began with. Reading an entry therefore ends in one `max` with the lowest number that
//! may be referred to: anything older, and a cleared slot, becomes that lowest position. It is
//! inside the call's buffer, so it may be read and even matched; and it is the same whatever the
//! table held before, so calls stay isolated.
//!
//! When the 16 bits run out, between calls the table is cleared, and within a call all entries are
//! lowered by [`REBASE`], which keeps the window of 32,768 intact.

/// How a table of positions is addressed: 2^`BITS` buckets of `WAYS` positions, newest first.
pub(crate) trait Buckets {
    const BITS: u32;
    /// 1 or 2.
    const WAYS: usize;
    /// Whether three positions near the end of a match are entered, rather than one.
    const THOROUGH: bool;

    /// Where in the table the bucket of the 4 bytes of `word` begins.
    #[inline(always)]
    fn bucket(word: u32) -> usize {
        (word.wrapping_mul(0x9E37_79B1) >> (32 - Self::BITS)) as usize * Self::WAYS
    }

    /// Enters position number `n`, which is greater than all in the table, at `bucket`.
    ///
    /// # Safety
    /// `bucket` must come from [`bucket`](Self::bucket), the table have all buckets.
    #[inline(always)]
    unsafe fn enter(slots: &mut [u16], bucket: usize, n: usize) {
        // SAFETY: as the caller vouches.
        unsafe {
            if Self::WAYS == 2 {
                *slots.get_unchecked_mut(bucket + 1) = *slots.get_unchecked(bucket);
            }
            *slots.get_unchecked_mut(bucket) = n as u16;
        }
    }
}

/// The buckets of level 1: 16 KiB, which leaves most of a first-level cache to the data.
pub(crate) struct Small;
/// The buckets of level 2.
pub(crate) struct Single;
/// The buckets of level 3: a second candidate gains more than anything else of its cost.
pub(crate) struct Double;

impl Buckets for Small {
    const BITS: u32 = 13;
    const WAYS: usize = 1;
    const THOROUGH: bool = false;
}

impl Buckets for Single {
    const BITS: u32 = 14;
    const WAYS: usize = 1;
    const THOROUGH: bool = false;
}

impl Buckets for Double {
    const BITS: u32 = 14;
    const WAYS: usize = 2;
    const THOROUGH: bool = true;
}

/// No position is given a number above this; the margin lets a loop run over a little.
pub(crate) const LAST_NUMBER: u32 = 65_535 - 512;
/// By how much numbers are lowered in a call that runs out of them: what is left of the numbers,
/// `LAST_NUMBER - REBASE`, must exceed the window.
pub(crate) const REBASE: u32 = 31_744;
const _: () = assert!(LAST_NUMBER - REBASE > MAX_DISTANCE as u32 + 256);

/// Furthest back that deflate can refer.
pub(crate) const MAX_DISTANCE: usize = 32_768;
pub(crate) const MIN_MATCH: usize = 4;
pub(crate) const MAX_MATCH: usize = 258;

/// A table of `N` position numbers.
pub(crate) struct Positions<const N: usize> {
    pub(crate) slots: [u16; N],
    /// The number that the first position of the next call gets; 0 means that all is new.
    next: u32,
}

/// Serves levels 2 and 3.
pub(crate) type Table = Positions<{ Double::WAYS << Double::BITS }>;
pub(crate) type FastTable = Positions<{ 1 << Small::BITS }>;

impl<const N: usize> Positions<N> {
    pub(crate) const fn new() -> Self {
        Positions { slots: [0; N], next: 0 }
    }

    /// Begins a call over `len` bytes; returns the number of its first position, at least 1.
    pub(crate) fn begin(&mut self, len: usize) -> u32 {
        if len > LAST_NUMBER as usize - self.next.max(1) as usize {
            if self.next != 0 {
                self.slots.fill(0);
            }
            self.next = 1;
        }
        let first = self.next.max(1);
        self.next = (first as usize).saturating_add(len).min(LAST_NUMBER as usize) as u32;
        first
    }

    /// Lowers every number by [`REBASE`], those below to 0.
    ///
    /// Never inlined: its vector constants would occupy registers throughout a match loop.
    #[cold]
    #[inline(never)]
    pub(crate) fn rebase(&mut self) {
        for slot in &mut self.slots {
            *slot = slot.saturating_sub(REBASE as u16);
        }
    }

    /// Enters number `n` for the 4 bytes of `word`.
    pub(crate) fn enter<B: Buckets>(&mut self, word: u32, n: usize) {
        const { assert!(N >= B::WAYS << B::BITS) };
        // SAFETY: the table has all buckets.
        unsafe { B::enter(&mut self.slots, B::bucket(word), n) };
    }

    /// The newest number for the 4 bytes of `word`.
    pub(crate) fn newest<B: Buckets>(&self, word: u32) -> usize {
        usize::from(self.slots[B::bucket(word)])
    }
}

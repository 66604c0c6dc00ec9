//! The match finder of levels 1 to 3: hash tables of 16-bit rebased positions, which are not
//! cleared between short calls.
//!
//! Rebased positions continue from call to call, so an entry of an earlier call is below the first
//! position of this call. Reading an entry therefore takes one `max` with the lowest position in
//! reach, which replaces older entries and empty slots. That position is inside the call's buffer,
//! so it can be read and even matched, and it does not depend on earlier calls, so calls stay
//! isolated.
//!
//! Longer calls begin with an empty table and position 0. That saves the `max` for the first 32
//! KiB, because an empty slot already is the lowest position. Calls that would overflow 16 bits
//! begin in the same way. If positions overflow within a call, all entries are lowered by
//! [`REBASE`], which keeps the window of 32,768 bytes intact.

/// The geometry of a hash table: 2^`BITS` buckets of `WAYS` positions, newest first.
pub(crate) trait Buckets {
    const BITS: u32;
    /// Number of positions in a bucket: 1 or 2.
    const WAYS: usize;
    /// Whether three positions near the end of a match are inserted rather than one, and data with
    /// few matches is parsed again for matches of 3 bytes.
    const THOROUGH: bool;
    /// Number of slots of a table with these buckets.
    const SLOTS: usize = Self::WAYS << Self::BITS;

    /// Returns the index of the first slot of the bucket for the 4 bytes of `word`.
    #[inline(always)]
    fn bucket(word: u32) -> usize {
        (word.wrapping_mul(0x9E37_79B1) >> (32 - Self::BITS)) as usize * Self::WAYS
    }

    /// Inserts rebased position `n`, which is greater than all positions in the table, at `bucket`.
    ///
    /// # Safety
    /// `bucket` must come from [`bucket`](Self::bucket), and the table must have all buckets.
    #[inline(always)]
    unsafe fn insert(slots: &mut [u16], bucket: usize, n: usize) {
        // SAFETY: as the caller vouches.
        unsafe {
            if Self::WAYS == 2 {
                *slots.get_unchecked_mut(bucket + 1) = *slots.get_unchecked(bucket);
            }
            *slots.get_unchecked_mut(bucket) = n as u16;
        }
    }
}

/// The buckets of level 1 and of short calls at level 2. Their 16 KiB leave most of the L1 cache to
/// the data.
pub(crate) struct Small;
/// The buckets of level 2.
pub(crate) struct Single;
/// The buckets of level 3. A second candidate saves more than anything else of equal cost.
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

/// Largest rebased position at the beginning of a probe. The margin lets a loop overrun slightly.
pub(crate) const MAX_REBASED: u32 = 65_535 - 512;
/// Amount by which a rebase lowers all positions. The rest, `MAX_REBASED - REBASE`, must exceed the
/// window.
pub(crate) const REBASE: u32 = 31_744;
const _: () = assert!(MAX_REBASED - REBASE > MAX_DISTANCE as u32 + 256);
/// Maximum number of slots cleared per byte of a call, so that its loop need not clamp candidates.
const CLEARED_PER_BYTE: usize = 16;

/// Largest distance of a deflate match.
pub(crate) const MAX_DISTANCE: usize = 32_768;
pub(crate) const MIN_MATCH: usize = 4;
pub(crate) const MAX_MATCH: usize = 258;

/// A hash table of `N` rebased positions.
pub(crate) struct PositionTable<const N: usize> {
    pub(crate) slots: [u16; N],
    /// Rebased position of the first byte of the next call; 0 for an empty table.
    next: u32,
    /// Number of slots, from the first, that calls since the last clearing may have written.
    used: usize,
}

/// The table of levels 2 and 3.
pub(crate) type MatchTable = PositionTable<{ Double::SLOTS }>;
pub(crate) type FastTable = PositionTable<{ Small::SLOTS }>;

impl<const N: usize> PositionTable<N> {
    pub(crate) const fn new() -> Self {
        PositionTable { slots: [0; N], next: 0, used: 0 }
    }

    /// Begins a call over `len` bytes with buckets of `B`. Returns the rebased position of its
    /// first byte, which is 0 if the table is empty.
    pub(crate) fn begin<B: Buckets>(&mut self, len: usize) -> u32 {
        const { assert!(N >= B::SLOTS) };
        let room = (MAX_REBASED - self.next) as usize;
        if len > room.min(B::SLOTS / CLEARED_PER_BYTE) {
            self.slots[..self.used].fill(0);
            (self.next, self.used) = (0, 0);
        }
        self.used = self.used.max(B::SLOTS);
        let first = self.next;
        self.next = (first as usize).saturating_add(len).min(MAX_REBASED as usize) as u32;
        first
    }

    /// Lowers every entry by [`REBASE`], saturating at 0.
    ///
    /// Not inlined, because its vector constants would occupy registers throughout a match loop.
    #[cold]
    #[inline(never)]
    pub(crate) fn rebase(&mut self) {
        for slot in &mut self.slots {
            *slot = slot.saturating_sub(REBASE as u16);
        }
    }

    /// Inserts rebased position `n` for the 4 bytes of `word`.
    pub(crate) fn insert<B: Buckets>(&mut self, word: u32, n: usize) {
        const { assert!(N >= B::SLOTS) };
        // SAFETY: the table has all buckets.
        unsafe { B::insert(&mut self.slots, B::bucket(word), n) };
    }

    /// Returns the newest candidate for the 4 bytes of `word`.
    pub(crate) fn newest<B: Buckets>(&self, word: u32) -> usize {
        usize::from(self.slots[B::bucket(word)])
    }
}

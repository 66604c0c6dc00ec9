//! Hash tables of 16-bit positions that never need clearing between calls.
//!
//! Positions are numbered on from call to call. An entry left by an earlier call is smaller than
//! the number this call began with, so its distance comes out greater than the current position
//! within the call and the one range check that every candidate needs rejects it. Only when the
//! 16 bits run out, once in 64 KiB of input, is the table cleared.
//!
//! Inside a long call the numbers wrap. An entry 65,536 + d back then looks like one d back; that
//! is harmless, because the bytes are compared, and cannot depend on earlier calls, because such
//! a call always begins with a cleared table.

/// log2 of the entries of [`Table`] and [`FastTable`].
pub(crate) const TABLE_BITS: u32 = 14;
pub(crate) const FAST_BITS: u32 = 13;

/// Furthest back that deflate can refer.
pub(crate) const MAX_DISTANCE: usize = 32_768;
pub(crate) const MIN_MATCH: usize = 4;
pub(crate) const MAX_MATCH: usize = 258;

/// A table of 2^`BITS` positions, `N` being that number.
pub(crate) struct Positions<const N: usize> {
    pub(super) slots: [u16; N],
    /// The number that the first position of the next call gets; 0 means that all is new.
    next: u32,
}

pub(crate) type Table = Positions<{ 1 << TABLE_BITS }>;
pub(crate) type FastTable = Positions<{ 1 << FAST_BITS }>;

impl<const N: usize> Positions<N> {
    pub(crate) const fn new() -> Self {
        Positions { slots: [0; N], next: 0 }
    }

    /// Begins a call over `len` bytes; returns the number of its first position, never 0.
    pub(crate) fn begin(&mut self, len: usize) -> u16 {
        if len > 65_535 - self.next.max(1) as usize {
            if self.next != 0 {
                self.slots.fill(0);
            }
            self.next = 1;
        }
        let first = self.next.max(1);
        self.next = (first as usize).saturating_add(len).min(65_535) as u32;
        first as u16
    }
}

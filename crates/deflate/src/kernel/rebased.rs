//! Rebased positions: offsets in a call's buffer, counted from a moving base so that 16 bits are
//! enough.

use super::matcher::{Buckets, MAX_REBASED, PositionTable, REBASE};

/// The buffer of a call and the base of its rebased positions.
///
/// Offset i has the rebased position `first + i`. After a rebase `first` is negative, and wraps. A
/// match loop works on rebased positions, with `origin` as the address of position 0.
#[derive(Clone, Copy)]
pub(crate) struct RebasedBuffer<'a> {
    pub(crate) buffer: &'a [u8],
    first: usize,
}

impl<'a> RebasedBuffer<'a> {
    /// Begins a call over `buffer` on `table`.
    pub(crate) fn begin<B: Buckets, const N: usize>(buffer: &'a [u8], table: &mut PositionTable<N>) -> Self {
        let first = table.begin::<B>(buffer.len()) as usize;
        RebasedBuffer { buffer, first }
    }

    /// Returns the rebased position of offset `at`. Rebases the table first if 16 bits are about to
    /// overflow. It may rebase several times after a part of the call that another match finder
    /// searched.
    #[inline(always)]
    pub(crate) fn rebased_position<const N: usize>(
        &mut self,
        at: usize,
        table: &mut PositionTable<N>,
    ) -> usize {
        while self.first.wrapping_add(at) >= MAX_REBASED as usize {
            table.rebase();
            self.first = self.first.wrapping_sub(REBASE as usize);
        }
        self.first.wrapping_add(at)
    }

    /// Returns the offset of a rebased position.
    #[inline(always)]
    pub(crate) fn offset_of(&self, rebased: usize) -> usize {
        rebased.wrapping_sub(self.first)
    }

    /// Returns the address of rebased position 0. Only positions in the buffer may be read through
    /// it.
    #[inline(always)]
    pub(crate) fn origin(&self) -> *const u8 {
        self.buffer.as_ptr().wrapping_sub(self.first)
    }

    /// Returns the rebased position of the first byte of the buffer, or 0 if it is negative.
    #[inline(always)]
    pub(crate) fn lowest(&self) -> usize {
        if self.first > MAX_REBASED as usize { 0 } else { self.first }
    }

    /// Returns whether the table holds positions of this call only. Then an empty slot means the
    /// first position of the call.
    #[inline(always)]
    pub(crate) fn is_alone(&self) -> bool {
        self.lowest() == 0
    }

    /// Returns the rebased position after the buffer.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.first.wrapping_add(self.buffer.len())
    }
}

//! Walking through a call's buffer by position numbers.

use super::matcher::{LAST_NUMBER, Positions, REBASE};

/// The buffer of one call and how its bytes are numbered.
///
/// Position i has the number `first + i`; after a rebase `first` is below 0, wrapped. A match loop
/// works on numbers, with `origin` as the address that number 0 has.
#[derive(Clone, Copy)]
pub(crate) struct Numbered<'a> {
    pub(crate) buffer: &'a [u8],
    first: usize,
}

impl<'a> Numbered<'a> {
    /// Begins a call over `buffer` on `table`.
    pub(crate) fn begin<const N: usize>(buffer: &'a [u8], table: &mut Positions<N>) -> Self {
        let first = table.begin(buffer.len()) as usize;
        Numbered { buffer, first }
    }

    /// The number of position `at`, after lowering all numbers if they are about to run out.
    #[inline(always)]
    pub(crate) fn number<const N: usize>(&mut self, at: usize, table: &mut Positions<N>) -> usize {
        if self.first.wrapping_add(at) >= LAST_NUMBER as usize {
            table.rebase();
            self.first = self.first.wrapping_sub(REBASE as usize);
        }
        self.first.wrapping_add(at)
    }

    /// The position that has number `number`.
    #[inline(always)]
    pub(crate) fn position(&self, number: usize) -> usize {
        number.wrapping_sub(self.first)
    }

    /// The address that number 0 has; only numbers of the buffer may be read through it.
    #[inline(always)]
    pub(crate) fn origin(&self) -> *const u8 {
        self.buffer.as_ptr().wrapping_sub(self.first)
    }

    /// The lowest number in the buffer.
    #[inline(always)]
    pub(crate) fn lowest(&self) -> usize {
        if self.first > LAST_NUMBER as usize { 0 } else { self.first }
    }

    /// The number behind the buffer.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.first.wrapping_add(self.buffer.len())
    }
}

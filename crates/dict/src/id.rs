//! [`Id`]: dictionary IDs of a store.

/// ID of a dictionary in a [`Store`](crate::Store). The store never reuses it, and it has no
/// meaning outside of the store. It is not the 32-bit Dictionary_ID of a trained dictionary, which
/// need not be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u64);

impl Id {
    /// No dictionary, for blocks compressed without one.
    pub const NONE: Id = Id(0);

    /// Returns the ID as an integer.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Restores an ID from an integer. Any integer is accepted; an unknown ID is an error when it
    /// is used.
    pub const fn from_raw(number: u64) -> Id {
        Id(number)
    }

    /// Makes the ID of slot `index` in its given `generation`, which counts from 1.
    pub(crate) const fn new(index: u32, generation: u32) -> Id {
        Id((generation as u64) << 32 | index as u64)
    }

    pub(crate) const fn index(self) -> u32 {
        self.0 as u32
    }

    pub(crate) const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

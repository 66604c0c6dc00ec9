//! Numbers of dictionaries.

/// The number that a [`Store`](crate::Store) gave a dictionary. It is never given to another one of
/// that store. It says nothing outside of the store, and is not the 32-bit number inside of trained
/// dictionaries, of which many may be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u64);

impl Id {
    /// No dictionary: blocks that were compressed without.
    pub const NONE: Id = Id(0);

    /// The number, to be kept.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number that was kept. Any number may be asked for; an unknown one is an error there.
    pub const fn from_raw(number: u64) -> Id {
        Id(number)
    }

    /// Of the slot `index` when it is filled for the `generation`th time, which counts from 1.
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

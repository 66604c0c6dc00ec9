//! What a store and a decoder say of themselves.

/// Whether the system was asked for huge pages, and what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HugePages {
    /// They were not wanted.
    Off,
    /// It took the advice; it may still use small pages where it has no huge ones.
    Advised,
    /// It has none to give, or the advice was refused: pages are of the ordinary size.
    Refused,
}

/// The state of a [`Store`](crate::Store).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Dictionaries.
    pub dictionaries: usize,
    /// Bytes of the dictionaries themselves, but for those that a [`Source`](crate::Source) lends.
    pub raw_bytes: usize,
    /// Dictionaries whose tables are made.
    pub digested: usize,
    /// Bytes of their tables.
    pub table_bytes: usize,
    /// Bytes of the slots, 64 for each dictionary and for at most an eighth more of them, and of the
    /// lists of them.
    pub slot_bytes: usize,
    /// Bytes of address space behind dictionaries and tables; what was never used of it takes no
    /// memory.
    pub mapped_bytes: usize,
    /// Pages.
    pub huge_pages: HugePages,
    /// Times that tables were made to be kept.
    pub digests: u64,
    /// Times that tables were given up for others.
    pub evictions: u64,
}

/// What a [`Decoder`](crate::Decoder) has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Blocks, whatever became of them.
    pub blocks: u64,
    /// Of these, with tables that were kept, or a dictionary that needs none.
    pub with_tables: u64,
    /// Of these, with tables made for the block alone, since there was no room to keep them.
    pub without_tables: u64,
    /// Blocks that ended with an error.
    pub errors: u64,
    /// Cache lines named to be fetched ahead.
    pub prefetched_lines: u64,
}

impl HugePages {
    /// Of two pieces of memory, what is worse.
    pub(crate) fn or(self, other: HugePages) -> HugePages {
        if self == HugePages::Refused { self } else { other }
    }
}

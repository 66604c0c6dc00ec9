//! Statistics of a store and counters of a decoder.

/// Whether huge pages were requested, and the system's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HugePages {
    /// Not requested.
    Off,
    /// The system accepted the advice. It may still use small pages if no huge ones are available.
    Advised,
    /// Not supported, or the advice was refused: pages have the default size.
    Refused,
}

/// Sizes and counts of a [`Store`](crate::Store).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Number of dictionaries.
    pub dictionaries: usize,
    /// Number of bytes of the dictionaries, without those borrowed from a
    /// [`Source`](crate::Source).
    pub raw_bytes: usize,
    /// Number of dictionaries with tables.
    pub digested: usize,
    /// Number of bytes of their tables.
    pub table_bytes: usize,
    /// Number of bytes of the slots (64 for each dictionary, and for at most an eighth more) and of
    /// their lists.
    pub slot_bytes: usize,
    /// Number of bytes of address space of dictionaries and tables. Pages that were never used take
    /// no memory.
    pub mapped_bytes: usize,
    /// State of the huge pages.
    pub huge_pages: HugePages,
    /// Number of times that tables were built and kept.
    pub digests: u64,
    /// Number of times that tables were evicted.
    pub evictions: u64,
}

/// Counters of a [`Decoder`](crate::Decoder).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Number of blocks, failed ones included.
    pub blocks: u64,
    /// Number of blocks with kept tables, or with a dictionary that needs none.
    pub with_tables: u64,
    /// Number of blocks whose tables were built for them alone, because there was no memory to keep
    /// them.
    pub without_tables: u64,
    /// Number of blocks that failed.
    pub errors: u64,
    /// Number of cache lines prefetched.
    pub prefetched_lines: u64,
}

impl HugePages {
    /// Combines the states of two pieces of memory into the worse one.
    pub(crate) fn or(self, other: HugePages) -> HugePages {
        if self == HugePages::Refused { self } else { other }
    }
}

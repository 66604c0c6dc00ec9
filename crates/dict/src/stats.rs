//! Statistics of a store and counters of a decoder.

/// Whether huge pages were requested, and the system's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HugePages {
    /// Not requested.
    Off,
    /// The system took the advice; it may still use small pages where no huge ones are available.
    Advised,
    /// Not supported, or the advice was refused: pages have the default size.
    Refused,
}

/// Sizes and counts of a [`Store`](crate::Store).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Dictionaries.
    pub dictionaries: usize,
    /// Bytes of the dictionaries, without those borrowed from a [`Source`](crate::Source).
    pub raw_bytes: usize,
    /// Dictionaries with tables.
    pub digested: usize,
    /// Bytes of their tables.
    pub table_bytes: usize,
    /// Bytes of the slots (64 for each dictionary, and for at most an eighth more) and of their lists.
    pub slot_bytes: usize,
    /// Bytes of address space of dictionaries and tables; pages never used take no memory.
    pub mapped_bytes: usize,
    /// Huge pages.
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
    /// Blocks, failed ones included.
    pub blocks: u64,
    /// Blocks with kept tables, or a dictionary that needs none.
    pub with_tables: u64,
    /// Blocks whose tables were built for them alone, because there was no memory to keep them.
    pub without_tables: u64,
    /// Blocks that failed.
    pub errors: u64,
    /// Cache lines prefetched.
    pub prefetched_lines: u64,
}

impl HugePages {
    /// Combines the states of two pieces of memory: the worse one.
    pub(crate) fn or(self, other: HugePages) -> HugePages {
        if self == HugePages::Refused { self } else { other }
    }
}

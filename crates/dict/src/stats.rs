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
    /// Number of bytes of the dictionaries, each rounded up to 64, without those borrowed from a
    /// [`Source`](crate::Source).
    pub raw_bytes: usize,
    /// Number of dictionaries whose tables are kept. Raw content needs none, and is not counted.
    pub digested: usize,
    /// Number of bytes of their tables, each rounded up to 64.
    pub table_bytes: usize,
    /// Number of bytes of the slots and of their lists. A slot has 64 bytes, and there are slots
    /// for the largest number of dictionaries so far, plus about an eighth, or up to 8.
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
    /// Number of blocks with kept tables, or with a dictionary that needs none. A block without a
    /// dictionary does not count.
    pub with_tables: u64,
    /// Number of blocks whose tables were built for them alone, because there was no memory to keep
    /// them, the store was locked, or another thread was building them.
    pub without_tables: u64,
    /// Number of blocks that failed.
    pub errors: u64,
    /// Number of cache lines prefetched while the block before was decoded.
    pub prefetched_lines: u64,
}

impl HugePages {
    /// Combines the states of two pieces of memory into the worse state.
    pub(crate) fn or(self, other: HugePages) -> HugePages {
        if self == HugePages::Refused { self } else { other }
    }
}

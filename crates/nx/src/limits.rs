//! What reading an archive may cost: an archive that wants more is refused with `Kind::Limit`.

/// Bounds on what an archive may make its reader spend. The defaults admit every archive that
/// a packer writes of real files, and stop small files that unfold into large ones.
///
/// ```
/// use linerate_nx::Limits;
/// let strict = Limits { file: 1 << 30, ..Limits::default() };
/// assert_eq!(strict.header, 64 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the header with its tables. 64 MiB.
    pub header: u64,
    /// Bytes of all paths, decompressed. 256 MiB.
    pub pool: u64,
    /// Bytes of one path. 16 MiB; those that systems do not take are refused one by one long before.
    pub path: u64,
    /// Bytes of one decompressed block, which is what a thread keeps in memory. 1 GiB.
    pub block: u64,
    /// Bytes that all threads of one call keep in buffers; fewer threads are used where blocks are
    /// large. One thread always runs. 2 GiB.
    pub memory: u64,
    /// Bytes of one file. 1 TiB.
    pub file: u64,
    /// Bytes of all files that one call extracts or verifies. 16 TiB.
    pub total: u64,
    /// How many times larger than the archive those files may be, where they exceed
    /// [`Limits::ratio_from`]. 1000.
    pub ratio: u64,
    /// Bytes that files may have whatever their ratio is. 16 GiB.
    pub ratio_from: u64,
    /// The logarithm of the largest zstd window, in bytes. 27: 128 MiB.
    pub window_log: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            header: 64 << 20,
            pool: 256 << 20,
            path: 16 << 20,
            block: 1 << 30,
            memory: 2 << 30,
            file: 1 << 40,
            total: 16 << 40,
            ratio: 1000,
            ratio_from: 16 << 30,
            window_log: 27,
        }
    }
}

impl Limits {
    /// No limit but that of the format: for archives from a trusted hand.
    pub fn none() -> Self {
        Limits {
            header: u64::MAX,
            pool: u64::MAX,
            path: u64::MAX,
            block: u64::MAX,
            memory: u64::MAX,
            file: u64::MAX,
            total: u64::MAX,
            ratio: u64::MAX,
            ratio_from: u64::MAX,
            window_log: 31,
        }
    }
}

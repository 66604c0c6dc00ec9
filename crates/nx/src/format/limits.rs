//! Resource limits for untrusted archives: exceeding one is an error of kind `Limit`.

/// Limits on memory and output size when reading an archive. The defaults allow every archive that a
/// packer makes of real files, and stop decompression bombs.
///
/// ```
/// use linerate_nx::Limits;
/// let strict = Limits { file: 1 << 30, ..Limits::default() };
/// assert_eq!(strict.header, 64 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Header with its tables, in bytes. Default: 64 MiB.
    pub header: u64,
    /// All paths, decompressed, in bytes. Default: 256 MiB.
    pub pool: u64,
    /// One path, in bytes. Default: 16 MiB. Extraction rejects paths above 4095 bytes one by one, and so does packing from an archive.
    pub path: u64,
    /// One decompressed block, which each thread keeps in memory, in bytes; twice if it is filtered. Default: 1 GiB.
    pub block: u64,
    /// Buffers of all threads of one call, in bytes. Large blocks reduce the number of threads, down to
    /// one. Default: 2 GiB.
    pub memory: u64,
    /// One file, in bytes. Default: 1 TiB.
    pub file: u64,
    /// All files that one call extracts or verifies, in bytes. Default: 16 TiB.
    pub total: u64,
    /// Maximum ratio of the size of those files to that of the archive, where they exceed
    /// [`Limits::ratio_from`]. Default: 1000.
    pub ratio: u64,
    /// Size of files up to which the ratio is not limited, in bytes. Default: 16 GiB.
    pub ratio_from: u64,
    /// Base-2 logarithm of the largest zstd window in bytes, at most 31, or 30 on 32-bit targets.
    /// Default: 27 (128 MiB).
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
    /// The largest window that libzstd decodes (`ZSTD_WINDOWLOG_MAX`), which other readers use: 31, or 30 on 32-bit
    /// targets.
    pub(crate) const MAX_WINDOW_LOG: u32 = if usize::BITS == 32 { 30 } else { 31 };

    /// No limits beyond those of the format, for trusted archives.
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
            window_log: Limits::MAX_WINDOW_LOG,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zstd_safe::{DCtx, DParameter};

    /// Fails on 32-bit targets if the constant is that of 64-bit ones.
    #[test]
    fn libzstd_accepts_the_largest_window_and_no_larger() {
        let mut context = DCtx::create();
        assert!(context.set_parameter(DParameter::WindowLogMax(Limits::none().window_log)).is_ok());
        assert!(context.set_parameter(DParameter::WindowLogMax(Limits::MAX_WINDOW_LOG + 1)).is_err());
    }
}

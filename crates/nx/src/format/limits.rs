//! Resource limits for untrusted archives. Exceeding a limit is an error of kind `Limit`; only
//! [`Limits::memory`] lowers the number of threads instead.

/// Limits on memory and output size when reading an archive. The defaults allow every archive that
/// a packer makes of real files, and stop decompression bombs.
///
/// ```
/// use linerate_nx::Limits;
/// let strict = Limits { file: 1 << 30, ..Limits::default() };
/// assert_eq!(strict.header, 64 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of the header with its tables, in bytes. Also applies to the decompressed
    /// metadata and to each decompressed segment of R3A. Default: 64 MiB.
    pub header: u64,
    /// Maximum size of all decompressed paths, in bytes. Default: 256 MiB.
    pub pool: u64,
    /// Maximum length of a path, in bytes. Default: 16 MiB. Paths above 4095 bytes can be listed
    /// and read. Extracting such a file is an error of the single file, but packing it into another
    /// archive is an error of the whole call.
    pub path: u64,
    /// Maximum size of a decompressed block, in bytes. Each thread holds a block in memory, twice
    /// if it is filtered, and its compressed bytes. Default: 1 GiB.
    pub block: u64,
    /// Maximum size of the buffers of all threads of one call, in bytes. Large blocks lower the
    /// number of threads, down to one. Default: 2 GiB.
    pub memory: u64,
    /// Maximum size of a file, in bytes. Default: 1 TiB.
    pub file: u64,
    /// Maximum size of all files that one call extracts, loads, verifies or packs, in bytes.
    /// Default: 16 TiB.
    pub total: u64,
    /// Maximum ratio of the size of these files to the size of the archive. It applies only if the
    /// files exceed [`Limits::ratio_from`]. Default: 1000.
    pub ratio: u64,
    /// Total size of files, in bytes, up to which the ratio is not limited. Default: 16 GiB.
    pub ratio_from: u64,
    /// Base-2 logarithm of the largest zstd window in bytes, at most 31, or 30 on 32-bit targets.
    /// Larger values are an error of kind `BadArgument`. Frames of a single segment, which need no
    /// window beside their content, are not limited. Default: 27 (128 MiB).
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
    /// Base-2 logarithm of the largest window that libzstd decodes (`ZSTD_WINDOWLOG_MAX`): 31, or
    /// 30 on 32-bit targets. Other readers use libzstd.
    pub(crate) const MAX_WINDOW_LOG: u32 = if usize::BITS == 32 { 30 } else { 31 };

    /// Returns no limits beyond those of the format, for trusted archives.
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

    /// Fails on 32-bit targets if the constant is that of 64-bit targets.
    #[test]
    fn libzstd_accepts_the_largest_window_and_no_larger() {
        let mut context = DCtx::create();
        assert!(context.set_parameter(DParameter::WindowLogMax(Limits::none().window_log)).is_ok());
        assert!(context.set_parameter(DParameter::WindowLogMax(Limits::MAX_WINDOW_LOG + 1)).is_err());
    }
}

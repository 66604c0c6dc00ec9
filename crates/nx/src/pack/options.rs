//! Packing options: block sizes, codecs and their parameters, deduplication, threads.

use linerate_core::Kind;

use super::cancel::CancelToken;
use super::error::{PackError, PackResult};
use super::filters::Filters;
use super::workers::Workers;
use crate::filter::TextureFormat;

/// Smallest chunk size, in bytes.
pub(super) const MIN_CHUNK: u64 = 512;
/// Largest chunk size for writing, in bytes. A stored block of the next power of two would not fit
/// the 29-bit size of a block.
pub const MAX_CHUNK: u64 = 256 << 20;
/// Highest level of LZ4-HC.
pub(super) const MAX_LZ4_LEVEL: i32 = 12;
/// Largest solid limit, in bytes: offsets within a solid block have 26 bits.
pub(super) const MAX_SOLID_LIMIT: u64 = (64 << 20) - 1;

/// The codec of a block and its parameters. A block that does not shrink is stored, whatever the
/// coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// Stored uncompressed.
    Copy,
    /// One zstd frame; in a filtered block, one or more.
    Zstd(Zstd),
    /// One LZ4 block. Levels 1 and 2 use the fast mode, levels 3 to 12 LZ4-HC.
    Lz4 {
        /// The level, 1 to 12.
        level: i32,
    },
}

impl Coding {
    /// Returns zstd at this level, with zstd's defaults for all other parameters.
    pub const fn zstd(level: i32) -> Coding {
        Coding::Zstd(Zstd { level, min_match: 0, literals: true, long: false })
    }

    /// Returns LZ4 at this level.
    pub const fn lz4(level: i32) -> Coding {
        Coding::Lz4 { level }
    }

    fn check(self) -> PackResult<()> {
        match self {
            Coding::Copy => Ok(()),
            Coding::Zstd(zstd) if !(-5..=22).contains(&zstd.level) => {
                bad("a zstd level is between -5 and 22")
            }
            Coding::Zstd(zstd) if !matches!(zstd.min_match, 0 | 3..=7) => {
                bad("minMatch is 0 or between 3 and 7")
            }
            Coding::Lz4 { level } if !(1..=MAX_LZ4_LEVEL).contains(&level) => {
                bad("an LZ4 level is between 1 and 12")
            }
            Coding::Zstd(_) | Coding::Lz4 { .. } => Ok(()),
        }
    }
}

/// The zstd parameters that affect decoding speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zstd {
    /// The level, -5 to 22.
    pub level: i32,
    /// zstd's `minMatch`, the length of the shortest matches that it searches for, in bytes: 3 to
    /// 7, or 0 for the level's default. 4 makes textures smaller.
    pub min_match: u32,
    /// Whether literals are entropy-coded; at negative levels they never are. If they are not,
    /// textures decode much faster and are a little larger.
    pub literals: bool,
    /// Whether the window spans the whole block, up to 128 MiB, and long-distance matching is on.
    pub long: bool,
}

/// Packing options. Start from [`PackOptions::new`] or a [`Preset`](super::Preset).
///
/// ```
/// use linerate_nx::pack::{Coding, PackOptions};
///
/// let options = PackOptions::new().threads(4).chunk(4 << 20).chunked(Coding::zstd(12));
/// assert!(options.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackOptions {
    /// Chunk size of large files in bytes: a power of two from 512 to 256 Mi. Default: 1 MiB.
    pub chunk: u64,
    /// Maximum size in bytes of a solid block, and of a file in it. It is one less than a power of
    /// two, below `chunk` and at most 64 Mi - 1; 0 gives every file its own blocks. Default:
    /// 1 MiB - 1.
    pub solid_limit: u64,
    /// Coding of solid blocks. Default: zstd 16.
    pub solid: Coding,
    /// Coding of files above the solid limit and of files that are [alone](FileOptions::alone).
    /// Default: zstd 9.
    pub chunked: Coding,
    /// Coding of files with the extension of a texture, instead of `solid` and `chunked`. Default:
    /// none.
    pub textures: Option<Coding>,
    /// Whether equal files up to the solid limit are stored once. Default: true.
    pub dedup_solid: bool,
    /// Whether equal files above the solid limit or [alone](FileOptions::alone), and files that are
    /// a run of chunks of another file, are stored once. Default: true.
    pub dedup_chunked: bool,
    /// Whether files are grouped into solid blocks by similarity. Grouping reads the first 64 KiB
    /// of each file once more. Without it, and for [`Coding::Copy`], files fill blocks in the order
    /// of extension, falling size and path. Default: true.
    pub group_similar: bool,
    /// Whether the match search is adapted to the content of blocks above 256 KiB, for zstd levels
    /// 6 to 16 with the default minMatch and compressed literals. The output is smaller and packing
    /// slower. minMatch is 4 except for text. From level 6 to 12, the search is also that of the
    /// next level (two levels higher for text), but not above level 12, or an optimal parse of near
    /// matches where a sample shows that it pays.
    /// Default: true.
    pub fit_search: bool,
    /// Whether blocks up to 256 KiB use one dictionary per file extension, where that saves more
    /// than the dictionary takes. For R3A only: Nx has no dictionaries, and the option is ignored.
    /// Default: false.
    pub dictionaries: bool,
    /// Filters to try on blocks with textures. A block is filtered if it then takes fewer 4 KiB
    /// pages and is at least 1 % smaller. An archive with filtered blocks has header version 65,
    /// which only this crate reads. On files left over from a filtered block of an existing
    /// archive, all filters are tried whatever this option says. For Nx only: R3A has no filters,
    /// and the option is ignored. Default: none.
    pub filters: Filters,
    /// Whether textures are also detected by their bytes, where neither a header nor
    /// [`FileOptions::texture`] names one. Used only with filters. Default: true.
    pub guess_textures: bool,
    /// Number of threads that compress; 0 counts as 1. The output does not depend on it. Default:
    /// 1.
    pub threads: usize,
    /// Whether entries whose blocks are copied from existing archives are decoded and compared with
    /// their hashes. If not, damage is copied unnoticed, unless the archive has hashes other than
    /// XXH3-64, or none. Entries that are encoded again are always compared. Default: true.
    pub verify_existing: bool,
    /// Token that cancels packing.
    pub cancel: CancelToken,
}

impl Default for PackOptions {
    fn default() -> PackOptions {
        PackOptions {
            chunk: 1 << 20,
            solid_limit: (1 << 20) - 1,
            solid: Coding::zstd(16),
            chunked: Coding::zstd(9),
            textures: None,
            dedup_solid: true,
            dedup_chunked: true,
            group_similar: true,
            fit_search: true,
            dictionaries: false,
            filters: Filters::NONE,
            guess_textures: true,
            threads: 1,
            verify_existing: true,
            cancel: CancelToken::default(),
        }
    }
}

/// Generates consuming setters, each named after the field it sets.
macro_rules! setters {
    ($($field:ident: $type:ty,)*) => {
        /// Setters, each named after the field it sets.
        impl PackOptions {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> PackOptions {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

setters! {
    solid_limit: u64,
    solid: Coding,
    chunked: Coding,
    textures: Option<Coding>,
    dedup_solid: bool,
    dedup_chunked: bool,
    group_similar: bool,
    fit_search: bool,
    dictionaries: bool,
    filters: Filters,
    guess_textures: bool,
    threads: usize,
    verify_existing: bool,
    cancel: CancelToken,
}

/// Lower-case extensions of the files that [`PackOptions::textures`] is for.
const TEXTURES: &[&str] = &["astc", "basis", "dds", "ktx", "ktx2", "pvr", "tga", "vtf"];

impl PackOptions {
    /// Returns the default options.
    pub fn new() -> PackOptions {
        PackOptions::default()
    }

    /// Sets [`chunk`](Self#structfield.chunk), and lowers
    /// [`solid_limit`](Self#structfield.solid_limit) below it if necessary.
    #[must_use]
    pub fn chunk(mut self, chunk: u64) -> PackOptions {
        self.chunk = chunk;
        self.solid_limit = self.solid_limit.min(chunk.saturating_sub(1));
        self
    }

    /// Checks that every field is within the format's limits.
    ///
    /// # Errors
    /// Returns `BadArgument` for the first field that is not. The message has the limit.
    pub fn check(&self) -> PackResult<()> {
        if !self.chunk.is_power_of_two() || !(MIN_CHUNK..=MAX_CHUNK).contains(&self.chunk) {
            return bad("the chunk size is a power of two from 512 bytes to 256 MiB");
        }
        if self.solid_limit > MAX_SOLID_LIMIT || !(self.solid_limit + 1).is_power_of_two() {
            return bad("the solid limit is one less than a power of two, at most 64 MiB - 1");
        }
        if self.solid_limit >= self.chunk {
            return bad("the solid limit must be below the chunk size");
        }
        self.solid.check()?;
        self.chunked.check()?;
        self.textures.map_or(Ok(()), Coding::check)
    }

    pub(super) fn workers(&self) -> Workers {
        Workers { threads: self.threads, cancel: self.cancel.clone() }
    }

    /// Returns the coding of a file by its name. Its [`FileOptions`] may override this coding.
    pub(super) fn coding_of(&self, name: &str, solid: bool) -> Coding {
        let general = if solid { self.solid } else { self.chunked };
        let texture = || TEXTURES.contains(&extension(name).to_ascii_lowercase().as_str());
        self.textures.filter(|_| texture()).unwrap_or(general)
    }
}

/// Options of one file, which override [`PackOptions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileOptions {
    /// The coding of the file, instead of that of the options.
    pub coding: Option<Coding>,
    /// Whether the file gets blocks of its own even within the solid limit, so that reading it
    /// decodes nothing else. Equal files still share blocks.
    pub alone: bool,
    /// The texture format of a file without a header that names it. All bytes of the file are
    /// texels of this format. Used only with [`PackOptions::filters`].
    pub texture: Option<TextureFormat>,
}

impl FileOptions {
    /// Returns options that override nothing.
    pub fn new() -> FileOptions {
        FileOptions::default()
    }

    /// Sets the coding.
    #[must_use]
    pub fn coding(self, coding: Coding) -> FileOptions {
        FileOptions { coding: Some(coding), ..self }
    }

    /// Sets whether the file gets blocks of its own.
    #[must_use]
    pub fn alone(self, alone: bool) -> FileOptions {
        FileOptions { alone, ..self }
    }

    /// Sets the texture format of a file without a header.
    #[must_use]
    pub fn texture(self, format: TextureFormat) -> FileOptions {
        FileOptions { texture: Some(format), ..self }
    }

    pub(super) fn check(self) -> PackResult<()> {
        self.coding.map_or(Ok(()), Coding::check)
    }
}

/// Returns the part of the last component after its last dot. It is empty for `.name` and for names
/// without a dot.
pub(super) fn extension(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.rfind('.') {
        Some(dot) if dot > 0 => &last[dot + 1..],
        _ => "",
    }
}

fn bad<T>(message: &'static str) -> PackResult<T> {
    Err(PackError::rule(Kind::BadArgument, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(change: impl FnOnce(&mut PackOptions)) -> String {
        let mut options = PackOptions::default();
        change(&mut options);
        options.check().map_or_else(|e| e.to_string(), |()| "fine".into())
    }

    #[test]
    fn each_field_out_of_range_is_an_error_with_its_limit() {
        assert_eq!(message(|_| {}), "fine");
        assert_eq!(message(|o| o.solid_limit = 0), "fine");
        assert_eq!(message(|o| (o.chunk, o.solid_limit) = (512, 511)), "fine");
        assert!(message(|o| o.chunk = 3 << 20).contains("power of two"));
        assert!(message(|o| o.chunk = 256).contains("512 bytes"));
        assert!(message(|o| o.chunk = 512 << 20).contains("256 MiB"));
        assert!(message(|o| o.solid_limit = 1000).contains("one less"));
        assert!(message(|o| (o.chunk, o.solid_limit) = (256 << 20, (128 << 20) - 1)).contains("64 MiB"));
        assert!(message(|o| o.chunk = 1 << 19).contains("below the chunk"));
        assert!(message(|o| o.solid = Coding::zstd(23)).contains("22"));
        assert!(message(|o| o.chunked = Coding::lz4(0)).contains("12"));
        assert!(message(|o| o.solid_limit = u64::MAX >> 1).contains("64 MiB"));
        let short = Zstd { level: 3, min_match: 2, literals: true, long: false };
        assert!(message(|o| o.textures = Some(Coding::Zstd(short))).contains("minMatch"));
    }

    #[test]
    fn extension_is_taken_from_the_last_component() {
        for (name, expected) in
            [("a.txt", "txt"), ("a.b/c", ""), ("a/.git", ""), ("a.tar.gz", "gz"), ("x.", ""), ("", "")]
        {
            assert_eq!(extension(name), expected, "{name}");
        }
    }

    #[test]
    fn texture_extensions_select_the_texture_coding() {
        let options = PackOptions { textures: Some(Coding::lz4(3)), ..PackOptions::default() };
        assert_eq!(options.coding_of("a/B.DDS", false), Coding::lz4(3));
        assert_eq!(options.coding_of("a/b.txt", true), options.solid);
        assert_eq!(options.coding_of("a/b.txt", false), options.chunked);
    }
}

//! Packing options: block sizes, codecs and their parameters, deduplication, threads.

use linerate_core::Kind;

use super::cancel::CancelToken;
use super::error::{PackError, PackResult};
use super::filters::Filters;
use super::workers::Workers;
use crate::filter::TextureFormat;

/// Smallest chunk size, in bytes.
pub(super) const MIN_CHUNK: u64 = 512;
/// Largest chunk size that is written: above it a stored block would not fit its 29-bit size.
pub const MAX_CHUNK: u64 = 256 << 20;
/// Largest level of LZ4-HC.
pub(super) const MAX_LZ4_LEVEL: i32 = 12;
/// Largest solid limit: offsets within a solid block have 26 bits.
pub(super) const MAX_SOLID_LIMIT: u64 = (64 << 20) - 1;

/// The codec of a block and its parameters. A block that does not shrink is stored, whatever this says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// Stored uncompressed.
    Copy,
    /// One zstd frame.
    Zstd(Zstd),
    /// One LZ4 block. Levels 1 and 2 are the fast mode, 3 to 12 are LZ4-HC.
    Lz4 {
        /// 1 to 12.
        level: i32,
    },
}

impl Coding {
    /// zstd at this level, with its other parameters at zstd's defaults.
    pub const fn zstd(level: i32) -> Coding {
        Coding::Zstd(Zstd { level, min_match: 0, literals: true, long: false })
    }

    /// LZ4 at this level.
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
    /// -5 to 22.
    pub level: i32,
    /// Shortest match, 3 to 7, or 0 for the level's default. 4 makes textures smaller.
    pub min_match: u32,
    /// Whether literals are entropy-coded. Without, textures decode much faster and are a little larger.
    pub literals: bool,
    /// Whether the window spans the whole block and long-distance matching is on.
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
    /// Chunk size of large files in bytes: a power of two, 512 to 256 Mi. Default: 1 MiB.
    pub chunk: u64,
    /// Largest file in a solid block, and largest solid block, in bytes: one less than a power of two,
    /// below `chunk`, at most 64 Mi - 1; 0 gives every file its own blocks. Default: 1 MiB - 1.
    pub solid_limit: u64,
    /// Coding of solid blocks. Default: zstd 16.
    pub solid: Coding,
    /// Coding of files above the solid limit. Default: zstd 9.
    pub chunked: Coding,
    /// Coding of files with the extension of a texture, in place of the two above. Default: none.
    pub textures: Option<Coding>,
    /// Whether equal files up to the solid limit are stored once. Default: true.
    pub dedup_solid: bool,
    /// Whether equal files above the solid limit, and files that are a run of chunks of another file,
    /// are stored once. Default: true.
    pub dedup_chunked: bool,
    /// Whether files are grouped into solid blocks by similarity, which reads the first 64 KiB of each
    /// once more. Otherwise blocks are filled by extension, falling size and path. Default: true.
    pub group_similar: bool,
    /// Whether the match search is adapted to the content of blocks above 256 KiB, for zstd levels 6 to
    /// 16 with the default minMatch: minMatch 4 except for text; up to level 12 also the search of the
    /// next level (text: two levels higher), or an optimal parse of near matches where a sample shows
    /// that it pays. Smaller output, slower packing. Default: true.
    pub fit_search: bool,
    /// Whether blocks up to 256 KiB use a dictionary per file extension, where that saves more than the
    /// dictionary takes. R3A only: Nx has no dictionaries, and ignores this. Default: false.
    pub dictionaries: bool,
    /// Filters that blocks with textures are tried with. A block that becomes smaller by a page and one per cent is
    /// filtered, and the archive gets header version 65 then, which only this crate reads. Nx only: R3A has no filters,
    /// and ignores this. Default: none.
    pub filters: Filters,
    /// Whether textures are also looked for by their bytes, where neither a header nor [`FileOptions::texture`] says that
    /// there are some. Only with filters.
    /// Default: true.
    pub guess_textures: bool,
    /// Threads that compress; 0 counts as 1. The output does not depend on it. Default: 1.
    pub threads: usize,
    /// Whether entries from existing archives are decoded and compared with their hashes. Without,
    /// damage is copied unnoticed. Default: true.
    pub verify_existing: bool,
    /// Cancels packing.
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

/// Consuming setters, each named after the field it sets.
macro_rules! setters {
    ($($field:ident: $type:ty,)*) => {
        /// Setters, each for the field of its name.
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

/// Lower-case extensions of texture files in formats that a GPU reads.
const TEXTURES: &[&str] = &["astc", "basis", "dds", "ktx", "ktx2", "pvr", "tga", "vtf"];

impl PackOptions {
    /// The default options.
    pub fn new() -> PackOptions {
        PackOptions::default()
    }

    /// Sets [`chunk`](Self#structfield.chunk), and lowers [`solid_limit`](Self#structfield.solid_limit) below it.
    #[must_use]
    pub fn chunk(mut self, chunk: u64) -> PackOptions {
        self.chunk = chunk;
        self.solid_limit = self.solid_limit.min(chunk.saturating_sub(1));
        self
    }

    /// Checks every field against the format's limits.
    ///
    /// # Errors
    /// `BadArgument`, with the limit in its message.
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

    /// The coding of a file by its name, unless its [`FileOptions`] say otherwise.
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
    /// The coding, if it differs.
    pub coding: Option<Coding>,
    /// Whether the file has its own block even below the solid limit, so that reading it decodes
    /// nothing else.
    pub alone: bool,
    /// The format of the texels that the file is made of, from its first byte to its last, if it has no header that names
    /// one. Only with [`PackOptions::filters`].
    pub texture: Option<TextureFormat>,
}

impl FileOptions {
    /// No overrides.
    pub fn new() -> FileOptions {
        FileOptions::default()
    }

    /// Sets the coding.
    #[must_use]
    pub fn coding(self, coding: Coding) -> FileOptions {
        FileOptions { coding: Some(coding), ..self }
    }

    /// Sets whether the file has its own block.
    #[must_use]
    pub fn alone(self, alone: bool) -> FileOptions {
        FileOptions { alone, ..self }
    }

    /// Sets the format of a texture without a header.
    #[must_use]
    pub fn texture(self, format: TextureFormat) -> FileOptions {
        FileOptions { texture: Some(format), ..self }
    }

    pub(super) fn check(self) -> PackResult<()> {
        self.coding.map_or(Ok(()), Coding::check)
    }
}

/// The part of the last component after its last dot; empty for `.name` and for names without a dot.
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

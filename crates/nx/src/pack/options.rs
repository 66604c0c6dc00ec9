//! What an archive is packed with: block sizes, codecs and their levers, deduplication, threads.

use linerate_core::Kind;

use super::error::{PackError, PackResult};
use super::stop::Stop;
use super::threads::Crew;

/// Smallest chunk size, in bytes.
pub const MIN_CHUNK: u64 = 512;
/// Largest chunk size that is written: above it a stored block would not fit its 29-bit size.
pub const MAX_CHUNK: u64 = 256 << 20;
/// Largest solid limit: offsets within a solid block have 26 bits.
pub const MAX_SOLID_LIMIT: u64 = (64 << 20) - 1;

/// How a block is coded. A block that does not become smaller is stored, whatever this says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// Stored as it is.
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
    /// zstd at that level, everything else as zstd has it.
    pub const fn zstd(level: i32) -> Coding {
        Coding::Zstd(Zstd { level, min_match: 0, literals: true, long: false })
    }

    /// LZ4 at that level.
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
            Coding::Lz4 { level } if !(1..=12).contains(&level) => bad("an LZ4 level is between 1 and 12"),
            Coding::Zstd(_) | Coding::Lz4 { .. } => Ok(()),
        }
    }
}

/// The levers of zstd that change how fast a block decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zstd {
    /// -5 to 22.
    pub level: i32,
    /// Shortest match, 3 to 7, or 0 for what the level has. 4 makes textures smaller.
    pub min_match: u32,
    /// Whether literals are entropy-coded. Off, textures decode much faster and are a little larger.
    pub literals: bool,
    /// Whether matches may lie as far back as the block is long, and long ones are searched for.
    pub long: bool,
}

/// What is packed how. Make one with [`Options::default`] or from a
/// [`Preset`](super::Preset), and change fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes that larger files are cut into: a power of two, 512 to 256 Mi.
    pub chunk: u64,
    /// Largest file that shares a block with others, and most bytes of such a block: one less
    /// than a power of two, below `chunk`; or 0, and every file has its own blocks.
    pub solid_limit: u64,
    /// Coding of blocks that files share.
    pub solid: Coding,
    /// Coding of files above the solid limit.
    pub chunked: Coding,
    /// Coding of files whose extension names a texture, in place of the two above.
    pub textures: Option<Coding>,
    /// Whether equal files up to the solid limit are stored once.
    pub dedup_solid: bool,
    /// Whether equal files above the solid limit, and files that are a run of chunks of another,
    /// are stored once.
    pub dedup_chunked: bool,
    /// Whether files that share blocks are grouped by how much of their content they have in common.
    /// Otherwise blocks are filled by extension, falling size and path. It reads the first 64 KiB of
    /// each such file once more.
    pub group_alike: bool,
    /// Whether blocks above 256 KiB get the search that suits them, where the coding is zstd at levels
    /// 6 to 16 and leaves minMatch to the level: minMatch 4, but not for text; up to level 12 also the
    /// search of the next level, of the one after that for text, or an optimal parse of near matches
    /// where a sample shows that it pays. Smaller, and slower to pack.
    pub fit_search: bool,
    /// Whether blocks up to 256 KiB are coded with a dictionary for each extension, where that saves
    /// more than the dictionaries take. Only R3A has them: it says nothing of Nx.
    pub dictionaries: bool,
    /// Threads that compress; 0 counts as 1. It does not show in the output.
    pub threads: usize,
    /// Whether entries taken from an existing archive are decoded and compared with their hashes.
    /// Off, damage is carried over unseen.
    pub verify_existing: bool,
    /// What ends the work before it is done.
    pub stop: Stop,
}

impl Default for Options {
    /// 1 MiB chunks, zstd 9; solid blocks up to 1 MiB - 1, zstd 16; both deduplications; one thread.
    fn default() -> Options {
        Options {
            chunk: 1 << 20,
            solid_limit: (1 << 20) - 1,
            solid: Coding::zstd(16),
            chunked: Coding::zstd(9),
            textures: None,
            dedup_solid: true,
            dedup_chunked: true,
            group_alike: true,
            fit_search: true,
            dictionaries: false,
            threads: 1,
            verify_existing: true,
            stop: Stop::default(),
        }
    }
}

/// Extensions, lower case, of files that hold textures in forms that a GPU reads.
const TEXTURES: &[&str] = &["astc", "basis", "dds", "ktx", "ktx2", "pvr", "tga", "vtf"];

impl Options {
    /// Whether every field is within the format's limits.
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

    /// Who does the work.
    pub(super) fn crew(&self) -> Crew {
        Crew { threads: self.threads, stop: self.stop.clone() }
    }

    /// The coding of that file when it is `solid` or not, unless it has its own.
    pub(super) fn coding(&self, name: &str, solid: bool) -> Coding {
        let general = if solid { self.solid } else { self.chunked };
        let texture = || TEXTURES.contains(&extension(name).to_ascii_lowercase().as_str());
        self.textures.filter(|_| texture()).unwrap_or(general)
    }
}

/// What one file asks for, in place of the [`Options`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prefer {
    /// Its coding.
    pub coding: Option<Coding>,
    /// Whether it has its own block even if it is below the solid limit, so that reading it decodes
    /// nothing else.
    pub alone: bool,
}

impl Prefer {
    /// That coding, and else as the options say.
    pub fn coding(coding: Coding) -> Prefer {
        Prefer { coding: Some(coding), alone: false }
    }

    /// The same, in a block of its own.
    #[must_use]
    pub fn alone(self) -> Prefer {
        Prefer { alone: true, ..self }
    }

    pub(super) fn check(self) -> PackResult<()> {
        self.coding.map_or(Ok(()), Coding::check)
    }
}

/// What follows the last dot of the last component; empty for `.name` and for names without one.
pub(super) fn extension(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.rfind('.') {
        Some(dot) if dot > 0 => &last[dot + 1..],
        _ => "",
    }
}

fn bad<T>(what: &'static str) -> PackResult<T> {
    Err(PackError::rule(Kind::BadArgument, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(change: impl FnOnce(&mut Options)) -> String {
        let mut options = Options::default();
        change(&mut options);
        options.check().map_or_else(|e| e.to_string(), |()| "fine".into())
    }

    #[test]
    fn every_limit_is_named() {
        assert_eq!(says(|_| {}), "fine");
        assert_eq!(says(|o| o.solid_limit = 0), "fine");
        assert_eq!(says(|o| (o.chunk, o.solid_limit) = (512, 511)), "fine");
        assert!(says(|o| o.chunk = 3 << 20).contains("power of two"));
        assert!(says(|o| o.chunk = 256).contains("512 bytes"));
        assert!(says(|o| o.chunk = 512 << 20).contains("256 MiB"));
        assert!(says(|o| o.solid_limit = 1000).contains("one less"));
        assert!(says(|o| (o.chunk, o.solid_limit) = (256 << 20, (128 << 20) - 1)).contains("64 MiB"));
        assert!(says(|o| o.chunk = 1 << 19).contains("below the chunk"));
        assert!(says(|o| o.solid = Coding::zstd(23)).contains("22"));
        assert!(says(|o| o.chunked = Coding::lz4(0)).contains("12"));
        assert!(says(|o| o.solid_limit = u64::MAX >> 1).contains("64 MiB"));
        let short = Zstd { level: 3, min_match: 2, literals: true, long: false };
        assert!(says(|o| o.textures = Some(Coding::Zstd(short))).contains("minMatch"));
    }

    #[test]
    fn extensions_are_those_of_the_last_component() {
        for (name, expected) in
            [("a.txt", "txt"), ("a.b/c", ""), ("a/.git", ""), ("a.tar.gz", "gz"), ("x.", ""), ("", "")]
        {
            assert_eq!(extension(name), expected, "{name}");
        }
    }

    #[test]
    fn textures_have_their_own_coding() {
        let options = Options { textures: Some(Coding::lz4(3)), ..Options::default() };
        assert_eq!(options.coding("a/B.DDS", false), Coding::lz4(3));
        assert_eq!(options.coding("a/b.txt", true), options.solid);
        assert_eq!(options.coding("a/b.txt", false), options.chunked);
    }
}

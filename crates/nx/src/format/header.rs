//! The Nx header: the first 16 bytes, with the sizes of the tables that follow.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 4 | `NXUS` |
//! | 4 | 4 | from the top bit down, with widths in bits: version 7, chunk size 5 (512 << n bytes), pages 16 (of 4096 bytes), flags 4 |
//! | 8 | 8 | from the top bit down: entry form 2, pool bytes 24, block count 18, file count 20 |
//!
//! The entry table, the block table, the string pool and sometimes a metadata record follow, padded
//! with zeros to a whole page. The blocks follow at the next page.
//!
//! Versions 0 and 1 are Nx. Version 65 is a private extension of version 1, in which blocks may be
//! filtered. Other readers refuse such an archive.

use linerate_core::{Error, Kind, Result};

use crate::format::hash::HashKind;

/// The first four bytes of an archive.
pub(crate) const MAGIC: [u8; 4] = *b"NXUS";

/// Length of the header before the entry table, in bytes.
pub const HEADER: usize = 16;

/// The alignment of every block, in bytes.
pub const PAGE: u64 = 4096;

/// Maximum number of files.
pub(crate) const MAX_FILES: u32 = (1 << 20) - 1;

/// Maximum number of blocks.
pub const MAX_BLOCKS: u32 = (1 << 18) - 1;

/// Maximum size of the compressed pool in bytes.
pub(crate) const MAX_POOL: u32 = (1 << 24) - 1;

/// Maximum number of header pages.
pub(crate) const MAX_PAGES: u32 = (1 << 16) - 1;

/// The largest chunk size that is read: n = 21, 1 GiB.
pub(crate) const MAX_CHUNK_READ: ChunkSize = ChunkSize(21);

/// The largest chunk size that is written: n = 19, 256 MiB. A stored block of a larger chunk would
/// not fit the 29 bits of its size.
pub(crate) const MAX_CHUNK_WRITTEN: ChunkSize = ChunkSize(19);

/// A chunk size, 512 << n bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkSize(u8);

impl ChunkSize {
    /// Returns the chunk size 512 << `n`, if `n` is at most 21 (1 GiB).
    pub const fn from_exponent(n: u8) -> Option<ChunkSize> {
        if n <= MAX_CHUNK_READ.0 { Some(ChunkSize(n)) } else { None }
    }

    /// Returns the chunk size of `bytes`, if that is a power of two from 512 to 1 Gi.
    ///
    /// ```
    /// use linerate_nx::ChunkSize;
    /// assert_eq!(ChunkSize::from_bytes(1 << 20), ChunkSize::from_exponent(11));
    /// assert_eq!(ChunkSize::from_bytes(1000), None);
    /// ```
    pub const fn from_bytes(bytes: u64) -> Option<ChunkSize> {
        if bytes < 512 || !bytes.is_power_of_two() {
            return None;
        }
        ChunkSize::from_exponent((bytes.trailing_zeros() - 9) as u8)
    }

    /// The exponent n of 512 << n.
    pub(crate) const fn exponent(self) -> u8 {
        self.0
    }

    /// The size in bytes.
    pub const fn bytes(self) -> u64 {
        512 << self.0
    }

    /// Returns the number of blocks of a file of `size` bytes.
    pub(crate) const fn blocks(self, size: u64) -> u64 {
        size.div_ceil(self.bytes())
    }
}

/// The form of the table entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TocForm {
    /// 20 bytes: file sizes below 4 GiB.
    Short,
    /// 24 bytes: any file size.
    Long,
}

impl TocForm {
    /// Bytes of one entry.
    pub const fn entry_bytes(self) -> usize {
        match self {
            TocForm::Short => 20,
            TocForm::Long => 24,
        }
    }

    const fn code(self) -> u64 {
        match self {
            TocForm::Short => 0,
            TocForm::Long => 1,
        }
    }
}

/// The header fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The function that hashes contents. It follows from the header version.
    pub hash: HashKind,
    /// Whether blocks may be [filtered](crate::Block::filtered). Stored as header version 65, a
    /// private extension of version 1. Ignored when writing if `hash` is not [`HashKind::Xxh3`].
    pub filtered: bool,
    /// The chunk size.
    pub chunk: ChunkSize,
    /// Number of [`PAGE`]s before the first block, at most 2^16 - 1.
    pub pages: u32,
    /// Four bits without an agreed meaning. New headers have 0; the verifier reports other values.
    pub flags: u8,
    /// The form of the entries.
    pub form: TocForm,
    /// Size of the compressed pool in bytes, at most 2^24 - 1.
    pub pool: u32,
    /// Number of blocks, at most [`MAX_BLOCKS`].
    pub blocks: u32,
    /// Number of files, at most 2^20 - 1.
    pub files: u32,
}

/// Header versions. They differ in the hash of contents.
const XXH64: u32 = 0;
const XXH3: u32 = 1;

/// Version 1 with filtered blocks: the top bit of the 7 marks the extension.
const XXH3_FILTERED: u32 = 64 | XXH3;

fn bits(word: u64, shift: u32, count: u32) -> u64 {
    (word >> shift) & ((1 << count) - 1)
}

impl Header {
    /// Creates a header of version 1 with flags 0, and with as few pages as the tables need. `pool`
    /// is in bytes; `blocks` and `files` are counts.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if a value exceeds its field.
    pub fn new(chunk: ChunkSize, form: TocForm, pool: usize, blocks: usize, files: usize) -> Result<Header> {
        let narrow = |n: usize, max: u32, what| match u32::try_from(n) {
            Ok(n) if n <= max => Ok(n),
            _ => Err(Error::new(Kind::Limit, 0, what)),
        };
        let mut header = Header {
            hash: HashKind::Xxh3,
            filtered: false,
            chunk,
            pages: 0,
            flags: 0,
            form,
            pool: narrow(pool, MAX_POOL, "the format holds 16777215 bytes of compressed paths")?,
            blocks: narrow(blocks, MAX_BLOCKS, "the format holds 262143 blocks")?,
            files: narrow(files, MAX_FILES, "the format holds 1048575 files")?,
        };
        // The tables have at most 2^20 * 24 + 2^18 * 4 + 2^24 bytes: fewer than 10,500 pages.
        header.pages = header.pool_end().div_ceil(PAGE) as u32;
        Ok(header)
    }

    /// The offset of the block table, where the entries end.
    pub fn blocks_offset(&self) -> u64 {
        HEADER as u64 + u64::from(self.files) * self.form.entry_bytes() as u64
    }

    /// The offset of the pool, where the block table ends.
    pub fn pool_offset(&self) -> u64 {
        self.blocks_offset() + 4 * u64::from(self.blocks)
    }

    /// The end offset of the pool. Padding or a metadata record follows, up to [`Header::bytes`].
    pub fn pool_end(&self) -> u64 {
        self.pool_offset() + u64::from(self.pool)
    }

    /// Size of the header with its tables in bytes. This is the offset of the first block.
    pub fn bytes(&self) -> u64 {
        u64::from(self.pages) * PAGE
    }

    /// Parses the fields and checks that the tables fit the pages. [`crate::Archive::open`] checks
    /// the length of the archive.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Truncated`] for fewer than 16 bytes of an archive; [`Kind::Corrupt`] if the
    /// bytes are empty or not from an archive, or if the tables do not fit the pages;
    /// [`Kind::Unsupported`] for another version, a chunk above 1 GiB or another form of the
    /// entries. The offset is that of the field, or the number of bytes if they are too few.
    pub fn parse(bytes: &[u8]) -> Result<Header> {
        let Some(head) = bytes.first_chunk::<HEADER>() else {
            let magic = bytes.len().min(4);
            return Err(match magic > 0 && bytes[..magic] == MAGIC[..magic] {
                true => Error::new(Kind::Truncated, bytes.len() as u64, "the archive ends within its header"),
                false => not_nx(bytes),
            });
        };
        if head[..4] != MAGIC {
            return Err(not_nx(head));
        }
        let word = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        let table = u64::from_le_bytes([
            head[8], head[9], head[10], head[11], head[12], head[13], head[14], head[15],
        ]);
        let (hash, filtered) = match bits(word, 25, 7) as u32 {
            XXH64 => (HashKind::Xxh64, false),
            XXH3 => (HashKind::Xxh3, false),
            XXH3_FILTERED => (HashKind::Xxh3, true),
            _ => return Err(unsupported(7, "an Nx archive of an unknown version")),
        };
        let header = Header {
            hash,
            filtered,
            chunk: ChunkSize::from_exponent(bits(word, 20, 5) as u8)
                .ok_or(unsupported(6, "chunks of more than 1 GiB (or a pre-1.0 Nx archive)"))?,
            pages: bits(word, 4, 16) as u32,
            flags: bits(word, 0, 4) as u8,
            form: match bits(table, 62, 2) {
                0 => TocForm::Short,
                1 => TocForm::Long,
                _ => return Err(unsupported(15, "entries of an unknown form (or a pre-1.0 Nx archive)")),
            },
            pool: bits(table, 38, 24) as u32,
            blocks: bits(table, 20, 18) as u32,
            files: bits(table, 0, 20) as u32,
        };
        if header.pool_end() > header.bytes() {
            return Err(Error::new(
                Kind::Corrupt,
                4,
                "the tables are larger than the header (damage, or a pre-1.0 Nx archive, which is unsupported)",
            ));
        }
        Ok(header)
    }

    /// Encodes the first 16 bytes. Values beyond their limits are truncated; [`Header::new`] checks
    /// them.
    pub fn write(&self) -> [u8; HEADER] {
        let version = match self.hash {
            HashKind::Xxh64 => XXH64,
            HashKind::Xxh3 if self.filtered => XXH3_FILTERED,
            HashKind::Xxh3 => XXH3,
        };
        let word = version << 25
            | u32::from(self.chunk.exponent()) << 20
            | (self.pages & MAX_PAGES) << 4
            | u32::from(self.flags & 15);
        let table = self.form.code() << 62
            | u64::from(self.pool & MAX_POOL) << 38
            | u64::from(self.blocks & MAX_BLOCKS) << 20
            | u64::from(self.files & MAX_FILES);
        let mut out = [0; HEADER];
        out[..4].copy_from_slice(&MAGIC);
        out[4..8].copy_from_slice(&word.to_le_bytes());
        out[8..].copy_from_slice(&table.to_le_bytes());
        out
    }
}

const fn unsupported(at: u64, what: &'static str) -> Error {
    Error::new(Kind::Unsupported, at, what)
}

fn not_nx(bytes: &[u8]) -> Error {
    let what = match bytes {
        [] => "not an Nx archive (it is empty)",
        [b'R', b'3', b'A', 0, ..] => "an R3A archive, not an Nx archive",
        _ if bytes.iter().all(|b| *b == 0) => {
            "not an Nx archive (its header is zero: an interrupted or unflushed writer)"
        }
        _ => "not an Nx archive",
    };
    Error::new(Kind::Corrupt, 0, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worked example: one file in one stored block, chunks of 1 MiB.
    const EXAMPLE: [u8; 16] = [0x4E, 0x58, 0x55, 0x53, 0x10, 0, 0xB0, 2, 1, 0, 0x10, 0, 0xC0, 2, 0, 0];

    #[test]
    fn worked_example_round_trips() {
        let header = Header::parse(&EXAMPLE).unwrap();
        let chunk = ChunkSize::from_bytes(1 << 20).unwrap();
        assert_eq!(header, Header::new(chunk, TocForm::Short, 11, 1, 1).unwrap());
        assert_eq!(header.write(), EXAMPLE);
        assert_eq!((header.blocks_offset(), header.pool_offset(), header.pool_end()), (36, 40, 51));
        let mut old = EXAMPLE;
        old[7] = 0;
        assert_eq!(Header::parse(&old).unwrap().hash, HashKind::Xxh64);
    }

    #[test]
    fn largest_values_round_trip() {
        let header = Header {
            hash: HashKind::Xxh64,
            filtered: false,
            chunk: MAX_CHUNK_READ,
            pages: MAX_PAGES,
            flags: 15,
            form: TocForm::Long,
            pool: MAX_POOL,
            blocks: MAX_BLOCKS,
            files: MAX_FILES,
        };
        assert_eq!(Header::parse(&header.write()), Ok(header));
        let filtered = Header { hash: HashKind::Xxh3, filtered: true, ..header };
        assert_eq!(Header::parse(&filtered.write()), Ok(filtered));
    }

    #[test]
    fn all_versions_but_0_1_and_65_are_refused_at_their_offset() {
        let mut known = Vec::new();
        for version in 0..128u8 {
            let mut bytes = EXAMPLE;
            bytes[7] = bytes[7] & 1 | version << 1;
            match Header::parse(&bytes) {
                Ok(header) => {
                    assert_eq!(header.write(), bytes);
                    assert_eq!(header.filtered, version == 65);
                    known.push(version);
                }
                Err(error) => assert_eq!((error.kind, error.offset), (Kind::Unsupported, 7), "{version}"),
            }
        }
        assert_eq!(known, [0, 1, 65]);
    }

    #[test]
    fn values_beyond_their_fields_are_errors() {
        let chunk = MAX_CHUNK_WRITTEN;
        let describe = |pool, blocks, files| Header::new(chunk, TocForm::Long, pool, blocks, files);
        assert!(describe(MAX_POOL as usize, MAX_BLOCKS as usize, MAX_FILES as usize).is_ok());
        for (pool, blocks, files) in [(1 << 24, 0, 0), (0, 1 << 18, 0), (0, 0, 1 << 20)] {
            assert_eq!(describe(pool, blocks, files).unwrap_err().kind, Kind::Limit);
        }
    }

    #[test]
    fn page_count_is_rounded_up() {
        let chunk = MAX_CHUNK_WRITTEN;
        let pages = |pool| Header::new(chunk, TocForm::Short, pool, 0, 0).unwrap().pages;
        assert_eq!((pages(0), pages(4080), pages(4081)), (1, 1, 2));
    }

    #[test]
    fn each_bad_field_is_an_error_at_its_offset() {
        let with = |at: usize, value: u8| {
            let mut bytes = EXAMPLE;
            bytes[at] = value;
            Header::parse(&bytes).map_err(|e| (e.kind, e.offset))
        };
        assert_eq!(with(0, b'n'), Err((Kind::Corrupt, 0)));
        assert_eq!(with(7, 4), Err((Kind::Unsupported, 7)), "version 2");
        for n in 22..32u8 {
            let mut bytes = EXAMPLE;
            bytes[6] = bytes[6] & 0x0F | n << 4;
            bytes[7] = bytes[7] & 0xFE | n >> 4;
            assert_eq!(Header::parse(&bytes).unwrap_err().kind, Kind::Unsupported, "chunk exponent {n}");
        }
        assert_eq!(with(15, 0x80), Err((Kind::Unsupported, 15)), "entry form 2");
        assert_eq!(with(15, 0xC0), Err((Kind::Unsupported, 15)), "entry form 3");
        assert_eq!(with(4, 0), Err((Kind::Corrupt, 4)), "no pages");
        assert_eq!(with(10, 0xFF), Err((Kind::Corrupt, 4)), "more files than a page holds");
        for len in 0..16 {
            let error = Header::parse(&EXAMPLE[..len]).unwrap_err();
            assert_eq!(error.kind, if len == 0 { Kind::Corrupt } else { Kind::Truncated }, "{len} bytes");
        }
        let zero = Header::parse(&[0; 16]).unwrap_err();
        assert!(zero.message.contains("interrupted or unflushed"), "{zero}");
    }

    #[test]
    fn chunk_sizes_are_powers_of_two_from_512() {
        assert_eq!(ChunkSize::from_bytes(512).map(ChunkSize::exponent), Some(0));
        assert_eq!(ChunkSize::from_bytes(1 << 30), Some(MAX_CHUNK_READ));
        for bytes in [0, 256, 513, 3 << 20, 1 << 31, 1 << 63] {
            assert_eq!(ChunkSize::from_bytes(bytes), None, "{bytes}");
        }
        let chunk = ChunkSize::from_bytes(512).unwrap();
        assert_eq!([0, 1, 512, 513, u64::MAX].map(|size| chunk.blocks(size)), [0, 1, 1, 2, 1 << 55]);
    }
}

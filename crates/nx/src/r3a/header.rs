//! The R3A header: the first 16 or 24 bytes, with the sizes of the tables and the widths of their
//! fields.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 4 | `R3A\0` |
//! | 4 | 4 | from the top bit down, with widths in bits: version 7, chunk size 5 (512 << n bytes), pages 16 (of 4096 bytes), flags 4 |
//! | 8 | 8 | the form of the tables, and their counts where they fit |
//! | 16 | 8 | the counts of a flexible form whose counts need more than 42 bits |
//!
//! A flexible form stores the width of each field in five bits. Writers of the draft disagree on
//! whether a stored 0 means a width of 0 or 1. In version 0 it means 0. Version 1 is read in the
//! one way that gives consistent tables ([`crate::r3a::Head::parse`]), and written so that 0 means
//! 1.

use linerate_core::{Error, Kind, Result};

use crate::format::header::{ChunkSize, MAX_PAGES, PAGE};

/// The first four bytes by the specification. This crate writes them.
pub const MAGIC: [u8; 4] = *b"R3A\0";

/// The same four bytes in reverse order. A program that follows the draft of the specification
/// writes archives that begin so; this crate reads these archives, too.
pub(super) const MAGIC_SWAPPED: [u8; 4] = *b"\0A3R";

/// The version that is written. Version 0 is also read.
pub(super) const VERSION: u8 = 1;

/// The largest chunk size: n = 20, 512 MiB.
pub(super) const MAX_CHUNK: ChunkSize = ChunkSize::from_exponent(20).unwrap();

/// The largest offset of a file in its block in bytes, in every form of the tables.
pub(crate) const MAX_OFFSET: u32 = (1 << 24) - 1;

/// Number of bits for the counts in the word that also holds the widths of a flexible form.
pub(super) const COUNT_BITS: u32 = 42;

/// The flag for a user-data segment.
pub(super) const HAS_USER_DATA: u8 = 8;

/// The flag for a dictionary segment.
pub(super) const HAS_DICTIONARIES: u8 = 4;

/// The widths of table fields, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Widths {
    /// Width of the pool size, which is in bytes.
    pub pool: u32,
    /// Width of the file count, and of a path index.
    pub files: u32,
    /// Width of the block count, and of a file's first block.
    pub blocks: u32,
    /// Width of the offset in a block.
    pub offset: u32,
}

/// The four fixed table forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Entries of 20 bytes: hash, size below 4 GiB, offset.
    Hashed,
    /// Entries of 12 bytes: as `Hashed`, but without hash.
    Bare,
    /// Entries of 24 bytes: hash, size of 64 bits, offset.
    Large,
    /// Entries of 8 bytes, or 16 with hash: size below 4 GiB, no offset, at most 65,535 files and
    /// blocks.
    Small {
        /// Whether entries have a hash.
        hashed: bool,
    },
}

/// The form of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One of the fixed forms.
    Preset(Preset),
    /// "FEF64", with stored field widths. Entries have 8 bytes, or 16 with hash.
    Flexible {
        /// Whether entries have a hash.
        hashed: bool,
        /// The widths. The size has those of 64 bits that offset, path and block do not use.
        widths: Widths,
    },
}

/// The position of a file's size in its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeField {
    U32,
    U64,
    /// The size is in the word, above the other fields.
    InWord,
}

impl Form {
    /// Whether entries have a hash.
    pub const fn hashed(self) -> bool {
        match self {
            Form::Preset(Preset::Hashed | Preset::Large) => true,
            Form::Preset(Preset::Bare) => false,
            Form::Preset(Preset::Small { hashed }) | Form::Flexible { hashed, .. } => hashed,
        }
    }

    /// The widths of its fields.
    pub(super) const fn widths(self) -> Widths {
        match self {
            Form::Preset(Preset::Small { .. }) => Widths { pool: 20, files: 16, blocks: 16, offset: 0 },
            Form::Preset(_) => Widths { pool: 21, files: 18, blocks: 22, offset: 24 },
            Form::Flexible { widths, .. } => widths,
        }
    }

    pub(super) const fn size_field(self) -> SizeField {
        match self {
            Form::Preset(Preset::Large) => SizeField::U64,
            Form::Preset(_) => SizeField::U32,
            Form::Flexible { .. } => SizeField::InWord,
        }
    }

    /// Bytes of the word with block, path and offset.
    pub(super) const fn word_bytes(self) -> usize {
        match self {
            Form::Preset(Preset::Small { .. }) => 4,
            _ => 8,
        }
    }

    /// Bytes of one entry.
    pub(super) const fn entry_bytes(self) -> usize {
        let size = match self.size_field() {
            SizeField::U32 => 4,
            SizeField::U64 => 8,
            SizeField::InWord => 0,
        };
        let hash = if self.hashed() { 8 } else { 0 };
        hash + size + self.word_bytes()
    }

    /// Returns the number of bytes before the entries: 24 if the counts have a word of their own,
    /// else 16.
    pub const fn header_bytes(self) -> usize {
        match self {
            Form::Flexible { widths, .. } if widths.pool + widths.files + widths.blocks > COUNT_BITS => 24,
            _ => 16,
        }
    }

    /// The lowest bit of the counts.
    const fn counts_at(self) -> u32 {
        match self {
            Form::Preset(Preset::Small { .. }) => 8,
            _ => 0,
        }
    }

    /// Returns the name for messages and listings.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Preset(Preset::Hashed) => "preset 0",
            Form::Preset(Preset::Bare) => "preset 1",
            Form::Preset(Preset::Large) => "preset 2",
            Form::Preset(Preset::Small { .. }) => "preset 3",
            Form::Flexible { .. } => "FEF64",
        }
    }
}

/// The meaning of a stored width of 0 in a flexible form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZeroWidth {
    IsZero,
    IsOne,
}

/// The header fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version, 0 or 1.
    pub version: u8,
    /// The chunk size, at most 512 MiB.
    pub chunk: ChunkSize,
    /// Number of 4096-byte pages before the first block.
    pub pages: u32,
    /// Four bits: 8 for user data, 4 for dictionaries. The other two are undefined.
    pub flags: u8,
    /// The form of the tables.
    pub form: Form,
    /// Size in bytes of the pool, including its size field.
    pub pool: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Number of files.
    pub files: u32,
}

/// Returns `width` bits of `word`, the lowest of which is bit `shift`. Fields at or above bit 64
/// are 0.
pub(super) fn bits(word: u64, shift: u32, width: u32) -> u64 {
    let mask = 1u64.checked_shl(width).map_or(u64::MAX, |top| top - 1);
    word.checked_shr(shift).unwrap_or(0) & mask
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// The fields that do not depend on the table form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FixedFields {
    pub(super) version: u8,
    chunk: ChunkSize,
    pages: u32,
    flags: u8,
    table: u64,
}

impl FixedFields {
    /// Parses the first 16 bytes.
    pub(super) fn parse(bytes: &[u8]) -> Result<FixedFields> {
        let magic = bytes.get(..4).ok_or(truncated(bytes.len(), "the archive ends within its header"))?;
        if magic != MAGIC && magic != MAGIC_SWAPPED {
            return Err(Error::new(Kind::Corrupt, 0, "not an R3A archive"));
        }
        if bytes.len() < 16 {
            return Err(truncated(bytes.len(), "the archive ends within its header"));
        }
        let word = u64::from(u32_at(bytes, 4));
        let version = bits(word, 25, 7) as u8;
        if version > VERSION {
            return Err(Error::new(Kind::Unsupported, 7, "an R3A archive of an unknown version"));
        }
        let chunk = ChunkSize::from_exponent(bits(word, 20, 5) as u8).filter(|chunk| *chunk <= MAX_CHUNK);
        let pages = bits(word, 4, 16) as u32;
        if pages == 0 {
            return Err(Error::new(Kind::Corrupt, 4, "a header of no pages"));
        }
        Ok(FixedFields {
            version,
            chunk: chunk.ok_or(Error::new(Kind::Unsupported, 6, "chunks of more than 512 MiB"))?,
            pages,
            flags: bits(word, 0, 4) as u8,
            table: u64_at(bytes, 8),
        })
    }

    /// Size of the header with its tables in bytes.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.pages) * PAGE
    }

    pub(super) fn is_flexible(&self) -> bool {
        self.table >> 63 == 1
    }

    fn form(&self, zero: ZeroWidth) -> Result<Form> {
        let table = self.table;
        if !self.is_flexible() {
            return Ok(Form::Preset(match bits(table, 61, 2) {
                0 => Preset::Hashed,
                1 => Preset::Bare,
                2 => Preset::Large,
                _ => Preset::Small { hashed: bits(table, 60, 1) == 1 },
            }));
        }
        let width = |shift| bits(table, shift, 5) as u32 + u32::from(zero == ZeroWidth::IsOne);
        let widths = Widths { pool: width(57), files: width(52), blocks: width(47), offset: width(42) };
        if widths.files + widths.blocks + widths.offset > 64 {
            return Err(Error::new(Kind::Corrupt, 8, "the fields of an entry are wider than 64 bits"));
        }
        if widths.pool + widths.files + widths.blocks > 64 {
            return Err(Error::new(Kind::Corrupt, 8, "the counts are wider than 64 bits"));
        }
        Ok(Form::Flexible { hashed: bits(table, 62, 1) == 1, widths })
    }
}

impl Header {
    /// Parses the fields and checks that the tables fit the pages. `bytes` is the start of the
    /// archive.
    pub(super) fn parse(bytes: &[u8], zero: ZeroWidth) -> Result<Header> {
        let fields = FixedFields::parse(bytes)?;
        let form = fields.form(zero)?;
        let (widths, mut counts) = (form.widths(), fields.table >> form.counts_at());
        if form.header_bytes() == 24 {
            if bytes.len() < 24 {
                return Err(truncated(bytes.len(), "the archive ends within its header"));
            }
            counts = u64_at(bytes, 16);
        }
        let header = Header {
            version: fields.version,
            chunk: fields.chunk,
            pages: fields.pages,
            flags: fields.flags,
            form,
            // No width is above 32.
            files: bits(counts, 0, widths.files) as u32,
            blocks: bits(counts, widths.files, widths.blocks) as u32,
            pool: bits(counts, widths.files + widths.blocks, widths.pool) as u32,
        };
        if header.pool_end() > header.bytes() {
            return Err(Error::new(Kind::Corrupt, 8, "the tables are larger than the header"));
        }
        Ok(header)
    }

    /// Size of the header with its tables in bytes. This is the offset of the first block.
    pub fn bytes(&self) -> u64 {
        u64::from(self.pages) * PAGE
    }

    /// The offset of the entries.
    pub(super) fn entries_offset(&self) -> u64 {
        self.form.header_bytes() as u64
    }

    /// The offset of the block table, where the entries end.
    pub fn blocks_offset(&self) -> u64 {
        // Entries have at most 24 bytes each, so the sum is below 2^37.
        self.entries_offset() + u64::from(self.files) * self.form.entry_bytes() as u64
    }

    /// The offset of the pool, where the block table ends.
    pub(super) fn pool_offset(&self) -> u64 {
        self.blocks_offset() + 4 * u64::from(self.blocks)
    }

    /// The end offset of the pool. Segments follow at multiples of 8.
    pub(super) fn pool_end(&self) -> u64 {
        self.pool_offset() + u64::from(self.pool)
    }

    /// Whether a dictionary segment follows the pool.
    pub fn has_dictionaries(&self) -> bool {
        self.flags & HAS_DICTIONARIES != 0
    }

    /// Whether there is a user-data segment: after the dictionary segment or, without one, after the
    /// pool of paths.
    pub(super) fn has_user_data(&self) -> bool {
        self.flags & HAS_USER_DATA != 0
    }

    /// Encodes the 16 or 24 bytes as version 1. Counts must fit their fields, or they overwrite
    /// other fields; [`crate::r3a::HeadBuilder`] checks them before.
    pub(super) fn write(&self) -> Vec<u8> {
        let word = u32::from(VERSION) << 25
            | u32::from(self.chunk.exponent()) << 20
            | (self.pages & MAX_PAGES) << 4
            | u32::from(self.flags & 15);
        let widths = self.form.widths();
        let shifted = |n: u32, shift| u64::from(n).checked_shl(shift).unwrap_or(0);
        let counts = shifted(self.files, 0)
            | shifted(self.blocks, widths.files)
            | shifted(self.pool, widths.files + widths.blocks);
        let own_word = self.form.header_bytes() == 24;
        let table = match self.form {
            Form::Preset(preset) => preset.code() | counts << self.form.counts_at(),
            Form::Flexible { hashed, widths } => {
                // Widths are 1 to 32 and stored minus one.
                let stored = |width: u32, shift| shifted(width.saturating_sub(1) & 31, shift);
                1 << 63
                    | u64::from(hashed) << 62
                    | stored(widths.pool, 57)
                    | stored(widths.files, 52)
                    | stored(widths.blocks, 47)
                    | stored(widths.offset, 42)
                    | if own_word { 0 } else { counts }
            }
        };
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&word.to_le_bytes());
        out.extend_from_slice(&table.to_le_bytes());
        if own_word {
            out.extend_from_slice(&counts.to_le_bytes());
        }
        out
    }
}

impl Preset {
    const fn code(self) -> u64 {
        match self {
            Preset::Hashed => 0,
            Preset::Bare => 1 << 61,
            Preset::Large => 2 << 61,
            Preset::Small { hashed } => 3 << 61 | (hashed as u64) << 60,
        }
    }
}

fn truncated(len: usize, what: &'static str) -> Error {
    Error::new(Kind::Truncated, len as u64, what)
}

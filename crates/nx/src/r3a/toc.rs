//! The table of contents: an entry for each file, and a 32-bit word for each block.
//!
//! An entry is a hash (u64) if the form has hashes, a size (u32 or u64) if it is not in the word,
//! and the word. The word has, from the lowest bit up, the first block, the path index, the offset
//! in the block and, in a flexible form, the size. A block is a u32 with its compressed size (29
//! bits) and its codec (3).

use linerate_core::{Error, Kind, Result};

use super::header::{Header, MAX_OFFSET, SizeField, bits, u32_at, u64_at};
use crate::format::toc::{Codec, Entry};

/// The codec of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockCodec {
    /// A codec of Nx. zstd frames lack their magic number.
    Known(Codec),
    /// The number of an unsupported codec, 3 to 7: bzip3 (3), LZMA (4), or an undefined number.
    /// Files in the block cannot be read.
    Foreign(u8),
}

/// The table entry of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Compressed size in bytes, at most [`crate::MAX_COMPRESSED`].
    pub compressed: u32,
    /// The codec.
    pub codec: BlockCodec,
}

/// The entries and blocks of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toc {
    /// The entries in the order of the archive. [`Entry::hash`] is 0 if the form has no hashes.
    pub entries: Vec<Entry>,
    /// The blocks in the order of the archive.
    pub blocks: Vec<Block>,
}

impl Block {
    fn parse(word: u32) -> Block {
        let code = (word & 7) as u8;
        let known = Codec::ALL.get(usize::from(code));
        let codec = known.map_or(BlockCodec::Foreign(code), |codec| BlockCodec::Known(*codec));
        Block { compressed: word >> 3, codec }
    }

    pub(super) fn word(self) -> u32 {
        let code = match self.codec {
            BlockCodec::Known(codec) => codec as u32,
            BlockCodec::Foreign(code) => u32::from(code & 7),
        };
        self.compressed << 3 | code
    }
}

impl Toc {
    /// Parses the tables that `header` describes. `bytes` is the start of the archive with all
    /// header pages, which the tables were checked to fit.
    pub(super) fn parse(header: &Header, bytes: &[u8]) -> Result<Toc> {
        let (blocks_offset, pool_offset) = (header.blocks_offset() as usize, header.pool_offset() as usize);
        let size = header.form.entry_bytes();
        let table = bytes[header.entries_offset() as usize..blocks_offset].chunks_exact(size);
        let entries = table.enumerate().map(|(i, bytes)| {
            let wrong = |what| Error::new(Kind::Corrupt, header.entries_offset() + (i * size) as u64, what);
            let entry = parse_entry(header, bytes);
            if entry.path >= header.files {
                return Err(wrong("an entry whose path is not in the pool"));
            }
            if entry.block_offset > MAX_OFFSET {
                return Err(wrong("an offset in a block of 16 MiB or more"));
            }
            Ok(entry)
        });
        let words = bytes[blocks_offset..pool_offset].as_chunks().0.iter();
        let blocks = words.map(|word| Block::parse(u32::from_le_bytes(*word)));
        Ok(Toc { entries: entries.collect::<Result<_>>()?, blocks: blocks.collect() })
    }
}

fn parse_entry(header: &Header, bytes: &[u8]) -> Entry {
    let (form, widths) = (header.form, header.form.widths());
    let (hash, rest) = match form.hashed() {
        true => (u64_at(bytes, 0), &bytes[8..]),
        false => (0, bytes),
    };
    let (size, rest) = match form.size_field() {
        SizeField::U32 => (Some(u64::from(u32_at(rest, 0))), &rest[4..]),
        SizeField::U64 => (Some(u64_at(rest, 0)), &rest[8..]),
        SizeField::InWord => (None, rest),
    };
    let word = match form.word_bytes() {
        4 => u64::from(u32_at(rest, 0)),
        _ => u64_at(rest, 0),
    };
    let offset_at = widths.blocks + widths.files;
    // No width is above 32.
    Entry {
        hash,
        size: size.unwrap_or(bits(word, offset_at + widths.offset, 64)),
        path: bits(word, widths.blocks, widths.files) as u32,
        first_block: bits(word, 0, widths.blocks) as u32,
        block_offset: bits(word, offset_at, widths.offset) as u32,
    }
}

/// Appends an entry. Its fields must fit their widths.
pub(super) fn write_entry(header: &Header, entry: &Entry, out: &mut Vec<u8>) {
    let (form, widths) = (header.form, header.form.widths());
    let shifted = |n: u64, shift: u32| n.checked_shl(shift).unwrap_or(0);
    let offset_at = widths.blocks + widths.files;
    let mut word = u64::from(entry.first_block)
        | shifted(entry.path.into(), widths.blocks)
        | shifted(entry.block_offset.into(), offset_at);
    if form.hashed() {
        out.extend_from_slice(&entry.hash.to_le_bytes());
    }
    match form.size_field() {
        SizeField::U32 => out.extend_from_slice(&(entry.size as u32).to_le_bytes()),
        SizeField::U64 => out.extend_from_slice(&entry.size.to_le_bytes()),
        SizeField::InWord => word |= shifted(entry.size, offset_at + widths.offset),
    }
    out.extend_from_slice(&word.to_le_bytes()[..form.word_bytes()]);
}

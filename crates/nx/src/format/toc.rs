//! The table of contents: an entry for each file, and a 32-bit word for each block.
//!
//! An entry is a hash (u64), a size (u32 in the short form, u64 in the long form), and a u64 with,
//! from the top bit down, the offset in the block (26 bits), the path index (20) and the first
//! block (18). A block is a u32 with its compressed size (29 bits) and its codec (3). The top bit
//! of the codec marks a filtered block.

use linerate_core::{Error, Kind, Result};

use crate::format::header::{HEADER, Header, MAX_BLOCKS, MAX_FILES, TocForm};

/// The largest offset of a file in its decompressed block, in bytes.
pub const MAX_OFFSET: u32 = (1 << 26) - 1;

/// The largest compressed block, in bytes.
pub const MAX_COMPRESSED: u32 = (1 << 29) - 1;

/// The codec of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Stored uncompressed.
    Copy,
    /// One zstd frame; in a filtered block, one or more.
    Zstd,
    /// One raw LZ4 block.
    Lz4,
}

impl Codec {
    /// All codecs, by their number in the format.
    pub const ALL: [Codec; 3] = [Codec::Copy, Codec::Zstd, Codec::Lz4];

    /// The name of the codec.
    pub const fn name(self) -> &'static str {
        match self {
            Codec::Copy => "copy",
            Codec::Zstd => "zstd",
            Codec::Lz4 => "lz4",
        }
    }
}

/// The entry of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The hash of the content.
    pub hash: u64,
    /// The size of the content in bytes.
    pub size: u64,
    /// The index of the file's path in the pool.
    pub path: u32,
    /// The block with the file's first byte. Unused if the file is empty.
    pub first_block: u32,
    /// The offset of the file in that decompressed block, in bytes; 0 for a file of several blocks.
    pub block_offset: u32,
}

/// The table entry of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Compressed size in bytes, at most [`MAX_COMPRESSED`].
    pub compressed: u32,
    /// The codec.
    pub codec: Codec,
    /// Whether regions of the content were filtered before it was compressed by [`Codec::Zstd`] or
    /// [`Codec::Lz4`]. If so, the compressed bytes begin with the table of
    /// [regions](crate::Region). Only in archives with [`Header::filtered`].
    pub filtered: bool,
}

/// The bit that a filtered block has in its codec number.
const FILTERED: u32 = 4;

/// The entries and blocks of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toc {
    /// The entries in the order of the archive.
    pub entries: Vec<Entry>,
    /// The blocks in the order of the archive.
    pub blocks: Vec<Block>,
}

fn u32_of(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn u64_of(bytes: &[u8]) -> u64 {
    u64::from(u32_of(bytes)) | u64::from(u32_of(&bytes[4..])) << 32
}

impl Entry {
    fn parse(form: TocForm, bytes: &[u8]) -> Entry {
        let (size, word) = match form {
            TocForm::Short => (u64::from(u32_of(&bytes[8..])), u64_of(&bytes[12..])),
            TocForm::Long => (u64_of(&bytes[8..]), u64_of(&bytes[16..])),
        };
        Entry {
            hash: u64_of(bytes),
            size,
            path: (word >> 18) as u32 & MAX_FILES,
            first_block: word as u32 & MAX_BLOCKS,
            block_offset: (word >> 38) as u32,
        }
    }

    fn write(&self, form: TocForm, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.hash.to_le_bytes());
        match form {
            TocForm::Short => out.extend_from_slice(&(self.size as u32).to_le_bytes()),
            TocForm::Long => out.extend_from_slice(&self.size.to_le_bytes()),
        }
        let word = u64::from(self.block_offset & MAX_OFFSET) << 38
            | u64::from(self.path & MAX_FILES) << 18
            | u64::from(self.first_block & MAX_BLOCKS);
        out.extend_from_slice(&word.to_le_bytes());
    }
}

impl Block {
    /// Parses the word of a block. `None` for an unknown codec. A block marked as filtered has an
    /// unknown codec if it is stored, or if `may_be_filtered` is false.
    fn parse(word: u32, may_be_filtered: bool) -> Option<Block> {
        let filtered = word & FILTERED != 0;
        let codec = *Codec::ALL.get((word & 3) as usize)?;
        let is_known = !filtered || (may_be_filtered && codec != Codec::Copy);
        is_known.then_some(Block { compressed: word >> 3, codec, filtered })
    }

    /// Whether the block can be decoded in steps, each of which continues after the one before.
    pub(crate) fn is_resumable(self) -> bool {
        self.codec == Codec::Zstd && !self.filtered
    }

    fn word(self) -> u32 {
        let filter = if self.filtered { FILTERED } else { 0 };
        (self.compressed & MAX_COMPRESSED) << 3 | filter | self.codec as u32
    }
}

impl Toc {
    /// Returns the shortest form that holds these entries.
    pub fn form(&self) -> TocForm {
        match self.entries.iter().all(|entry| u32::try_from(entry.size).is_ok()) {
            true => TocForm::Short,
            false => TocForm::Long,
        }
    }

    /// Parses the tables that `header` describes. `bytes` is the start of the archive, at least up
    /// to the pool.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Truncated`] if `bytes` end within the tables, [`Kind::Corrupt`] for a path
    /// index beyond the pool, and [`Kind::Unsupported`] for an unknown codec. Offsets are in the
    /// archive. [`crate::Layout::new`] checks the entries against the blocks.
    pub fn parse(header: &Header, bytes: &[u8]) -> Result<Toc> {
        // Both offsets are below 2^25.
        let (blocks_offset, pool_offset) = (header.blocks_offset() as usize, header.pool_offset() as usize);
        if bytes.len() < pool_offset {
            let what = "the archive ends within its table of contents";
            return Err(Error::new(Kind::Truncated, bytes.len() as u64, what));
        }
        let size = header.form.entry_bytes();
        let entries = bytes[HEADER..blocks_offset].chunks_exact(size).map(|b| Entry::parse(header.form, b));
        let entries: Vec<Entry> = entries.collect();
        if let Some(i) = entries.iter().position(|entry| entry.path >= header.files) {
            let at = (HEADER + i * size) as u64;
            return Err(Error::new(Kind::Corrupt, at, "an entry whose path is not in the pool"));
        }
        let blocks = bytes[blocks_offset..pool_offset].as_chunks().0.iter().enumerate().map(|(i, word)| {
            let at = (blocks_offset + 4 * i) as u64;
            Block::parse(u32::from_le_bytes(*word), header.filtered).ok_or(Error::new(
                Kind::Unsupported,
                at,
                "a block of an unknown codec",
            ))
        });
        Ok(Toc { entries, blocks: blocks.collect::<Result<_>>()? })
    }

    /// Appends the tables to `out`. Values beyond their limits are truncated, also sizes that do
    /// not fit the short form: choose the form by [`Toc::form`].
    pub fn write(&self, form: TocForm, out: &mut Vec<u8>) {
        self.entries.iter().for_each(|entry| entry.write(form, out));
        self.blocks.iter().for_each(|block| out.extend_from_slice(&block.word().to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::header::{ChunkSize, MAX_CHUNK_WRITTEN};

    fn bytes_of(toc: &Toc, form: TocForm) -> (Header, Vec<u8>) {
        let header = Header::new(MAX_CHUNK_WRITTEN, form, 0, toc.blocks.len(), toc.entries.len()).unwrap();
        let mut bytes = header.write().to_vec();
        toc.write(form, &mut bytes);
        (header, bytes)
    }

    #[test]
    fn worked_example_round_trips() {
        let bytes =
            [0x85, 0x34, 0x55, 0x5C, 0xE0, 0x96, 0xD4, 0xD0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0];
        let entry = Entry { hash: 0xd0d4_96e0_5c55_3485, size: 1, path: 0, first_block: 0, block_offset: 0 };
        let toc = Toc {
            entries: vec![entry],
            blocks: vec![Block { compressed: 1, codec: Codec::Copy, filtered: false }],
        };
        let (header, written) = bytes_of(&toc, TocForm::Short);
        assert_eq!(written[HEADER..], bytes);
        assert_eq!(Toc::parse(&header, &written), Ok(toc));
    }

    #[test]
    fn entry_word_matches_the_reference() {
        let entry = Entry { hash: 0, size: 0, path: 3, first_block: 7, block_offset: 5 };
        let mut out = Vec::new();
        entry.write(TocForm::Short, &mut out);
        assert_eq!(out[12..], [7, 0, 0x0C, 0, 0x40, 1, 0, 0]);
    }

    #[test]
    fn largest_values_round_trip_in_both_forms() {
        for (form, size) in [(TocForm::Short, u64::from(u32::MAX)), (TocForm::Long, u64::MAX)] {
            let largest =
                Entry { hash: u64::MAX, size, path: 1, first_block: MAX_BLOCKS, block_offset: MAX_OFFSET };
            let block = Block { compressed: MAX_COMPRESSED, codec: Codec::Lz4, filtered: false };
            let toc = Toc { entries: vec![largest, Entry { path: 0, ..largest }], blocks: vec![block; 3] };
            assert_eq!(toc.form(), form);
            let (header, bytes) = bytes_of(&toc, form);
            assert_eq!(Toc::parse(&header, &bytes), Ok(toc));
            for len in 0..bytes.len() {
                assert_eq!(Toc::parse(&header, &bytes[..len]).unwrap_err().kind, Kind::Truncated);
            }
        }
    }

    #[test]
    fn unknown_codec_or_path_beyond_the_pool_is_an_error_at_its_offset() {
        let entry = Entry { hash: 0, size: 0, path: 0, first_block: 0, block_offset: 0 };
        let block = Block { compressed: 9, codec: Codec::Zstd, filtered: false };
        let toc = Toc { entries: vec![entry, Entry { path: 1, ..entry }], blocks: vec![block; 2] };
        let (header, bytes) = bytes_of(&toc, TocForm::Short);
        for codec in 3..8 {
            let mut bytes = bytes.clone();
            bytes[60] = 9 << 3 | codec;
            let what = "a block of an unknown codec";
            assert_eq!(Toc::parse(&header, &bytes), Err(Error::new(Kind::Unsupported, 60, what)));
        }
        let mut bytes = bytes;
        bytes[36 + 14] = 2 << 2;
        let error = Toc::parse(&header, &bytes).unwrap_err();
        assert_eq!((error.kind, error.offset), (Kind::Corrupt, 36));
    }

    #[test]
    fn filtered_blocks_are_zstd_or_lz4_and_need_the_header_version_of_filters() {
        for word in 0..8 {
            let known = Block::parse(9 << 3 | word, true);
            assert_eq!(known.is_some(), [0, 1, 2, 5, 6].contains(&word), "{word}");
            assert_eq!(known.map(Block::word).unwrap_or(9 << 3 | word), 9 << 3 | word);
            assert_eq!(known.is_some_and(|block| block.filtered), word > 2 && known.is_some());
            assert_eq!(Block::parse(word, false).is_some(), word < 3, "{word}");
        }
    }

    #[test]
    fn tables_do_not_depend_on_the_chunk_size() {
        let toc = Toc::default();
        let header = Header::new(ChunkSize::from_bytes(512).unwrap(), toc.form(), 0, 0, 0).unwrap();
        assert_eq!(Toc::parse(&header, &header.write()), Ok(toc));
    }
}

//! Fixed-size parts of a block file: header, footer, and index entries.

use linerate_core::{Error, Kind, Result};

use crate::files::fields::{has_valid_checksum, put, put_checksum, u16_at, u32_at, u64_at};

const MAGIC: &[u8; 8] = b"\x89LRBLKS\n";
const END_MAGIC: &[u8; 8] = b"LRBKEND\n";
const VERSION: u16 = 1;
/// Flag of a file whose index has hashes of block contents.
const CHECKSUMS: u16 = 1;
/// Maximum content of a data block, and maximum size of an index block, in bytes.
pub(super) const MAX_CONTENT: usize = 64 << 20;
/// Maximum length of an embedded dictionary, in bytes.
pub(super) const MAX_DICTIONARY: usize = 64 << 20;

/// Place of a block file's dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DictionaryPlace {
    /// No dictionary.
    None,
    /// In the file.
    Embedded,
    /// Elsewhere, under this ID. For a dictionary in a pack, it is the ID in the pack.
    External(u64),
}

/// Identifies the dictionary of a block file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DictionaryReference {
    /// Place of the dictionary.
    pub place: DictionaryPlace,
    /// Length of the dictionary in bytes.
    pub len: u32,
    /// Dictionary_ID (RFC 8878, section 5); 0 for raw content.
    pub zstd_id: u32,
    /// XXH3 hash of the dictionary (64 bits, seed 0).
    pub hash: u64,
}

impl DictionaryReference {
    pub(super) const NONE: Self =
        DictionaryReference { place: DictionaryPlace::None, len: 0, zstd_id: 0, hash: 0 };
}

/// Header of a block file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) checksums: bool,
    /// Target size of a block, in bytes of content.
    pub(super) block_size: u32,
    /// zstd compression level.
    pub(super) level: i32,
    pub(super) dictionary: DictionaryReference,
}

impl Header {
    pub(super) const LEN: usize = 64;

    pub(super) fn write(&self) -> [u8; Header::LEN] {
        let mut out = [0; Header::LEN];
        put(&mut out, 0, MAGIC);
        put(&mut out, 8, &VERSION.to_le_bytes());
        put(&mut out, 10, &if self.checksums { CHECKSUMS } else { 0 }.to_le_bytes());
        put(&mut out, 12, &self.block_size.to_le_bytes());
        let (place, id) = match self.dictionary.place {
            DictionaryPlace::None => (0, 0),
            DictionaryPlace::Embedded => (1, 0),
            DictionaryPlace::External(id) => (2, id),
        };
        out[16] = place;
        put(&mut out, 20, &self.level.to_le_bytes());
        put(&mut out, 24, &self.dictionary.len.to_le_bytes());
        put(&mut out, 28, &self.dictionary.zstd_id.to_le_bytes());
        put(&mut out, 32, &id.to_le_bytes());
        put(&mut out, 40, &self.dictionary.hash.to_le_bytes());
        put_checksum(&mut out);
        out
    }

    pub(super) fn parse(bytes: &[u8; Header::LEN]) -> Result<Header> {
        if !bytes.starts_with(MAGIC) {
            return Err(Error::corrupt("not a block file: the magic number is missing"));
        }
        if !has_valid_checksum(bytes) {
            return Err(Error::corrupt("the header of the block file is damaged"));
        }
        let flags = u16_at(bytes, 10);
        if u16_at(bytes, 8) != VERSION || flags & !CHECKSUMS != 0 {
            return Err(Error::new(Kind::Unsupported, 8, "the version of the block file is not supported"));
        }
        let id = u64_at(bytes, 32);
        let place = match bytes[16] {
            0 => DictionaryPlace::None,
            1 => DictionaryPlace::Embedded,
            2 => DictionaryPlace::External(id),
            _ => return Err(Error::new(Kind::Unsupported, 16, "the place of the dictionary is not known")),
        };
        let header = Header {
            checksums: flags & CHECKSUMS != 0,
            block_size: u32_at(bytes, 12),
            level: u32_at(bytes, 20) as i32,
            dictionary: DictionaryReference {
                place,
                len: u32_at(bytes, 24),
                zstd_id: u32_at(bytes, 28),
                hash: u64_at(bytes, 40),
            },
        };
        // Unused bytes are zero, so that later versions can use them.
        if header.write() != *bytes {
            return Err(Error::new(Kind::Unsupported, 16, "the block file uses reserved fields"));
        }
        Ok(header)
    }

    /// Returns the number of bytes before the first block.
    pub(super) fn blocks_offset(&self) -> u64 {
        let embedded = self.dictionary.place == DictionaryPlace::Embedded;
        Header::LEN as u64 + if embedded { self.dictionary.len.into() } else { 0 }
    }
}

/// A range of the file, and a hash: of the range or, for a data block, of its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) at: u64,
    pub(super) len: u32,
    pub(super) hash: u64,
}

/// Numbers of records, blocks and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records.
    pub records: u64,
    /// Bytes of all keys.
    pub key_bytes: u64,
    /// Bytes of all values.
    pub value_bytes: u64,
    /// Data blocks.
    pub blocks: u64,
    /// Uncompressed bytes of the data blocks: keys, values and their encoding.
    pub content_bytes: u64,
    /// Stored bytes of the data blocks.
    pub stored_bytes: u64,
    /// Index blocks, without the root index block.
    pub index_blocks: u64,
    /// Bytes of all index blocks, the root included.
    pub index_bytes: u64,
}

/// Footer of a block file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    /// The root index block.
    pub(super) root: Extent,
    pub(super) counts: Counts,
    /// Bytes of the file.
    pub(super) len: u64,
    /// Checksum of the header.
    pub(super) header: u64,
}

impl Footer {
    pub(super) const LEN: usize = 128;

    pub(super) fn write(&self) -> [u8; Footer::LEN] {
        let mut out = [0; Footer::LEN];
        put(&mut out, 0, END_MAGIC);
        let counts = &self.counts;
        let fields = [
            self.root.at,
            self.root.len.into(),
            self.root.hash,
            counts.records,
            counts.key_bytes,
            counts.value_bytes,
            counts.blocks,
            counts.content_bytes,
            counts.stored_bytes,
            counts.index_blocks,
            counts.index_bytes,
            self.len,
            self.header,
        ];
        for (i, field) in fields.iter().enumerate() {
            put(&mut out, 8 + 8 * i, &field.to_le_bytes());
        }
        put_checksum(&mut out);
        out
    }

    pub(super) fn parse(bytes: &[u8; Footer::LEN]) -> Result<Footer> {
        if !bytes.starts_with(END_MAGIC) || !has_valid_checksum(bytes) {
            return Err(Error::new(
                Kind::Truncated,
                0,
                "the footer of the block file is missing: the file is truncated or damaged",
            ));
        }
        let field = |i: usize| u64_at(bytes, 8 + 8 * i);
        let len = u32::try_from(field(1))
            .map_err(|_| Error::corrupt("the index of the block file exceeds 64 MiB"))?;
        let footer = Footer {
            root: Extent { at: field(0), len, hash: field(2) },
            counts: Counts {
                records: field(3),
                key_bytes: field(4),
                value_bytes: field(5),
                blocks: field(6),
                content_bytes: field(7),
                stored_bytes: field(8),
                index_blocks: field(9),
                index_bytes: field(10),
            },
            len: field(11),
            header: field(12),
        };
        if footer.write() != *bytes {
            return Err(Error::new(Kind::Unsupported, 112, "the block file uses reserved fields"));
        }
        Ok(footer)
    }
}

/// Entry of an index block: one data block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockEntry {
    /// The frame, and the hash of its content. The hash is 0 in a file without hashes.
    pub(super) extent: Extent,
    /// Uncompressed bytes.
    pub(super) content: u32,
    pub(super) records: u32,
}

impl BlockEntry {
    pub(super) const LEN: usize = 28;

    pub(super) fn write(&self) -> [u8; BlockEntry::LEN] {
        let mut out = [0; BlockEntry::LEN];
        put(&mut out, 0, &self.extent.at.to_le_bytes());
        put(&mut out, 8, &self.extent.len.to_le_bytes());
        put(&mut out, 12, &self.content.to_le_bytes());
        put(&mut out, 16, &self.records.to_le_bytes());
        put(&mut out, 20, &self.extent.hash.to_le_bytes());
        out
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<BlockEntry> {
        if bytes.len() != BlockEntry::LEN {
            return Err(Error::corrupt("an index block is damaged"));
        }
        let extent = Extent { at: u64_at(bytes, 0), len: u32_at(bytes, 8), hash: u64_at(bytes, 20) };
        let place = BlockEntry { extent, content: u32_at(bytes, 12), records: u32_at(bytes, 16) };
        if place.content as usize > MAX_CONTENT {
            return Err(Error::corrupt("the content of a block exceeds 64 MiB"));
        }
        Ok(place)
    }
}

/// Entry of the root index block: one index block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeafEntry {
    pub(super) extent: Extent,
    /// Number of entries in the index block.
    pub(super) blocks: u32,
}

impl LeafEntry {
    pub(super) const LEN: usize = 24;

    pub(super) fn write(&self) -> [u8; LeafEntry::LEN] {
        let mut out = [0; LeafEntry::LEN];
        put(&mut out, 0, &self.extent.at.to_le_bytes());
        put(&mut out, 8, &self.extent.len.to_le_bytes());
        put(&mut out, 12, &self.blocks.to_le_bytes());
        put(&mut out, 16, &self.extent.hash.to_le_bytes());
        out
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<LeafEntry> {
        if bytes.len() != LeafEntry::LEN {
            return Err(Error::corrupt("the root index block is damaged"));
        }
        let extent = Extent { at: u64_at(bytes, 0), len: u32_at(bytes, 8), hash: u64_at(bytes, 16) };
        Ok(LeafEntry { extent, blocks: u32_at(bytes, 12) })
    }
}

/// Returns the shortest prefix of `next` that is greater than `last`. The prefix separates the
/// blocks of these two keys. `next` must be greater than `last`.
pub(super) fn separator<'a>(last: &[u8], next: &'a [u8]) -> &'a [u8] {
    let shared = last.iter().zip(next).take_while(|(a, b)| a == b).count();
    &next[..next.len().min(shared + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_greater_than_the_last_key() {
        for (last, next, expected) in [
            (&b"abc"[..], &b"abd"[..], &b"abd"[..]),
            (b"abc", b"b", b"b"),
            (b"ab", b"abc", b"abc"),
            (b"ab", b"abcdef", b"abc"),
            (b"", b"xyz", b"x"),
            (b"a\xff\xff", b"b\0\0", b"b"),
        ] {
            let between = separator(last, next);
            assert_eq!(between, expected);
            assert!(last < between && between <= next);
        }
    }

    #[test]
    fn headers_and_footers_round_trip() {
        let dictionary = DictionaryReference {
            place: DictionaryPlace::External(77),
            len: 8192,
            zstd_id: 5,
            hash: u64::MAX - 1,
        };
        let header = Header { checksums: true, block_size: 4096, level: -3, dictionary };
        assert_eq!(Header::parse(&header.write()), Ok(header));
        let counts = Counts { records: 1, index_bytes: 9, ..Counts::default() };
        let root = Extent { at: 1 << 40, len: 7, hash: 3 };
        let footer = Footer { root, counts, len: 1 << 41, header: 4 };
        assert_eq!(Footer::parse(&footer.write()), Ok(footer));
        for bit in 0..8 * Header::LEN {
            let mut bytes = header.write();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Header::parse(&bytes).is_err());
            // With a valid checksum, the result is an error or another header, which round-trips.
            put_checksum(&mut bytes);
            if let Ok(other) = Header::parse(&bytes) {
                assert_eq!(other.write(), bytes);
            }
        }
        for bit in 0..8 * Footer::LEN {
            let mut bytes = footer.write();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Footer::parse(&bytes).is_err());
        }
    }
}

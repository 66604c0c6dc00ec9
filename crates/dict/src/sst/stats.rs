//! Statistics of a file.

use std::collections::BTreeMap;

use linerate_core::Result;
use linerate_zstd::Dictionary as Digest;

use super::checksum::Checksum;
use super::codec::CompressedBlock;
use super::compression::Compression;
use super::handle::Handle;
use super::index::IndexKind;
use super::open::Sst;
use super::properties::Properties;
use super::reader::{BlockPosition, Reader, check, stored_len};

/// Kind of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DictionaryKind {
    /// Raw content.
    Raw,
    /// Tables and content (RFC 8878, section 5).
    Trained {
        /// Dictionary_ID, which frames have. It need not be unique.
        number: u32,
    },
}

/// The dictionary of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DictionaryStats {
    /// Number of stored bytes. RocksDB stores a dictionary uncompressed.
    pub bytes: u64,
    /// Kind of the dictionary.
    pub kind: DictionaryKind,
}

/// Data blocks of one compression type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockCount {
    /// Number of blocks.
    pub blocks: u64,
    /// Number of stored bytes, without trailers.
    pub stored: u64,
    /// Number of uncompressed bytes. For types that are not supported, the number of stored bytes.
    pub content: u64,
}

/// Statistics of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SstStats {
    /// Length of the file in bytes.
    pub file_bytes: u64,
    /// Format version, 2 to 7.
    pub format_version: u32,
    /// Checksum kind of the blocks.
    pub checksum: Checksum,
    /// Kind of the index.
    pub index: IndexKind,
    /// The dictionary.
    pub dictionary: Option<DictionaryStats>,
    /// The data blocks by compression type, from their headers and trailers.
    pub blocks: BTreeMap<Compression, BlockCount>,
    /// The properties.
    pub properties: Properties,
}

impl SstStats {
    /// Sums up all data blocks.
    pub fn all_blocks(&self) -> BlockCount {
        self.blocks.values().fold(BlockCount::default(), |all, some| BlockCount {
            blocks: all.blocks + some.blocks,
            stored: all.stored + some.stored,
            content: all.content + some.content,
        })
    }

    /// Returns the number of bytes of keys and values, divided by the length of the file.
    pub fn ratio(&self) -> f64 {
        let raw = self.properties.raw_key_bytes().saturating_add(self.properties.raw_value_bytes());
        raw as f64 / self.file_bytes.max(1) as f64
    }

    /// Returns the number of uncompressed bytes of the data blocks, divided by their stored bytes
    /// plus the bytes of the dictionary.
    pub fn block_ratio(&self) -> f64 {
        let all = self.all_blocks();
        let dictionary = self.dictionary.map_or(0, |dictionary| dictionary.bytes);
        all.content as f64 / (all.stored + dictionary).max(1) as f64
    }
}

impl Reader {
    /// Collects statistics. Data blocks are read, but not decompressed.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get), for index, properties and data blocks.
    pub fn stats(&mut self, sst: &Sst) -> Result<SstStats> {
        let mut blocks: BTreeMap<Compression, BlockCount> = BTreeMap::new();
        let mut position = BlockPosition::default();
        while let Some(handle) = self.next_block(sst, &mut position)? {
            let (compression, content) = self.measure(sst, handle)?;
            let count = blocks.entry(compression).or_default();
            count.blocks += 1;
            count.stored += handle.size;
            count.content += content;
        }
        Ok(SstStats {
            file_bytes: sst.file_bytes(),
            format_version: sst.format_version(),
            checksum: sst.checksum(),
            index: sst.index_kind(),
            dictionary: dictionary(sst)?,
            blocks,
            properties: self.properties(sst)?,
        })
    }

    /// Returns the compression of a block, and its uncompressed length.
    fn measure(&mut self, sst: &Sst, handle: Handle) -> Result<(Compression, u64)> {
        let len = stored_len(sst, handle)?;
        let bytes = sst.input.bytes(handle.offset, len, &mut self.stored)?;
        let (body, compression) = check(sst, handle, bytes, sst.options.checksums)?;
        let content = match compression {
            Compression::None | Compression::Bzip2 | Compression::Other(_) => Ok(handle.size),
            Compression::Snappy => super::bytes::Bytes(body).varint32().map(u64::from),
            _ => CompressedBlock::parse(compression, body, usize::MAX).map(|block| block.len as u64),
        };
        Ok((compression, content.map_err(|e| e.shifted(handle.offset))?))
    }
}

fn dictionary(sst: &Sst) -> Result<Option<DictionaryStats>> {
    let Some(dictionary) = &sst.dictionary else { return Ok(None) };
    let bytes = dictionary.handle.size;
    let mut kind = DictionaryKind::Raw;
    if let Some(id) = sst.dictionary() {
        let copy = sst.store().bytes(id)?;
        let digest = Digest::measure(&copy).map_err(|e| e.with_offset(dictionary.handle.offset))?;
        if digest.is_trained() {
            kind = DictionaryKind::Trained { number: digest.id() };
        }
    }
    Ok(Some(DictionaryStats { bytes, kind }))
}

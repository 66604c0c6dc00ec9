//! Verifies a block file: all hashes, the key order, and the counts in its footer.

use linerate_core::{Error, Result};
use linerate_zstd::Dictionary;

use super::block::{Block, Cursor};
use super::file::BlockFile;
use super::layout::{Counts, DictionaryPlace, Header, LeafEntry};
use super::reader::Reader;
use super::scan::Blocks;
use crate::files::fields::hash;

/// Result of a successful verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Numbers of records, blocks and bytes, which equal those in the footer.
    pub counts: Counts,
    /// Whether block contents have hashes. Without them, some damage is not detected.
    pub checksums: bool,
}

pub(super) fn verify(file: &BlockFile, reader: &mut Reader, progress: &dyn Fn(usize)) -> Result<Verified> {
    reader.check_store(file)?;
    // Every block is read again.
    reader.cached = None;
    let open = file.inner();
    dictionary(file)?;
    let mut counts = Counts::default();
    index(file, &mut counts)?;
    let (mut blocks, mut next) = Blocks::from(file, &[])?;
    let mut last: Option<Vec<u8>> = None;
    let mut cursor = Cursor::default();
    // Blocks are in ascending order without overlap, so none is counted twice.
    let mut end = open.header.blocks_offset();
    // The first block starts at the empty key.
    let mut lower_bound = Vec::new();
    while let Some(entry) = next {
        if entry.extent.at < end {
            return Err(Error::corrupt("blocks of the block file overlap").shifted(entry.extent.at));
        }
        end = entry.extent.at + u64::from(entry.extent.len);
        let block = Block::new(reader.load(file, &entry)?)?;
        block.check().map_err(|e| e.shifted(entry.extent.at))?;
        let corrupt_here = |what| Error::corrupt(what).shifted(entry.extent.at);
        let mut records = 0;
        cursor.start(0);
        if last.as_deref().is_some_and(|last| last >= &lower_bound[..]) {
            return Err(corrupt_here("a key is in the block before its own"));
        }
        while cursor.step(&block)? {
            let key = cursor.key();
            if key < &lower_bound[..] || last.as_deref().is_some_and(|last| key <= last) {
                return Err(corrupt_here("the keys of the block file are not in order"));
            }
            let last = last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
            counts.key_bytes += key.len() as u64;
            counts.value_bytes += cursor.value.len() as u64;
            records += 1;
        }
        if records != entry.records || records == 0 {
            return Err(corrupt_here("the number of records in a block differs from its index entry"));
        }
        counts.records += u64::from(records);
        counts.blocks += 1;
        counts.content_bytes += u64::from(entry.content);
        counts.stored_bytes += u64::from(entry.extent.len);
        progress(entry.content as usize);
        next = blocks.next(file)?;
        lower_bound.clear();
        lower_bound.extend_from_slice(blocks.key());
    }
    if counts != open.footer.counts {
        return Err(Error::corrupt("the counts in the footer of the block file are wrong"));
    }
    Ok(Verified { counts, checksums: open.header.checksums })
}

/// Reads and checks the embedded dictionary, or the external one in the store.
fn dictionary(file: &BlockFile) -> Result<()> {
    let open = file.inner();
    let reference = open.header.dictionary;
    let wrong = Error::corrupt("the dictionary of a block file is damaged").shifted(Header::LEN as u64);
    let mut buffer = Vec::new();
    let from_store;
    let bytes = match reference.place {
        DictionaryPlace::None => return Ok(()),
        DictionaryPlace::Embedded => {
            open.input.bytes(Header::LEN as u64, reference.len as usize, &mut buffer)?
        }
        DictionaryPlace::External(_) => {
            from_store = open.store.bytes(open.id)?;
            &from_store[..]
        }
    };
    let zstd_id = Dictionary::measure(bytes)?.id();
    let right = bytes.len() == reference.len as usize
        && zstd_id == reference.zstd_id
        && hash(bytes) == reference.hash;
    if right { Ok(()) } else { Err(wrong) }
}

/// Counts the index blocks, checks their restart points and those of the root index block, and
/// compares each index block with its entry in the root index block.
fn index(file: &BlockFile, counts: &mut Counts) -> Result<()> {
    let open = file.inner();
    let root = Block::new(open.root())?;
    root.check().map_err(|e| e.shifted(open.footer.root.at))?;
    let (mut cursor, mut inner) = (Cursor::default(), Cursor::default());
    cursor.start(0);
    let mut buffer = Vec::new();
    while cursor.step(&root)? {
        let branch = LeafEntry::parse(&root.records()[cursor.value.clone()])?;
        let corrupt_here = |what| Error::corrupt(what).shifted(branch.extent.at);
        let leaf = Block::new(open.leaf(&branch, &mut buffer)?)?;
        leaf.check().map_err(|e| e.shifted(branch.extent.at))?;
        let mut blocks = 0;
        inner.start(0);
        while inner.step(&leaf)? {
            if blocks == 0 && inner.key() != cursor.key() {
                return Err(corrupt_here("the first key of an index block differs from the root index"));
            }
            blocks += 1;
        }
        if blocks != branch.blocks || blocks == 0 {
            return Err(corrupt_here("the number of entries in an index block differs from the root index"));
        }
        counts.index_blocks += 1;
        counts.index_bytes += u64::from(branch.extent.len);
    }
    counts.index_bytes += open.root().len() as u64;
    Ok(())
}

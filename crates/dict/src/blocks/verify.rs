//! A whole file read, and everything that it says of itself compared.

use linerate_core::Result;
use linerate_zstd::Dictionary;

use super::block::{Block, Walk};
use super::file::BlockFile;
use super::layout::{Branch, Counts, DictionaryPlace, Header, corrupt};
use super::reader::Reader;
use super::scan::Blocks;
use crate::fields::hash;

/// What was read of a file that is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// How many there are of what: what the file says, counted.
    pub counts: Counts,
    /// Whether the contents of blocks have hashes, so that damage in them would have been found.
    pub checksums: bool,
}

pub(super) fn verify(file: &BlockFile, reader: &mut Reader) -> Result<Verified> {
    reader.is_for(file)?;
    let open = file.parts();
    dictionary(file)?;
    let mut counts = Counts::default();
    index(file, &mut counts)?;
    let (mut blocks, mut next) = Blocks::from(file, &[])?;
    let mut last: Option<Vec<u8>> = None;
    let mut walk = Walk::default();
    // A block lies behind all before it, so none is counted twice.
    let mut end = open.header.before_blocks();
    // The first block begins with the empty key.
    let mut begins = Vec::new();
    while let Some(place) = next {
        if place.piece.at < end {
            return Err(corrupt("a block lies in the one before").shifted(place.piece.at));
        }
        end = place.piece.at + u64::from(place.piece.len);
        let block = Block::new(reader.load(file, &place)?)?;
        block.check().map_err(|e| e.shifted(place.piece.at))?;
        let wrong = |what| corrupt(what).shifted(place.piece.at);
        let mut records = 0;
        walk.start(0);
        if last.as_deref().is_some_and(|last| last >= &begins[..]) {
            return Err(wrong("a key is in a block before its own"));
        }
        while walk.step(&block)? {
            let key = walk.key();
            if key < &begins[..] || last.as_deref().is_some_and(|last| key <= last) {
                return Err(wrong("the keys of a block file are not in their order"));
            }
            let last = last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
            counts.key_bytes += key.len() as u64;
            counts.value_bytes += walk.value.len() as u64;
            records += 1;
        }
        if records != place.records || records == 0 {
            return Err(wrong("a block has not as many records as it says"));
        }
        counts.records += u64::from(records);
        counts.blocks += 1;
        counts.content_bytes += u64::from(place.content);
        counts.stored_bytes += u64::from(place.piece.len);
        next = blocks.next(file)?;
        begins.clear();
        begins.extend_from_slice(blocks.key());
    }
    if counts != open.footer.counts {
        return Err(corrupt("a block file has not as much of everything as it says"));
    }
    Ok(Verified { counts, checksums: open.header.checksums })
}

/// Reads the dictionary that stands in the file; the store may have its own.
fn dictionary(file: &BlockFile) -> Result<()> {
    let open = file.parts();
    let said = open.header.dictionary;
    let wrong = corrupt("the dictionary of a block file is damaged").shifted(Header::LEN as u64);
    let mut room = Vec::new();
    let from_store;
    let bytes = match said.place {
        DictionaryPlace::None => return Ok(()),
        DictionaryPlace::Embedded => open.input.bytes(Header::LEN as u64, said.len as usize, &mut room)?,
        DictionaryPlace::External(_) => {
            from_store = open.store.bytes(open.id)?;
            &from_store[..]
        }
    };
    let zstd_id = Dictionary::measure(bytes)?.id();
    let right = bytes.len() == said.len as usize && zstd_id == said.zstd_id && hash(bytes) == said.hash;
    if right { Ok(()) } else { Err(wrong) }
}

/// Counts the blocks of the index, and compares each with what the index of the index says.
fn index(file: &BlockFile, counts: &mut Counts) -> Result<()> {
    let open = file.parts();
    let root = Block::new(open.root())?;
    root.check().map_err(|e| e.shifted(open.footer.root.at))?;
    let (mut walk, mut inner) = (Walk::default(), Walk::default());
    walk.start(0);
    let mut room = Vec::new();
    while walk.step(&root)? {
        let branch = Branch::parse(&root.records()[walk.value.clone()])?;
        let wrong = |what| corrupt(what).shifted(branch.piece.at);
        let leaf = Block::new(open.leaf(&branch, &mut room)?)?;
        leaf.check().map_err(|e| e.shifted(branch.piece.at))?;
        let mut blocks = 0;
        inner.start(0);
        while inner.step(&leaf)? {
            if blocks == 0 && inner.key() != walk.key() {
                return Err(wrong("an index block begins with another key than its index says"));
            }
            blocks += 1;
        }
        if blocks != branch.blocks || blocks == 0 {
            return Err(wrong("an index block has not as many blocks as its index says"));
        }
        counts.index_blocks += 1;
        counts.index_bytes += u64::from(branch.piece.len);
    }
    counts.index_bytes += open.root().len() as u64;
    Ok(())
}

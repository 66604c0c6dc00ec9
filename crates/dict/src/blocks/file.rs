//! [`BlockFile`]: an open block file.

use std::ops::RangeBounds;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use linerate_core::{Error, Kind, Result};

use super::block::{Block, Cursor};
use super::layout::{
    BlockEntry, Counts, DictionaryPlace, DictionaryReference, Footer, Header, LeafEntry, MAX_CONTENT,
    MAX_DICTIONARY,
};
use super::reader::Reader;
use super::scan::Scan;
use super::verify::{Verified, verify};
use crate::files::fields::{hash, u64_at};
use crate::files::input::Input;
use crate::id::Id;
use crate::store::Store;

/// A sorted file of records, in blocks that share a dictionary.
///
/// Open files share a [`Store`], in which each holds a reference to its dictionary. Files with the
/// same dictionary bytes share one dictionary. Clones share one file, even across threads; each
/// thread needs a [`Reader`].
#[derive(Clone)]
pub struct BlockFile {
    open: Arc<Open>,
}

pub(super) struct Open {
    /// Number that is unique in the process. Readers use it to identify the file of a cached block.
    pub(super) number: u64,
    pub(super) input: Input,
    pub(super) store: Store,
    pub(super) id: Id,
    pub(super) header: Header,
    pub(super) footer: Footer,
    /// The root index block.
    root: Vec<u8>,
}

/// Contents of a block file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Numbers of records, blocks and bytes.
    pub counts: Counts,
    /// Bytes of the file.
    pub len: u64,
    /// Target size of a block, in bytes.
    pub block_size: u32,
    /// zstd compression level.
    pub level: i32,
    /// Whether the index has hashes of block contents.
    pub checksums: bool,
    /// The dictionary.
    pub dictionary: DictionaryReference,
}

impl BlockFile {
    /// Opens a file by mapping it (see [`Input::map`]). An embedded dictionary is inserted into the
    /// store; an external one must be in it.
    ///
    /// # Errors
    /// Returns [`Kind::Read`] if the file cannot be read; [`Kind::Truncated`] or [`Kind::Corrupt`]
    /// for damage to header, footer, root index or dictionary; [`Kind::Unsupported`] for another
    /// version or reserved fields; [`Kind::BadArgument`] if the store does not have the dictionary;
    /// and the errors of [`Store::insert`].
    pub fn open(path: impl AsRef<Path>, store: &Store) -> Result<BlockFile> {
        Self::open_input(Input::map(path)?, store)
    }

    /// Opens a file from any input.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_input(input: Input, store: &Store) -> Result<BlockFile> {
        let header = Header::parse(&input.array(0)?)?;
        let find = |dictionary: DictionaryReference| {
            store.find(dictionary.hash).ok_or(Error::new(
                Kind::BadArgument,
                32,
                "the store does not have the dictionary of a block file",
            ))
        };
        Self::open_with_header(input, header, store, find)
    }

    /// Opens a file whose external dictionary is `id` in the store. A file without an external
    /// dictionary does not use `id`.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), and [`Kind::BadArgument`] if `id` has other
    /// bytes than the file was built with.
    pub fn open_with(input: Input, store: &Store, id: Id) -> Result<BlockFile> {
        let header = Header::parse(&input.array(0)?)?;
        Self::open_with_header(input, header, store, |dictionary| {
            if store.hash(id)? == dictionary.hash {
                return Ok(id);
            }
            Err(Error::new(
                Kind::BadArgument,
                40,
                "the dictionary is not the one that the file was built with",
            ))
        })
    }

    fn open_with_header(
        input: Input,
        header: Header,
        store: &Store,
        find: impl FnOnce(DictionaryReference) -> Result<Id>,
    ) -> Result<BlockFile> {
        let footer = read_footer(&input, &header)?;
        input.check(footer.root.at, footer.root.len.into())?;
        if footer.root.len as usize > MAX_CONTENT {
            return Err(Error::corrupt("the index of the block file exceeds 64 MiB"));
        }
        let mut root = Vec::new();
        input.append(footer.root.at, footer.root.len as usize, &mut root)?;
        if hash(&root) != footer.root.hash {
            return Err(Error::corrupt("the index of a block file is damaged").shifted(footer.root.at));
        }
        let id = match header.dictionary.place {
            DictionaryPlace::None => Id::NONE,
            DictionaryPlace::Embedded => embedded(&input, header.dictionary, store)?,
            DictionaryPlace::External(_) => {
                let id = find(header.dictionary)?;
                store.retain(id)?;
                id
            }
        };
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let open = Open { number, input, store: store.clone(), id, header, footer, root };
        Ok(BlockFile { open: Arc::new(open) })
    }

    /// Reads which dictionary a file needs, without opening the file.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open) that concern the header.
    pub fn dictionary_of(input: &Input) -> Result<DictionaryReference> {
        Ok(Header::parse(&input.array(0)?)?.dictionary)
    }

    /// Returns the ID of the dictionary in the store, or [`Id::NONE`].
    pub fn dictionary(&self) -> Id {
        self.open.id
    }

    /// Returns sizes and counts.
    pub fn stats(&self) -> Stats {
        let Open { header, footer, .. } = &*self.open;
        Stats {
            counts: footer.counts,
            len: footer.len,
            block_size: header.block_size,
            level: header.level,
            checksums: header.checksums,
            dictionary: header.dictionary,
        }
    }

    /// Creates a reader for this and all files with the same store (see [`Reader::new`]).
    pub fn reader(&self) -> Reader {
        Reader::new(&self.open.store)
    }

    /// Returns the value of a key, borrowed from the reader, or `None` if the file does not have
    /// the key.
    ///
    /// # Errors
    /// Returns [`Kind::Truncated`] or [`Kind::Corrupt`] for damage, [`Kind::Read`] if the file
    /// cannot be read, and [`Kind::BadArgument`] for a reader of another store.
    pub fn get<'r>(&self, reader: &'r mut Reader, key: &[u8]) -> Result<Option<&'r [u8]>> {
        reader.get(self, key)
    }

    /// Returns the values of many keys, in their order, and decodes blocks in batches. For several
    /// files see [`Reader::multi_get`].
    pub fn multi_get(&self, reader: &mut Reader, keys: &[&[u8]]) -> Vec<Result<Option<Vec<u8>>>> {
        let requests: Vec<(&BlockFile, &[u8])> = keys.iter().map(|key| (self, *key)).collect();
        let mut values = Vec::with_capacity(keys.len());
        reader.multi_get(&requests, |_, value| values.push(value.map(|value| value.map(<[u8]>::to_vec))));
        values
    }

    /// Iterates over the records with keys in a range, in order.
    pub fn scan<'r, K: AsRef<[u8]>>(
        &'r self,
        reader: &'r mut Reader,
        range: impl RangeBounds<K>,
    ) -> Scan<'r> {
        let bound = |bound: std::ops::Bound<&K>| bound.map(|key| key.as_ref().to_vec());
        Scan::new(self, reader, bound(range.start_bound()), bound(range.end_bound()))
    }

    /// Reads everything, and checks all hashes, the key order and the counts.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get).
    pub fn verify(&self, reader: &mut Reader) -> Result<Verified> {
        verify(self, reader, &|_| {})
    }

    /// Verifies like [`verify`](Self::verify). `progress` receives the number of content bytes of
    /// each block after the block was checked.
    ///
    /// # Errors
    /// Returns the errors of [`verify`](Self::verify).
    pub fn verify_with_progress(&self, reader: &mut Reader, progress: &dyn Fn(usize)) -> Result<Verified> {
        verify(self, reader, progress)
    }

    pub(super) fn inner(&self) -> &Open {
        &self.open
    }
}

impl std::fmt::Debug for BlockFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BlockFile").field(&self.stats()).finish()
    }
}

fn read_footer(input: &Input, header: &Header) -> Result<Footer> {
    let at = input.len().checked_sub(Footer::LEN as u64).filter(|&at| at >= header.blocks_offset());
    let cut = Error::new(Kind::Truncated, input.len(), "the block file is truncated");
    let footer = Footer::parse(&input.array(at.ok_or(cut)?)?)?;
    if footer.len != input.len() {
        return Err(Error::new(
            Kind::Truncated,
            footer.len,
            "the length of the block file differs from its footer",
        ));
    }
    if footer.header != u64_at(&header.write(), Header::LEN - 8) {
        return Err(Error::corrupt("the header and footer belong to different block files"));
    }
    Ok(footer)
}

/// Inserts the embedded dictionary.
fn embedded(input: &Input, dictionary: DictionaryReference, store: &Store) -> Result<Id> {
    if dictionary.len as usize > MAX_DICTIONARY {
        return Err(Error::corrupt("the dictionary of the block file exceeds 64 MiB"));
    }
    let mut buffer = Vec::new();
    let bytes = input.bytes(Header::LEN as u64, dictionary.len as usize, &mut buffer)?;
    store.insert_with_hash(bytes, dictionary.hash)
}

impl Open {
    /// Finds the data block whose key range contains `key`. Returns `None` for a file without
    /// blocks. `leaf` is a buffer for an index block.
    pub(super) fn find(
        &self,
        key: &[u8],
        cursor: &mut Cursor,
        leaf: &mut Vec<u8>,
    ) -> Result<Option<BlockEntry>> {
        let root = Block::new(&self.root)?;
        let Some(found) = root.floor(key, cursor)? else {
            return if self.footer.counts.blocks == 0 { Ok(None) } else { Err(GAP) };
        };
        let branch = LeafEntry::parse(&root.records()[found.value])?;
        let leaf = Block::new(self.leaf(&branch, leaf)?)?;
        let found = leaf.floor(key, cursor)?.ok_or(GAP)?;
        self.block_entry(&leaf.records()[found.value]).map(Some)
    }

    /// Returns the index block to which `branch`, an entry of the root index block, points. Checks
    /// the hash of the index block.
    pub(super) fn leaf<'a>(&'a self, branch: &LeafEntry, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        self.input.check(branch.extent.at, branch.extent.len.into())?;
        if branch.extent.len as usize > MAX_CONTENT {
            return Err(Error::corrupt("an index block exceeds 64 MiB"));
        }
        let bytes = self.input.bytes(branch.extent.at, branch.extent.len as usize, buffer)?;
        if hash(bytes) != branch.extent.hash {
            return Err(Error::corrupt("an index block is damaged").shifted(branch.extent.at));
        }
        Ok(bytes)
    }

    /// Parses the index entry of a block, and checks that it is within the file.
    pub(super) fn block_entry(&self, bytes: &[u8]) -> Result<BlockEntry> {
        let place = BlockEntry::parse(bytes)?;
        self.input.check(place.extent.at, place.extent.len.into())?;
        Ok(place)
    }

    pub(super) fn root(&self) -> &[u8] {
        &self.root
    }

    /// Checks the length of a block's content and, if the file has hashes, its hash.
    pub(super) fn check(&self, place: &BlockEntry, content: &[u8]) -> Result<()> {
        if content.len() != place.content as usize {
            return Err(Error::corrupt("the length of a block's content differs from its index entry")
                .shifted(place.extent.at));
        }
        if self.header.checksums && hash(content) != place.extent.hash {
            return Err(Error::corrupt("the hash of a block's content differs from its index entry")
                .shifted(place.extent.at));
        }
        Ok(())
    }
}

pub(super) const GAP: Error = Error::corrupt("the index of the block file does not start at the empty key");

impl Drop for Open {
    fn drop(&mut self) {
        if self.id != Id::NONE {
            // This fails only if a caller has released the dictionary, too.
            let _ = self.store.release(self.id);
        }
    }
}

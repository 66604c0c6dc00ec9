//! [`Scan`]: iterates over records in order.

use std::ops::Bound;

use linerate_core::Result;

use super::block::{Block, Cursor};
use super::file::{BlockFile, GAP};
use super::layout::{BlockEntry, LeafEntry};
use super::reader::Reader;

/// Iterates over the data blocks of a file, in index order.
pub(super) struct Blocks {
    root: Cursor,
    leaf: Cursor,
    /// The index block that `leaf` is in; empty before the first.
    bytes: Vec<u8>,
}

impl Blocks {
    /// Starts at the block whose key range contains `key`, and returns it, or `None` for a file
    /// without blocks.
    pub(super) fn from(file: &BlockFile, key: &[u8]) -> Result<(Self, Option<BlockEntry>)> {
        let mut blocks = Blocks { root: Cursor::default(), leaf: Cursor::default(), bytes: Vec::new() };
        let open = file.inner();
        let root = Block::new(open.root())?;
        let Some(found) = root.floor(key, &mut blocks.root)? else {
            return if open.footer.counts.blocks == 0 { Ok((blocks, None)) } else { Err(GAP) };
        };
        blocks.enter(file, &LeafEntry::parse(&root.records()[found.value])?)?;
        let leaf = Block::new(&blocks.bytes)?;
        let found = leaf.floor(key, &mut blocks.leaf)?.ok_or(GAP)?;
        let entry = open.block_entry(&leaf.records()[found.value])?;
        Ok((blocks, Some(entry)))
    }

    /// Moves to an index block, before its first entry.
    fn enter(&mut self, file: &BlockFile, branch: &LeafEntry) -> Result<()> {
        let mut buffer = Vec::new();
        let bytes = file.inner().leaf(branch, &mut buffer)?;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.leaf.start(0);
        Ok(())
    }

    /// Returns the next block.
    pub(super) fn next(&mut self, file: &BlockFile) -> Result<Option<BlockEntry>> {
        loop {
            if !self.bytes.is_empty() {
                let leaf = Block::new(&self.bytes)?;
                if self.leaf.step(&leaf)? {
                    return file.inner().block_entry(&leaf.records()[self.leaf.value.clone()]).map(Some);
                }
            }
            let root = Block::new(file.inner().root())?;
            if !self.root.step(&root)? {
                return Ok(None);
            }
            let branch = LeafEntry::parse(&root.records()[self.root.value.clone()])?;
            self.enter(file, &branch)?;
        }
    }

    /// Returns the separator before the current block.
    pub(super) fn key(&self) -> &[u8] {
        self.leaf.key()
    }
}

/// Iterates over the records of a range (see [`BlockFile::scan`]).
///
/// It yields copies of keys and values; [`next_record`](Self::next_record) lends them. It ends
/// after an error.
pub struct Scan<'r> {
    file: &'r BlockFile,
    reader: &'r mut Reader,
    from: Bound<Vec<u8>>,
    to: Bound<Vec<u8>>,
    /// `None` before the first record.
    blocks: Option<Blocks>,
    entry: Option<BlockEntry>,
    cursor: Cursor,
    done: bool,
}

impl<'r> Scan<'r> {
    pub(super) fn new(
        file: &'r BlockFile,
        reader: &'r mut Reader,
        from: Bound<Vec<u8>>,
        to: Bound<Vec<u8>>,
    ) -> Self {
        Scan { file, reader, from, to, blocks: None, entry: None, cursor: Cursor::default(), done: false }
    }

    /// Returns the next record as key and value, or `None` at the end.
    ///
    /// # Errors
    /// Returns the errors of [`BlockFile::get`].
    pub fn next_record(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.done {
            return Ok(None);
        }
        // Reset on success, so that an error ends the iteration.
        self.done = true;
        if self.blocks.is_none() {
            self.begin()?;
        }
        let Some(blocks) = &mut self.blocks else { return Ok(None) };
        loop {
            if let Some(entry) = &self.entry {
                let block = Block::new(self.reader.load(self.file, entry)?)?;
                if self.cursor.step(&block)? {
                    break;
                }
            }
            self.entry = blocks.next(self.file)?;
            if self.entry.is_none() {
                return Ok(None);
            }
            self.cursor.start(0);
        }
        let within = match &self.to {
            Bound::Unbounded => true,
            Bound::Included(to) => self.cursor.key() <= &to[..],
            Bound::Excluded(to) => self.cursor.key() < &to[..],
        };
        if !within {
            return Ok(None);
        }
        self.done = false;
        let block = Block::new(self.reader.content())?;
        Ok(Some((self.cursor.key(), &block.records()[self.cursor.value.clone()])))
    }

    /// Moves before the first record.
    fn begin(&mut self) -> Result<()> {
        self.reader.check_store(self.file)?;
        let key: &[u8] = match &self.from {
            Bound::Unbounded => &[],
            Bound::Included(key) | Bound::Excluded(key) => key,
        };
        let (blocks, entry) = Blocks::from(self.file, key)?;
        if let Some(entry) = &entry {
            let block = Block::new(self.reader.load(self.file, entry)?)?;
            let there = self.cursor.seek(&block, key)?;
            if there && !(matches!(self.from, Bound::Excluded(_)) && self.cursor.key() == key) {
                self.cursor.repeat();
            }
        }
        self.entry = entry;
        self.blocks = Some(blocks);
        Ok(())
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<(Vec<u8>, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().map(|record| record.map(|(key, value)| (key.to_vec(), value.to_vec()))).transpose()
    }
}

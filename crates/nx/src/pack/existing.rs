//! Entries of existing archives. They are decoded like files, or reused with their blocks.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use linerate_core::{Error, Kind, lock};
use linerate_io::{ReadAt, read_error};

use super::cancel::CancelToken;
use super::error::{PackError, PackResult};
use crate::block::memory::grow;
use crate::format::hash::{ContentHasher, HashKind};
use crate::format::toc::{Block, Entry};
use crate::read::archive::{Archive, File};
use crate::read::block_reader::BlockReader;

/// The way in which files of an existing archive are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Copies their blocks without recompression, if the archive has the options' chunk size and
    /// the blocks need no R3A dictionary; otherwise as [`Reuse::Contents`]. A solid block is copied
    /// only if the added files cover its content without gaps. Otherwise its remaining files are
    /// encoded again: stored if it was stored, by LZ4 if it was LZ4, else with the options' coding.
    Blocks,
    /// Decodes their contents and encodes them again.
    Contents,
}

/// An existing archive whose entries are packed.
pub(super) trait SourceArchive: Send + Sync {
    /// Returns the first block of an entry, and the entry's offset in it.
    fn place(&self, entry: usize) -> (usize, u32);

    /// Returns the table entry of a block.
    fn block(&self, block: usize) -> Block;

    /// Reads the stored bytes of a block into `out`.
    fn read_block(&self, block: usize, out: &mut Vec<u8>) -> PackResult<()>;

    /// Fills `out` with the content of an entry from `offset`.
    fn read_at(&self, entry: usize, offset: u64, out: &mut [u8]) -> PackResult<()>;

    /// Returns the stored hash of an entry, if it is XXH3-64.
    fn stored_hash(&self, entry: usize) -> Option<u64>;

    /// Decodes entries, compares their contents with the stored hashes, and returns the XXH3-64 of
    /// each. Each block is decoded once if the entries are in the order of blocks.
    fn verify(&self, entries: &[usize], cancel: &CancelToken) -> PackResult<Vec<u64>>;
}

/// An entry of an existing archive.
pub(super) struct ExistingEntry {
    pub(super) archive: Arc<dyn SourceArchive>,
    /// The index of the archive in the builder.
    pub(super) number: usize,
    pub(super) entry: usize,
    /// Whether its blocks are copied without recompression.
    pub(super) reused: bool,
    /// Whether the entry is encoded again because its block lost other files and cannot be copied.
    /// Entries left over from one block stay together.
    pub(super) is_left_over: bool,
    /// Whether that block was filtered. Filters are then tried on its remaining files, whatever the
    /// options.
    pub(super) keeps_filters: bool,
    /// XXH3-64 of its content, once known.
    pub(super) hash: Option<u64>,
    /// Whether its content was already compared with that hash.
    pub(super) is_verified: bool,
}

impl ExistingEntry {
    pub(super) fn read_at(&self, offset: u64, out: &mut [u8]) -> PackResult<()> {
        self.archive.read_at(self.entry, offset, out)
    }

    /// Whether both entries are the same bytes of the same blocks. The caller has checked that
    /// their sizes are equal.
    pub(super) fn shares_place(&self, other: &ExistingEntry) -> bool {
        self.number == other.number && self.archive.place(self.entry) == other.archive.place(other.entry)
    }

    /// Whether any of the entry's `count` blocks is filtered.
    pub(super) fn is_filtered(&self, count: usize) -> bool {
        let first = self.archive.place(self.entry).0;
        (first..first + count).any(|block| self.archive.block(block).filtered)
    }
}

/// An open archive with a cache of decoded blocks.
pub(super) struct CachedArchive<S> {
    archive: Arc<Archive<S>>,
    /// Decoded blocks, the most recently used first.
    decoded: Mutex<VecDeque<(usize, Arc<Vec<u8>>)>>,
    /// Maximum number of cached blocks.
    capacity: usize,
}

impl<S: ReadAt> CachedArchive<S> {
    pub(super) fn new(archive: Arc<Archive<S>>, threads: usize) -> CachedArchive<S> {
        CachedArchive { archive, decoded: Mutex::default(), capacity: threads.max(1) }
    }

    fn file(&self, entry: usize) -> File<'_> {
        self.archive.get(entry).expect("entries are numbered by the archive")
    }

    /// Returns the decoded content of a block.
    fn content(&self, block: usize) -> PackResult<Arc<Vec<u8>>> {
        let mut decoded = lock(&self.decoded);
        if let Some(at) = decoded.iter().position(|(number, _)| *number == block) {
            let hit = decoded.remove(at).expect("it was found there");
            decoded.push_front(hit.clone());
            return Ok(hit.1);
        }
        drop(decoded);
        let (len, at) = (self.archive.layout().content(block), self.archive.block_offset(block));
        if len > self.archive.limits().block {
            return Err(Error::new(Kind::Limit, at, "a block larger than the limit").into());
        }
        let mut content = Vec::new();
        grow(&mut content, len as usize, at)?;
        BlockReader::new(&self.archive)?.decode(block, &mut content, block)?;
        let content = Arc::new(content);
        let mut decoded = lock(&self.decoded);
        decoded.truncate(self.capacity - 1);
        decoded.push_front((block, Arc::clone(&content)));
        Ok(content)
    }
}

impl<S: ReadAt> SourceArchive for CachedArchive<S> {
    fn place(&self, entry: usize) -> (usize, u32) {
        let entry = self.file(entry).entry();
        (entry.first_block as usize, entry.block_offset)
    }

    fn block(&self, block: usize) -> Block {
        self.archive.toc().blocks[block]
    }

    fn read_block(&self, block: usize, out: &mut Vec<u8>) -> PackResult<()> {
        let (at, error_at) = (self.archive.layout().offset(block), self.archive.block_offset(block));
        grow(out, self.block(block).compressed as usize, error_at)?;
        Ok(self.archive.source().read_at(at, out).map_err(|error| read_error(error_at, &error))?)
    }

    fn read_at(&self, entry: usize, offset: u64, out: &mut [u8]) -> PackResult<()> {
        let file = self.file(entry);
        let chunk = self.archive.header().chunk.bytes();
        let (first, start) = self.place(entry);
        debug_assert!(offset + out.len() as u64 <= file.size());
        let (mut at, mut rest) = (offset, out);
        while !rest.is_empty() {
            let content = self.content(first + (at / chunk) as usize)?;
            // `start` is 0 for files of several blocks.
            let from = start as usize + (at % chunk) as usize;
            let len = rest.len().min((chunk - at % chunk) as usize);
            let (part, after) = rest.split_at_mut(len);
            part.copy_from_slice(&content[from..from + len]);
            (at, rest) = (at + len as u64, after);
        }
        Ok(())
    }

    fn stored_hash(&self, entry: usize) -> Option<u64> {
        self.file(entry).hash().filter(|_| self.archive.hash_kind() == HashKind::Xxh3)
    }

    fn verify(&self, entries: &[usize], cancel: &CancelToken) -> PackResult<Vec<u64>> {
        let mut reader = self.archive.reader()?;
        let mut hashes = Vec::with_capacity(entries.len());
        for (i, &entry) in entries.iter().enumerate() {
            cancel.step()?;
            let file = self.file(entry);
            let same = |other: &Entry| Entry { path: 0, ..*other } == Entry { path: 0, ..*file.entry() };
            // Entries with the same bytes are adjacent.
            if i > 0 && same(self.file(entries[i - 1]).entry()) {
                hashes.push(hashes[i - 1]);
                continue;
            }
            let mut hashing = Hashing(HashKind::Xxh3.hasher());
            let written = match self.stored_hash(entry) {
                Some(_) => reader.write_to(file, &mut io::sink()),
                None => reader.write_to(file, &mut hashing),
            };
            written.map_err(|error| engine_error(error).at(file.path()))?;
            hashes.push(self.stored_hash(entry).unwrap_or_else(|| hashing.0.finish()));
        }
        Ok(hashes)
    }
}

/// Returns the engine's error inside an I/O error, or else the I/O error itself, as one of writing.
pub(super) fn engine_error(error: io::Error) -> PackError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(&inner) => inner.into(),
        None => PackError::writing(error),
    }
}

struct Hashing(ContentHasher);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

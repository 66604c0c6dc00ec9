//! Entries of an archive that exists: read like files, or carried with their blocks as they are.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use linerate_core::{Error, Kind};

use super::error::{PackError, PackResult};
use crate::ReadAt;
use crate::archive::{Archive, File};
use crate::block::{BlockReader, grow};
use crate::hash::{ContentHasher, HashKind};
use crate::toc::{Block, Entry};
use linerate_io::read_error;

/// How the files of an existing archive are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Their blocks are copied as they are, if the archive's chunk size is that of the options and the
    /// blocks do not need a dictionary of an R3A archive; else as [`Reuse::Contents`].
    Blocks,
    /// Their contents are decoded and coded anew.
    Contents,
}

/// An archive whose entries are packed again.
pub(super) trait Old: Send + Sync {
    /// The first block of that entry and its offset there.
    fn place(&self, entry: usize) -> (usize, u32);

    /// The table's word on that block.
    fn block(&self, block: usize) -> Block;

    /// Replaces `out` by the bytes of that block as they are in the archive.
    fn read_block(&self, block: usize, out: &mut Vec<u8>) -> PackResult<()>;

    /// Fills `out` with the content of that entry from `offset` on.
    fn read_at(&self, entry: usize, offset: u64, out: &mut [u8]) -> PackResult<()>;

    /// The hash that is stored for an entry, if it is one of the kind that is written.
    fn stored_hash(&self, entry: usize) -> Option<u64>;

    /// Decodes entries, compares them with their hashes, and returns their XXH3-64. In the order of
    /// blocks, each is decoded once.
    fn verify(&self, entries: &[usize]) -> PackResult<Vec<u64>>;
}

/// One entry of such an archive.
pub(super) struct Existing {
    pub(super) archive: Arc<dyn Old>,
    /// Which of the builder's archives that is.
    pub(super) number: usize,
    pub(super) entry: usize,
    /// Whether its blocks are copied as they are.
    pub(super) carried: bool,
    /// XXH3-64 of its content, once that is known.
    pub(super) hash: Option<u64>,
}

impl Existing {
    pub(super) fn read_at(&self, offset: u64, out: &mut [u8]) -> PackResult<()> {
        self.archive.read_at(self.entry, offset, out)
    }
}

/// An open archive and the blocks of it that were decoded last.
pub(super) struct Opened<S> {
    archive: Arc<Archive<S>>,
    /// The newest first.
    decoded: Mutex<VecDeque<(usize, Arc<Vec<u8>>)>>,
    /// How many blocks are kept.
    kept: usize,
}

impl<S: ReadAt> Opened<S> {
    pub(super) fn new(archive: Arc<Archive<S>>, threads: usize) -> Opened<S> {
        Opened { archive, decoded: Mutex::default(), kept: threads.max(1) }
    }

    fn file(&self, entry: usize) -> File<'_> {
        self.archive.get(entry).expect("entries are numbered by the archive")
    }

    /// All that files need of a block.
    fn content(&self, block: usize) -> PackResult<Arc<Vec<u8>>> {
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = decoded.iter().position(|(number, _)| *number == block) {
            let hit = decoded.remove(at).expect("it was found there");
            decoded.push_front(hit.clone());
            return Ok(hit.1);
        }
        drop(decoded);
        let (len, at) = (self.archive.layout().content(block), self.archive.layout().offset(block));
        if len > self.archive.limits().block {
            return Err(Error::new(Kind::Limit, at, "a block larger than the limit").into());
        }
        let mut content = Vec::new();
        grow(&mut content, len as usize, at)?;
        BlockReader::new(&self.archive)?.whole(block, &mut content, block)?;
        let content = Arc::new(content);
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        decoded.truncate(self.kept - 1);
        decoded.push_front((block, Arc::clone(&content)));
        Ok(content)
    }
}

impl<S: ReadAt> Old for Opened<S> {
    fn place(&self, entry: usize) -> (usize, u32) {
        let entry = self.file(entry).entry();
        (entry.first_block as usize, entry.block_offset)
    }

    fn block(&self, block: usize) -> Block {
        self.archive.toc().blocks[block]
    }

    fn read_block(&self, block: usize, out: &mut Vec<u8>) -> PackResult<()> {
        let at = self.archive.layout().offset(block);
        out.resize(self.block(block).compressed as usize, 0);
        Ok(self.archive.source().read_at(at, out).map_err(|error| read_error(at, &error))?)
    }

    fn read_at(&self, entry: usize, offset: u64, out: &mut [u8]) -> PackResult<()> {
        let file = self.file(entry);
        let chunk = self.archive.header().chunk.bytes();
        let (first, start) = self.place(entry);
        debug_assert!(offset + out.len() as u64 <= file.size());
        let (mut at, mut rest) = (offset, out);
        while !rest.is_empty() {
            let content = self.content(first + (at / chunk) as usize)?;
            // Only a file of one block has a start; a larger one begins each block at 0.
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

    fn verify(&self, entries: &[usize]) -> PackResult<Vec<u64>> {
        let mut reader = self.archive.reader()?;
        let mut hashes = Vec::with_capacity(entries.len());
        for (i, &entry) in entries.iter().enumerate() {
            let file = self.file(entry);
            let same = |other: &Entry| Entry { path: 0, ..*other } == Entry { path: 0, ..*file.entry() };
            // Entries that share their bytes follow each other.
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

/// The error of the engine that an output error carries, or that error itself.
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

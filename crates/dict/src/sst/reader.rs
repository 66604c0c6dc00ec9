//! [`Reader`]: looks up keys and loads blocks, one per thread.

use std::ops::Range;
use std::path::Path;

use linerate_core::{Error, Kind, Result};

use super::block::{self, Layout};
use super::checksum::{Checksum, context};
use super::codec::{Codec, CompressedBlock};
use super::compression::Compression;
use super::entry::{Entry, EntryKind, split};
use super::handle::{Handle, TRAILER};
use super::index::{self, IndexCursor, IndexKind, follow};
use super::open::{Dictionary, Sst, names};
use super::options::SstOptions;
use super::properties::Properties;
use super::ranges::covering;
use crate::files::input::Input;
use crate::store::Store;

const WRONG_STORE: Error = Error::new(Kind::BadArgument, 0, "the file and the reader have different stores");
const OUT_OF_BOUNDS: Error = Error::new(Kind::Corrupt, 0, "a block is out of the bounds of the file");

/// Reads files with dictionaries in one store. Each thread needs one, of about 290 KiB and the
/// largest blocks it has read.
pub struct Reader {
    pub(super) codec: Codec,
    /// Stored bytes of blocks in files that are not in memory.
    pub(super) stored: Vec<u8>,
    /// Decoded blocks.
    pub(super) content: Vec<u8>,
    /// Values of keys that come after all keys of their block in the batch. They were found in one
    /// of the next blocks, which are not in the batch.
    pub(super) extra: Vec<u8>,
    pub(super) key: Vec<u8>,
}

/// A loaded block: in the file's memory, or in `Reader::content`.
#[derive(Clone, Copy)]
pub(super) enum Loaded<'s> {
    InFile(&'s [u8]),
    InBuffer(usize),
}

impl<'s> Loaded<'s> {
    #[inline]
    pub(super) fn content<'a>(self, content: &'a [u8]) -> &'a [u8]
    where
        's: 'a,
    {
        match self {
            Loaded::InFile(bytes) => bytes,
            Loaded::InBuffer(len) => &content[..len],
        }
    }
}

/// Position of an iteration over the data blocks of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockPosition {
    top: IndexCursor,
    /// The index partition, and the position in it.
    low: Option<(usize, IndexCursor)>,
    /// End of the previous block.
    end: u64,
}

/// Result of a lookup in one block.
pub(super) enum Lookup {
    Hit(Hit),
    /// The key is in no block.
    Absent,
    /// All keys of the block come before the key: continue in the next block.
    NextBlock,
}

/// Range of the value in a block's content, and the tail of the internal key.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) value: Range<usize>,
    pub(super) tail: u64,
}

impl Reader {
    /// Creates a reader of files that are opened with `store`.
    pub fn new(store: &Store) -> Self {
        let (stored, content, extra, key) = Default::default();
        Reader { codec: Codec::new(store), stored, content, extra, key }
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        self.codec.decoder.store()
    }

    /// Opens a file.
    ///
    /// # Errors
    /// Returns the errors of [`Sst::open`].
    pub fn open(&mut self, path: impl AsRef<Path>, options: SstOptions) -> Result<Sst> {
        let input = if options.map { Input::map(path) } else { Input::file(path) };
        Sst::load(input?, options, self)
    }

    /// Opens a file in memory.
    ///
    /// # Errors
    /// Returns the errors of [`Sst::open`].
    pub fn open_bytes(&mut self, bytes: Vec<u8>, options: SstOptions) -> Result<Sst> {
        self.open_input(Input::memory(bytes), options)
    }

    /// Opens a file from any input.
    ///
    /// # Errors
    /// Returns the errors of [`Sst::open`].
    pub fn open_input(&mut self, input: Input, options: SstOptions) -> Result<Sst> {
        Sst::load(input, options, self)
    }

    /// Returns the newest entry of a key, of any type. If a range deletion is newer, returns that,
    /// with an empty value, even if the file has no entry of the key. Returns `None` if there is
    /// neither.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] or [`Kind::Truncated`] for a damaged block, [`Kind::Read`] if the
    /// file cannot be read, [`Kind::Unsupported`] for a compression or key order that is not
    /// supported, [`Kind::Limit`] for a block that exceeds the limit, and [`Kind::BadArgument`] for
    /// a file of another store.
    pub fn get<'a>(&'a mut self, sst: &'a Sst, key: &'a [u8]) -> Result<Option<Entry<'a>>> {
        self.get_at(sst, key, u64::MAX)
    }

    /// Looks up a key like [`get`](Self::get), in the snapshot at `sequence`: later entries are
    /// ignored.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get).
    pub fn get_at<'a>(&'a mut self, sst: &'a Sst, key: &'a [u8], sequence: u64) -> Result<Option<Entry<'a>>> {
        let found = self.find(sst, key, sequence)?;
        Ok(entry(
            sst,
            key,
            sequence,
            found.as_ref().map(|(loaded, hit)| (loaded.content(&self.content), hit)),
        ))
    }

    /// Finds the entry of a key: its loaded block, and the position in it.
    pub(super) fn find<'s>(
        &mut self,
        sst: &'s Sst,
        key: &[u8],
        sequence: u64,
    ) -> Result<Option<(Loaded<'s>, Hit)>> {
        let Some((handle, position)) = self.locate(sst, key, sequence)? else { return Ok(None) };
        let loaded = self.load(sst, handle, sst.dictionary.as_ref())?;
        let content = loaded.content(&self.content);
        match look_up(sst, content, key, sequence, &mut self.key).map_err(|e| e.shifted(handle.offset))? {
            Lookup::Hit(hit) => Ok(Some((loaded, hit))),
            Lookup::Absent => Ok(None),
            Lookup::NextBlock => self.find_after(sst, key, sequence, position),
        }
    }

    /// Finds the entry of a key, like `find`, in the blocks after a position. A separator may be
    /// greater than all keys of its block; the next block then has the entry.
    pub(super) fn find_after<'s>(
        &mut self,
        sst: &'s Sst,
        key: &[u8],
        sequence: u64,
        mut position: BlockPosition,
    ) -> Result<Option<(Loaded<'s>, Hit)>> {
        while let Some(handle) = self.next_block(sst, &mut position)? {
            let loaded = self.load(sst, handle, sst.dictionary.as_ref())?;
            let content = loaded.content(&self.content);
            match look_up(sst, content, key, sequence, &mut self.key).map_err(|e| e.shifted(handle.offset))? {
                Lookup::Hit(hit) => return Ok(Some((loaded, hit))),
                Lookup::Absent => return Ok(None),
                Lookup::NextBlock => {}
            }
        }
        Ok(None)
    }

    /// Searches the index for the first data block that may have an entry not before `(key,
    /// sequence)`.
    pub(super) fn locate(
        &mut self,
        sst: &Sst,
        key: &[u8],
        sequence: u64,
    ) -> Result<Option<(Handle, BlockPosition)>> {
        sst.order.check()?;
        let found = Layout::parse_index(&sst.index)
            .and_then(|layout| index::seek(&layout, sst.encoding, sst.order, key, sequence, &mut self.key));
        let Some((handle, top)) = found.map_err(|e| e.shifted(sst.index_at))? else { return Ok(None) };
        if sst.encoding.kind != IndexKind::Partitioned {
            return Ok(Some((
                handle,
                BlockPosition { top, low: None, end: handle.end().unwrap_or(u64::MAX) },
            )));
        }
        let (part, content) = self.partition(sst, handle)?;
        let found = Layout::parse_index(content)
            .and_then(|layout| index::seek(&layout, sst.encoding, sst.order, key, sequence, &mut self.key));
        if let Some((handle, steps)) = found.map_err(|e| e.shifted(handle.offset))? {
            let end = handle.end().unwrap_or(u64::MAX);
            return Ok(Some((handle, BlockPosition { top, low: Some((part, steps)), end })));
        }
        let mut position = BlockPosition { top, low: None, end: 0 };
        Ok(self.next_block(sst, &mut position)?.map(|handle| (handle, position)))
    }

    /// Returns the next data block of an iteration. Blocks do not overlap, so every iteration
    /// terminates.
    pub(super) fn next_block(&mut self, sst: &Sst, position: &mut BlockPosition) -> Result<Option<Handle>> {
        let in_top = |e: Error| e.shifted(sst.index_at);
        let top = Layout::parse_index(&sst.index).map_err(in_top)?;
        loop {
            let mut index_at = sst.index_at;
            let next = if sst.encoding.kind != IndexKind::Partitioned {
                position.top.next(&top, sst.encoding).map_err(in_top)?
            } else if let Some((part, steps)) = &mut position.low {
                let handle = sst.partitions[*part].handle;
                index_at = handle.offset;
                let (_, content) = self.partition(sst, handle)?;
                let step = Layout::parse_index(content).and_then(|layout| steps.next(&layout, sst.encoding));
                match step.map_err(|e| e.shifted(index_at))? {
                    Some(next) => Some(next),
                    None => {
                        position.low = None;
                        continue;
                    }
                }
            } else if let Some(handle) = position.top.next(&top, sst.encoding).map_err(in_top)? {
                position.low = Some((self.partition(sst, handle)?.0, IndexCursor::default()));
                continue;
            } else {
                None
            };
            let Some(handle) = next else { return Ok(None) };
            position.end = follow(handle, position.end, sst.input.len()).map_err(|e| e.shifted(index_at))?;
            return Ok(Some(handle));
        }
    }

    /// Returns an index partition, which is kept once it is read.
    pub(super) fn partition<'s>(&mut self, sst: &'s Sst, handle: Handle) -> Result<(usize, &'s [u8])> {
        let at = sst.partitions.binary_search_by(|part| part.handle.cmp(&handle));
        let at = at.map_err(|_| OUT_OF_BOUNDS.shifted(handle.offset))?;
        let kept = &sst.partitions[at].content;
        if kept.get().is_none() {
            let content: Box<[u8]> = self.plain(sst, handle)?.into();
            // Another thread may have set it meanwhile.
            let _ = kept.set(content);
        }
        Ok((at, kept.get().map_or(&[], |content| content)))
    }

    /// Returns the properties.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get).
    pub fn properties(&mut self, sst: &Sst) -> Result<Properties> {
        let handle = sst.properties;
        Properties::parse(self.plain(sst, handle)?).map_err(|e| e.shifted(handle.offset))
    }

    /// Returns names and handles of the meta blocks, such as filters, properties and dictionary.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get).
    pub fn meta_blocks(&mut self, sst: &Sst) -> Result<Vec<(Vec<u8>, Handle)>> {
        let handle = sst.footer.metaindex;
        names(self.plain(sst, handle)?).map_err(|e| e.shifted(handle.offset))
    }

    /// Checks that the file has the reader's store, because IDs are valid in one store only.
    #[inline]
    pub(super) fn check_store(&self, sst: &Sst) -> Result<()> {
        if std::ptr::eq(sst.store().shared(), self.store().shared()) { Ok(()) } else { Err(WRONG_STORE) }
    }

    /// Loads a block that is compressed without the dictionary, and verifies its checksum.
    pub(super) fn plain<'a>(&'a mut self, sst: &'a Sst, handle: Handle) -> Result<&'a [u8]> {
        Ok(self.load_checked(sst, handle, None)?.content(&self.content))
    }

    /// Loads a block, and decompresses it if necessary.
    #[inline]
    pub(super) fn load<'s>(
        &mut self,
        sst: &'s Sst,
        handle: Handle,
        dictionary: Option<&Dictionary>,
    ) -> Result<Loaded<'s>> {
        self.load_with(sst, handle, dictionary, sst.options.checksums)
    }

    /// Loads a block like `load`, and verifies the checksum regardless of the options.
    pub(super) fn load_checked<'s>(
        &mut self,
        sst: &'s Sst,
        handle: Handle,
        dictionary: Option<&Dictionary>,
    ) -> Result<Loaded<'s>> {
        self.load_with(sst, handle, dictionary, true)
    }

    fn load_with<'s>(
        &mut self,
        sst: &'s Sst,
        handle: Handle,
        dictionary: Option<&Dictionary>,
        checksums: bool,
    ) -> Result<Loaded<'s>> {
        self.check_store(sst)?;
        let len = stored_len(sst, handle)?;
        let view = sst.input.view(handle.offset, len);
        let bytes = match view {
            Some(bytes) => bytes,
            None => sst.input.bytes(handle.offset, len, &mut self.stored)?,
        };
        let (body, compression) = check(sst, handle, bytes, checksums)?;
        if compression == Compression::None {
            if let Some(bytes) = view {
                return Ok(Loaded::InFile(&bytes[..bytes.len() - TRAILER]));
            }
            let len = body.len();
            std::mem::swap(&mut self.stored, &mut self.content);
            return Ok(Loaded::InBuffer(len));
        }
        let compressed = CompressedBlock::parse(compression, body, sst.options.block_limit);
        let compressed = compressed.map_err(|e| e.shifted(handle.offset))?;
        ensure_len(&mut self.content, compressed.len);
        let out = &mut self.content[..compressed.len];
        self.codec.decompress(compressed, dictionary, out).map_err(|e| e.shifted(handle.offset))?;
        Ok(Loaded::InBuffer(compressed.len))
    }
}

/// Grows `bytes` to at least `len`. Never shrinks it or zeroes its bytes again.
pub(super) fn ensure_len(bytes: &mut Vec<u8>, len: usize) {
    if bytes.len() < len {
        bytes.resize(len, 0);
    }
}

/// Returns the number of stored bytes of a block with its trailer, checked against the file's
/// length.
pub(super) fn stored_len(sst: &Sst, handle: Handle) -> Result<usize> {
    let end =
        handle.end().filter(|end| *end <= sst.input.len()).ok_or(OUT_OF_BOUNDS.shifted(handle.offset))?;
    usize::try_from(end - handle.offset).map_err(|_| OUT_OF_BOUNDS.shifted(handle.offset))
}

/// Checks the trailer of a block. Returns its body and compression.
#[inline]
pub(super) fn check<'a>(
    sst: &Sst,
    handle: Handle,
    bytes: &'a [u8],
    checksums: bool,
) -> Result<(&'a [u8], Compression)> {
    let corrupt = |what| Error::new(Kind::Corrupt, handle.offset, what);
    let (typed, sum) = bytes.split_last_chunk::<4>().ok_or(OUT_OF_BOUNDS.shifted(handle.offset))?;
    let (&number, body) = typed.split_last().ok_or(OUT_OF_BOUNDS.shifted(handle.offset))?;
    let footer = &sst.footer;
    if checksums && footer.checksum != Checksum::None {
        let expected = footer.checksum.of(typed).wrapping_add(context(footer.base, handle.offset));
        if expected != u32::from_le_bytes(*sum) {
            return Err(corrupt("the checksum of a block does not match"));
        }
    }
    Ok((body, Compression::from_number(number)))
}

/// Looks up the newest entry of a key, up to `sequence`, in one block.
pub(super) fn look_up(
    sst: &Sst,
    content: &[u8],
    key: &[u8],
    sequence: u64,
    internal: &mut Vec<u8>,
) -> Result<Lookup> {
    let layout = Layout::parse(content)?;
    let (cursor, found) = block::seek(&layout, sst.order, key, sequence, internal)?;
    let Some(value) = found else { return Ok(Lookup::NextBlock) };
    let (user, tail) = split(internal)?;
    if user != key {
        return Ok(Lookup::Absent);
    }
    Ok(Lookup::Hit(Hit { value: cursor.value_range(value), tail }))
}

/// Combines the entry found in a block with the range deletions.
pub(super) fn entry<'a>(
    sst: &Sst,
    key: &'a [u8],
    sequence: u64,
    found: Option<(&'a [u8], &Hit)>,
) -> Option<Entry<'a>> {
    let deleted = covering(sst.range_deletions(), sst.order, key, sequence);
    match (found, deleted) {
        (Some((content, hit)), deleted) if deleted.is_none_or(|deleted| deleted <= hit.tail >> 8) => {
            Some(Entry {
                key,
                sequence: hit.tail >> 8,
                kind: EntryKind::from_number(hit.tail as u8),
                value: &content[hit.value.clone()],
            })
        }
        (_, Some(sequence)) => Some(Entry { key, sequence, kind: EntryKind::RangeDeletion, value: &[] }),
        _ => None,
    }
}

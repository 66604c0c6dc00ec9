//! An open R3A archive: its tables and its files.

use linerate_core::{Error, Kind, Result};
use linerate_io::{ReadAt, read_error};

use super::block::BlockDecoder;
use super::digested::DigestedDictionaries;
use super::head::Head;
use super::header::{FixedFields, MAGIC, MAGIC_SWAPPED};
use super::layout;
use super::toc::BlockCodec;
use crate::block::memory::{copied, grow, lengthen, no_memory};
use crate::format::hash::HashKind;
use crate::format::header::PAGE;
use crate::format::layout::Layout;
use crate::format::limits::Limits;
use crate::format::toc::{Codec, Entry};

/// Returns whether an archive with this start is R3A, by its first four bytes.
pub fn is_r3a(start: &[u8]) -> bool {
    start.starts_with(&MAGIC) || start.starts_with(&MAGIC_SWAPPED)
}

/// Reusable memory to decode blocks of one archive.
#[derive(Default)]
pub(super) struct Scratch {
    decoder: Option<BlockDecoder>,
    compressed: Vec<u8>,
}

/// An open archive. Its header and tables are in memory and checked.
#[derive(Debug)]
pub struct Archive<S> {
    source: S,
    limits: Limits,
    head: Head,
    layout: Layout,
    pool_frame: Vec<u8>,
    digested: DigestedDictionaries,
}

impl<S: ReadAt> Archive<S> {
    /// Opens an archive with the default [`Limits`]. Reads the header in at most two reads.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Head::parse`], [`Kind::Truncated`] and [`Kind::Corrupt`] as
    /// [`Layout::new`] does, and [`Kind::Read`] if the source cannot be read. Offsets are in the
    /// archive.
    pub fn open(source: S) -> Result<Archive<S>> {
        Archive::open_with(source, Limits::default())
    }

    /// Opens an archive with other limits, which also apply to all later reads.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Archive::open`].
    pub fn open_with(source: S, limits: Limits) -> Result<Archive<S>> {
        let bytes = read_pages(&source, &limits)?;
        let mut head = Head::parse(&bytes, &limits)?;
        let layout = layout::find_blocks(&head.header, &mut head.toc, source.len())?;
        let pool = head.header.pool_offset() as usize..head.header.pool_end() as usize;
        // The frame of the pool, without the size field before it.
        let pool_frame = copied(bytes[pool].get(4..).unwrap_or_default(), head.header.pool_offset())?;
        let dictionaries = head.dictionaries.as_ref().map_or(0, |found| found.dictionaries.len());
        let digested = DigestedDictionaries::new(dictionaries);
        Ok(Archive { source, limits, head, layout, pool_frame, digested })
    }

    /// The source of the archive's bytes.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The limits of this archive.
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The header, tables and segments.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The offsets and content lengths of the blocks.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.head.toc.entries.len()
    }

    /// Whether the archive has no files.
    pub fn is_empty(&self) -> bool {
        self.head.toc.entries.is_empty()
    }

    /// Returns the path and entry of each file, in the order of the archive. Paths are not checked
    /// for safety: see [`crate::check_path`].
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, &Entry)> {
        // Every path index is within the pool.
        let path = |entry: &Entry| self.head.pool.get(entry.path as usize).unwrap_or_default();
        self.head.toc.entries.iter().map(move |entry| (path(entry), entry))
    }

    /// Reads the file of an index. Checks its hash if the archive has hashes.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] if there is no such file; [`Kind::Unsupported`] if a block of
    /// it has an unsupported codec; [`Kind::Corrupt`] if a block is damaged or the content does not
    /// match its hash; [`Kind::Limit`] if a limit is exceeded; [`Kind::Read`] if the source cannot
    /// be read.
    pub fn read(&self, file: usize) -> Result<Vec<u8>> {
        let entry = self.head.toc.entries.get(file);
        let entry = entry.ok_or(Error::new(Kind::BadArgument, 0, "no file of that number"))?;
        let header = &self.head.header;
        let at = header.entries_offset() + file as u64 * header.form.entry_bytes() as u64;
        if entry.size > self.limits.file {
            return Err(Error::new(Kind::Limit, at, "a file larger than the limit"));
        }
        let (mut out, mut decoder) = (Vec::new(), BlockDecoder::new(self.limits.window_log)?);
        let (mut content, mut compressed) = (Vec::new(), Vec::new());
        for i in 0..header.chunk.blocks(entry.size) {
            let len = (entry.size - i * header.chunk.bytes()).min(header.chunk.bytes()) as usize;
            // The layout was checked: these blocks exist and have this length.
            let block = entry.first_block as usize + i as usize;
            grow(&mut content, self.content_len(block)?, self.layout.offset(block))?;
            self.decode(block, &mut decoder, &mut compressed, &mut content)?;
            let from = entry.block_offset as usize;
            out.try_reserve(len).map_err(|_| no_memory(at))?;
            out.extend_from_slice(&content[from..from + len]);
        }
        match header.form.hashed() && HashKind::Xxh3.hash_bytes(&out) != entry.hash {
            true => Err(Error::new(Kind::Corrupt, at, "the content does not match its hash")),
            false => Ok(out),
        }
    }

    /// Decodes all of a block that files refer to into `out`.
    pub(super) fn content(&self, block: usize, scratch: &mut Scratch, out: &mut [u8]) -> Result<()> {
        let decoder = match &mut scratch.decoder {
            Some(decoder) => decoder,
            none => none.insert(BlockDecoder::new(self.limits.window_log)?),
        };
        self.decode(block, decoder, &mut scratch.compressed, out)
    }

    /// Returns the length of the content of a block that files refer to.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if the content is larger than the limit or than a `usize` counts.
    pub(super) fn content_len(&self, block: usize) -> Result<usize> {
        let (len, at) = (self.layout.content(block), self.layout.offset(block));
        match len <= self.limits.block {
            true => usize::try_from(len).map_err(|_| no_memory(at)),
            false => Err(Error::new(Kind::Limit, at, "a block larger than the limit")),
        }
    }

    /// Returns the index and bytes of a block's dictionary, if it has one.
    pub(super) fn dictionary(&self, block: usize) -> Option<(u8, &[u8])> {
        let dictionaries = self.head.dictionaries.as_ref()?;
        let number = dictionaries.for_block(block)?;
        Some((number, dictionaries.get(number)?))
    }

    /// The zstd frame of the pool, without its magic number.
    pub(super) fn pool_frame(&self) -> &[u8] {
        &self.pool_frame
    }

    fn decode(
        &self,
        block: usize,
        decoder: &mut BlockDecoder,
        buffer: &mut Vec<u8>,
        content: &mut [u8],
    ) -> Result<()> {
        let (at, word) = (self.layout.offset(block), self.head.toc.blocks[block]);
        let block_bytes = match self.source.view(at, word.compressed as usize) {
            Some(view) => view,
            None => {
                grow(buffer, word.compressed as usize, at)?;
                self.source.read_at(at, buffer).map_err(|e| read_error(at, &e))?;
                buffer
            }
        };
        let dictionary = match self.dictionary(block) {
            Some((index, bytes)) if word.codec == BlockCodec::Known(Codec::Zstd) => {
                Some(self.digested.get(index, bytes).map_err(|e| e.shifted(at))?)
            }
            _ => None,
        };
        decoder.decode(word.codec, dictionary, block_bytes, content).map_err(|e| e.shifted(at))
    }
}

/// Reads all bytes of the header's pages.
fn read_pages(source: &impl ReadAt, limits: &Limits) -> Result<Vec<u8>> {
    let len = source.len();
    let mut bytes = vec![0; len.min(PAGE) as usize];
    source.read_at(0, &mut bytes).map_err(|e| read_error(0, &e))?;
    let pages = FixedFields::parse(&bytes)?.bytes();
    if pages > limits.header {
        return Err(Error::new(Kind::Limit, 4, "a header larger than the limit"));
    }
    if pages > len {
        return Err(Error::new(Kind::Truncated, len, "the archive ends within its header"));
    }
    let first = bytes.len();
    lengthen(&mut bytes, pages as usize, 4)?;
    if first < bytes.len() {
        source.read_at(first as u64, &mut bytes[first..]).map_err(|e| read_error(first as u64, &e))?;
    }
    Ok(bytes)
}

//! Shows an R3A archive as an Nx archive: the same blocks after an Nx header. The bytes are
//! generated on each read.
//!
//! zstd blocks get their magic number. Nx has no dictionaries, so a block with a dictionary is
//! shown decoded and stored. Reading a block with an unsupported codec is an error. If the archive
//! has no hashes, they are shown as 0, and archives opened by [`AsNx::open`] do not compare them.

use core::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use std::{fmt, io};

use linerate_core::{Error, Kind, Result, lock};
use linerate_io::{ReadAt, read_error};

use super::archive::{Archive, Scratch, is_r3a};
use super::frame::{MAGIC, with_content_size};
use super::toc::BlockCodec;
use super::user_data::Extension;
use crate::block::memory::{grow, no_memory};
use crate::format::header::{HEADER, Header, MAX_PAGES, PAGE, TocForm};
use crate::format::limits::Limits;
use crate::format::toc::{Block, Codec, Entry, MAX_COMPRESSED, Toc};
use crate::metadata;
use crate::read::archive as nx;

/// An R3A archive as a source with the bytes of an Nx archive. [`open`](Self::open) opens the Nx
/// archive.
///
/// ```no_run
/// use linerate_nx::{FileSource, r3a};
///
/// let archive = r3a::Archive::open(FileSource::open("textures.r3a")?)?;
/// let archive = r3a::AsNx::new(archive)?.open()?;
/// println!("{} files", archive.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AsNx<S> {
    archive: Archive<S>,
    head: Vec<u8>,
    blocks: Vec<VirtualBlock>,
    len: u64,
    /// The block that was last decoded to read a part of it.
    decoded: Mutex<Option<(usize, Arc<Vec<u8>>)>>,
    scratch: ScratchPool,
}

/// Scratch buffers that no thread is using.
#[derive(Default)]
struct ScratchPool(Mutex<Vec<Scratch>>);

impl fmt::Debug for ScratchPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScratchPool")
    }
}

impl ScratchPool {
    fn lock(&self) -> MutexGuard<'_, Vec<Scratch>> {
        lock(&self.0)
    }
}

/// A block of the generated Nx archive.
#[derive(Debug)]
struct VirtualBlock {
    offset: u64,
    len: u64,
    form: BlockForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockForm {
    /// The bytes of the R3A archive.
    Unchanged,
    /// The bytes of the R3A archive after the zstd magic number.
    WithMagic,
    /// The decoded content.
    Decoded,
}

impl<S: ReadAt> AsNx<S> {
    /// Shows an R3A archive as Nx.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if the archive has more files, blocks or bytes of paths than Nx
    /// allows, or a block that is too large for Nx, or if memory runs out. Metadata that does not
    /// fit is left out.
    pub fn new(archive: Archive<S>) -> Result<AsNx<S>> {
        let r3a = archive.head();
        let words: Vec<(BlockForm, Block)> =
            (0..r3a.toc.blocks.len()).map(|i| shown_as(&archive, i)).collect::<Result<_>>()?;
        let toc = Toc {
            entries: r3a.toc.entries.iter().map(nx_entry).collect(),
            blocks: words.iter().map(|(_, block)| *block).collect(),
        };
        let mut pool = nx_pool(&archive);
        let (blocks, files) = (toc.blocks.len(), toc.entries.len());
        let mut header = Header::new(r3a.header.chunk, toc.form(), pool.len(), blocks, files)?;
        let is_metadata = |extension: &&Extension| extension.id == metadata::EXTENSION;
        if let Some(record) = r3a.user_data.iter().find(is_metadata)
            // Files can be read without metadata.
            && has_room(&header, record.data.len(), archive.limits())
        {
            metadata::append(&record.data, &mut header, &mut pool)?;
        }
        let mut head = header.write().to_vec();
        toc.write(header.form, &mut head);
        head.try_reserve(pool.len()).map_err(|_| no_memory(0))?;
        head.extend_from_slice(&pool);
        let mut len = header.bytes();
        let blocks = words.into_iter().map(|(form, block)| {
            let shown = VirtualBlock { offset: len, len: block.compressed.into(), form };
            len = (len + shown.len).next_multiple_of(PAGE);
            shown
        });
        let blocks = blocks.collect();
        Ok(AsNx { archive, head, blocks, len, decoded: Mutex::default(), scratch: ScratchPool::default() })
    }

    /// Opens the Nx archive with the limits of the R3A archive. If that has no hashes, files are
    /// read without comparing hashes. The size that [`Limits::ratio`] is about and the offsets of
    /// later errors are those of the R3A archive.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`nx::Archive::open_with`](crate::Archive::open_with).
    pub fn open(self) -> Result<nx::Archive<AsNx<S>>> {
        let limits = *self.archive.limits();
        let hashed = self.archive.head().header.form.hashed();
        let origin = self.origin();
        Ok(nx::Archive::open_with(self, limits)?.generated(hashed, origin))
    }

    /// The R3A archive as the file that the Nx archive comes from.
    fn origin(&self) -> nx::Origin {
        let (header, layout) = (&self.archive.head().header, self.archive.layout());
        let block = |(i, block): (usize, &VirtualBlock)| nx::OriginBlock {
            offset: layout.offset(i),
            added: if block.form == BlockForm::WithMagic { MAGIC.len() as u64 } else { 0 },
            decoded: block.form == BlockForm::Decoded,
        };
        nx::Origin {
            len: self.archive.source().len(),
            entries_offset: header.entries_offset(),
            entry_bytes: header.form.entry_bytes() as u64,
            blocks: self.blocks.iter().enumerate().map(block).collect(),
        }
    }

    /// The R3A archive that is shown.
    pub fn archive(&self) -> &Archive<S> {
        &self.archive
    }

    /// Returns the number of blocks that are shown decoded because they need a dictionary, or would
    /// be because their codec is unsupported.
    pub(super) fn decoded_blocks(&self) -> usize {
        self.blocks.iter().filter(|block| block.form == BlockForm::Decoded).count()
    }

    /// Returns the generated header and tables with these entries.
    pub(super) fn head_with(&self, form: TocForm, entries: Vec<Entry>) -> Vec<u8> {
        let mut table = Vec::new();
        Toc { entries, blocks: Vec::new() }.write(form, &mut table);
        let mut head = self.head.clone();
        head[HEADER..][..table.len()].copy_from_slice(&table);
        head
    }

    /// Reads bytes of a generated block, starting at `from`.
    fn read_block(&self, ahead: &ReadAhead, block: usize, from: u64, out: &mut [u8]) -> io::Result<()> {
        let source = self.archive.source();
        let at = self.archive.layout().offset(block);
        match self.blocks[block].form {
            BlockForm::Unchanged => ahead.read_at(source, at + from, out),
            BlockForm::WithMagic => {
                let magic = MAGIC.get(from as usize..).unwrap_or_default();
                let (front, rest) = out.split_at_mut(magic.len().min(out.len()));
                front.copy_from_slice(&magic[..front.len()]);
                match rest.is_empty() {
                    true => Ok(()),
                    false => ahead.read_at(source, at + from.saturating_sub(MAGIC.len() as u64), rest),
                }
            }
            // The whole block is read, so it is decoded directly into `out`.
            BlockForm::Decoded if from == 0 && out.len() as u64 == self.blocks[block].len => {
                self.decode(block, out)
            }
            BlockForm::Decoded => {
                let content = self.content(block)?;
                // The content has exactly the length of the generated block.
                out.copy_from_slice(&content[from as usize..from as usize + out.len()]);
                Ok(())
            }
        }
    }

    /// Returns the blocks that have bytes in a range of the generated archive.
    fn blocks_in(&self, start: u64, end: u64) -> Range<usize> {
        let first = self.blocks.partition_point(|block| block.offset + block.len <= start);
        first..self.blocks.partition_point(|block| block.offset < end).max(first)
    }

    /// Reads the stored bytes of these blocks at once, if there are at least two and the source
    /// allows coalescing them. Blocks that are shown decoded are not read.
    fn read_ahead(&self, blocks: Range<usize>) -> io::Result<ReadAhead> {
        let (layout, toc) = (self.archive.layout(), &self.archive.head().toc);
        let mut stored = blocks.filter(|&i| self.blocks[i].form != BlockForm::Decoded);
        let (Some(first), Some(last)) = (stored.next(), stored.next_back()) else {
            return Ok(ReadAhead::default());
        };
        let start = layout.offset(first);
        let len = layout.offset(last) + u64::from(toc.blocks[last].compressed) - start;
        if len > self.coalesce_limit() {
            return Ok(ReadAhead::default());
        }
        let mut bytes = Vec::new();
        grow(&mut bytes, usize::try_from(len).map_err(|_| no_memory(start))?, start)?;
        self.archive.source().read_at(start, &mut bytes)?;
        Ok(ReadAhead { start, bytes })
    }

    /// Decodes all of a block that files refer to into `out`.
    fn decode(&self, block: usize, out: &mut [u8]) -> io::Result<()> {
        let mut scratch = self.scratch.lock().pop().unwrap_or_default();
        let decoded = self.archive.content(block, &mut scratch, out);
        self.scratch.lock().push(scratch);
        Ok(decoded?)
    }

    fn content(&self, block: usize) -> io::Result<Arc<Vec<u8>>> {
        let last = lock(&self.decoded).clone();
        if let Some((number, content)) = last
            && number == block
        {
            return Ok(content);
        }
        let mut content = Vec::new();
        grow(&mut content, self.archive.content_len(block)?, self.archive.layout().offset(block))?;
        self.decode(block, &mut content)?;
        let content = Arc::new(content);
        let decoded = Some((block, Arc::clone(&content)));
        *lock(&self.decoded) = decoded;
        Ok(content)
    }
}

/// Bytes of the R3A archive that were read ahead.
#[derive(Default)]
struct ReadAhead {
    start: u64,
    bytes: Vec<u8>,
}

impl ReadAhead {
    /// Reads from the bytes read ahead if they contain the range, else from the source.
    fn read_at(&self, source: &impl ReadAt, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let from = offset.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        let near = from.and_then(|from| self.bytes.get(from..from.checked_add(out.len())?));
        match near {
            Some(near) => out.copy_from_slice(near),
            None => source.read_at(offset, out)?,
        }
        Ok(())
    }
}

/// Returns the form in which the Nx archive shows block `i` of the R3A archive, and the block's
/// entry in the Nx table.
fn shown_as<S: ReadAt>(archive: &Archive<S>, i: usize) -> Result<(BlockForm, Block)> {
    let block = archive.head().toc.blocks[i];
    let (form, codec) = match block.codec {
        BlockCodec::Known(Codec::Zstd) if archive.dictionary(i).is_some() => {
            (BlockForm::Decoded, Codec::Copy)
        }
        BlockCodec::Known(Codec::Zstd) if block.compressed > 0 => (BlockForm::WithMagic, Codec::Zstd),
        BlockCodec::Known(codec) => (BlockForm::Unchanged, codec),
        BlockCodec::Foreign(_) => (BlockForm::Decoded, Codec::Copy),
    };
    let len = match form {
        BlockForm::Unchanged => u64::from(block.compressed),
        BlockForm::WithMagic => u64::from(block.compressed) + MAGIC.len() as u64,
        BlockForm::Decoded => archive.layout().content(i),
    };
    let too_large = Error::new(Kind::Limit, archive.layout().offset(i), "a block too large for Nx");
    let compressed = u32::try_from(len).ok().filter(|len| *len <= MAX_COMPRESSED).ok_or(too_large)?;
    Ok((form, Block { compressed, codec, filtered: false }))
}

/// Whether the header with a metadata record of `len` bytes is within the limits, and within those
/// of the format.
fn has_room(header: &Header, len: usize, limits: &Limits) -> bool {
    header.bytes() + len as u64 + PAGE <= limits.header.min(u64::from(MAX_PAGES) * PAGE)
}

/// Returns the entry of a file in the Nx table. The unused position of an empty file is cleared,
/// since it may not fit the fields of Nx.
fn nx_entry(entry: &Entry) -> Entry {
    match entry.size {
        0 => Entry { first_block: 0, block_offset: 0, ..*entry },
        _ => *entry,
    }
}

/// A frame without content: a single segment of size 0, and an empty last block.
const EMPTY_FRAME: [u8; 9] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0, 1, 0, 0];

/// Returns the pool as a frame with magic number and content size, which some readers require. It
/// is [`EMPTY_FRAME`] if the archive has no pool.
fn nx_pool<S: ReadAt>(archive: &Archive<S>) -> Vec<u8> {
    // The size is below 4 GiB, since the pool stores it in 32 bits.
    let size: usize = archive.head().pool.iter().map(|path| path.len() + 1).sum();
    with_content_size(archive.pool_frame(), size as u32).unwrap_or(EMPTY_FRAME.to_vec())
}

impl<S: ReadAt> ReadAt for AsNx<S> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= self.len);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let part = |from: u64, to: u64| (from - offset) as usize..(to - offset) as usize;
        let in_head = end.min(self.head.len() as u64);
        // The offset up to which `out` is filled.
        let mut done = offset;
        if offset < in_head {
            out[part(offset, in_head)].copy_from_slice(&self.head[offset as usize..in_head as usize]);
            done = in_head;
        }
        let blocks = self.blocks_in(offset, end);
        let ahead = self.read_ahead(blocks.clone())?;
        for i in blocks {
            let block = &self.blocks[i];
            let (from, to) = (block.offset.max(offset), (block.offset + block.len).min(end));
            if from < to {
                out[part(done, from)].fill(0);
                self.read_block(&ahead, i, from - block.offset, &mut out[part(from, to)])?;
                done = to;
            }
        }
        out[part(done, end)].fill(0);
        Ok(())
    }

    fn coalesce_limit(&self) -> u64 {
        self.archive.source().coalesce_limit()
    }

    fn end(&self) -> Option<Error> {
        self.archive.source().end()
    }

    fn will_read(&self, offset: u64, len: u64) {
        for i in self.blocks_in(offset, offset.saturating_add(len)) {
            let compressed = self.archive.head().toc.blocks[i].compressed;
            self.archive.source().will_read(self.archive.layout().offset(i), compressed.into());
        }
    }
}

/// Opens an archive of either format, Nx or R3A. An R3A archive is shown as Nx.
///
/// # Errors
///
/// Returns the errors of [`nx::Archive::open_with`](crate::Archive::open_with). For an R3A archive,
/// also returns those of [`Archive::open_with`] and [`AsNx::new`].
pub fn open_either<'a>(
    source: Box<dyn ReadAt + 'a>,
    limits: Limits,
) -> Result<nx::Archive<Box<dyn ReadAt + 'a>>> {
    let mut start = vec![0; source.len().min(MAGIC.len() as u64) as usize];
    source.read_at(0, &mut start).map_err(|e| read_error(0, &e))?;
    if !is_r3a(&start) {
        return nx::Archive::open_with(source, limits);
    }
    let archive = AsNx::new(Archive::open_with(source, limits)?)?.open()?;
    Ok(archive.map_source(|shown| Box::new(shown) as Box<dyn ReadAt + 'a>))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::header::ChunkSize;

    #[test]
    fn metadata_has_room_within_the_limits_and_those_of_the_format() {
        let header = Header::new(ChunkSize::from_bytes(512).unwrap(), TocForm::Short, 9, 0, 0).unwrap();
        assert_eq!(header.bytes(), PAGE);
        let none = Limits::none();
        let largest = (MAX_PAGES as usize - 2) * PAGE as usize;
        assert!(has_room(&header, largest, &none) && !has_room(&header, largest + 1, &none));
        let few = Limits { header: 3 * PAGE, ..none };
        assert!(has_room(&header, 4096, &few) && !has_room(&header, 4097, &few));
    }
}

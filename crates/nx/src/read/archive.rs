//! An open archive: its tables, its files, and lookup by path.

use core::iter::FusedIterator;
use core::ops::Range;
use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use linerate_core::{Error, Kind, Result};
use linerate_io::{ReadAt, read_error};

use crate::block::memory::lengthen;
use crate::block::regions::{self, MAX_TABLE, Region};
use crate::format::hash::HashKind;
use crate::format::header::{HEADER, Header, PAGE};
use crate::format::layout::Layout;
use crate::format::limits::Limits;
use crate::format::string_pool::StringPool;
use crate::format::toc::{Entry, Toc};
use crate::read::reader::Reader;

/// An open archive. Its header and tables are in memory and checked.
///
#[cfg_attr(feature = "pack", doc = "```")]
#[cfg_attr(not(feature = "pack"), doc = "```ignore")]
/// use linerate_nx::Archive;
/// use linerate_nx::pack::{Builder, PackOptions};
///
/// let mut builder = Builder::new(PackOptions::new())?;
/// builder.add_bytes("emoji/🎮.bin", vec![7; 407])?;
/// let (bytes, _) = builder.to_bytes()?;
///
/// // `FileSource::open(path)?` reads a file in place of memory.
/// let archive = Archive::open(bytes)?;
/// let file = archive.find("emoji/🎮.bin").expect("a file of that path");
/// assert_eq!(archive.read(file)?.len(), 407);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Archive<S> {
    source: S,
    limits: Limits,
    header: Header,
    toc: Toc,
    pool: StringPool,
    layout: Layout,
    spare: bool,
    /// Whether the entries have hashes of their contents.
    hashed: bool,
    /// The file that the bytes are generated from, if they are generated.
    origin: Option<Origin>,
    /// Entry indices sorted by path, in byte order.
    by_path: OnceLock<Vec<u32>>,
    /// Hashes of the lower-case paths with their entry indices, sorted.
    by_folded: OnceLock<Vec<(u64, u32)>>,
}

/// The file that the bytes of a generated archive come from, such as the R3A file of an archive
/// that is shown as Nx. Its size and its offsets are those that limits and errors are about.
#[derive(Debug)]
pub(crate) struct Origin {
    /// Size of the file, in bytes.
    pub(crate) len: u64,
    /// Offset of the first table entry in the file.
    pub(crate) entries_offset: u64,
    /// Size of a table entry in the file, in bytes.
    pub(crate) entry_bytes: u64,
    pub(crate) blocks: Vec<OriginBlock>,
}

/// A block in the file that a generated archive comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OriginBlock {
    /// Offset of the block in the file.
    pub(crate) offset: u64,
    /// Number of bytes that the generated block has before those of the file.
    pub(crate) added: u64,
    /// Whether the source decodes the block on each read.
    pub(crate) decoded: bool,
}

/// One file of an archive.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    index: u32,
    path: &'a str,
    entry: &'a Entry,
    header: &'a Header,
    origin: Option<&'a Origin>,
    hashed: bool,
}

impl<'a> File<'a> {
    /// The index of the file in the archive.
    pub fn index(&self) -> usize {
        self.index as usize
    }

    /// The path as stored. It is not checked for safety: see [`crate::check_path`].
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.entry.size
    }

    /// The hash of the content, of the kind [`Header::hash`]. `None` if the archive [has no
    /// hashes](Archive::has_hashes).
    pub fn hash(&self) -> Option<u64> {
        self.hashed.then_some(self.entry.hash)
    }

    /// The entry in the table of contents.
    pub fn entry(&self) -> &'a Entry {
        self.entry
    }

    /// The blocks that hold the file. The range is empty if the file is.
    pub fn blocks(&self) -> Range<usize> {
        if self.entry.size == 0 {
            return 0..0;
        }
        let first = self.entry.first_block as usize;
        // `Layout::new` has checked that these blocks exist.
        first..first + self.header.chunk.blocks(self.entry.size) as usize
    }

    /// Whether the file is larger than a chunk, so that it has several blocks, one for each chunk.
    pub fn is_chunked(&self) -> bool {
        self.entry.size > self.header.chunk.bytes()
    }

    /// The offset of the file's entry in the archive, in bytes. If an R3A archive is shown [as
    /// Nx](crate::r3a::AsNx), it is the offset in the R3A archive.
    pub fn entry_offset(&self) -> u64 {
        match self.origin {
            Some(origin) => origin.entries_offset + self.index() as u64 * origin.entry_bytes,
            None => (HEADER + self.index() * self.header.form.entry_bytes()) as u64,
        }
    }

    /// Compares a hash of the content with the stored hash, if there is one.
    pub(crate) fn check_hash(&self, hash: u64) -> Result<()> {
        match self.hash() {
            Some(stored) if stored != hash => {
                Err(Error::new(Kind::Corrupt, self.entry_offset(), "the content does not match its hash"))
            }
            _ => Ok(()),
        }
    }
}

impl<S: ReadAt> Archive<S> {
    /// Opens an archive with the default [`Limits`]. Reads the header in at most two reads.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Header::parse`], [`Toc::parse`], [`StringPool::parse`] and
    /// [`Layout::new`]. Also returns [`Kind::Limit`] if the header is larger than
    /// [`Limits::header`] or memory runs out, [`Kind::Truncated`] if the source ends within the
    /// header, and [`Kind::Read`] if the source cannot be read. Offsets are in the archive.
    pub fn open(source: S) -> Result<Archive<S>> {
        Archive::open_with(source, Limits::default())
    }

    /// Opens an archive with other limits, which also apply to all later reads.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Archive::open`].
    pub fn open_with(source: S, limits: Limits) -> Result<Archive<S>> {
        let (header, bytes) = read_header(&source, &limits)?;
        let toc = Toc::parse(&header, &bytes)?;
        let layout = Layout::new(&header, &toc, source.len())?;
        // Both offsets are within `bytes`, which are the header's pages.
        let (pool_offset, pool_end) = (header.pool_offset() as usize, header.pool_end() as usize);
        let pool = StringPool::parse(&bytes[pool_offset..pool_end], header.files, &limits)
            .map_err(|e| e.shifted(header.pool_offset()))?;
        let spare = bytes[pool_end..].iter().any(|b| *b != 0);
        Ok(Archive {
            source,
            limits,
            header,
            toc,
            pool,
            layout,
            spare,
            hashed: true,
            origin: None,
            by_path: OnceLock::new(),
            by_folded: OnceLock::new(),
        })
    }

    /// Adds what the bytes of a generated archive cannot say: whether it has hashes, and the file
    /// that it comes from.
    pub(crate) fn generated(mut self, hashed: bool, origin: Origin) -> Self {
        (self.hashed, self.origin) = (hashed, Some(origin));
        self
    }

    /// Whether the bytes of the archive are generated.
    pub(crate) fn is_generated(&self) -> bool {
        self.origin.is_some()
    }

    /// The block in the file that a generated archive comes from.
    fn origin_block(&self, block: usize) -> Option<OriginBlock> {
        self.origin.as_ref().and_then(|origin| origin.blocks.get(block)).copied()
    }

    /// Whether the source decodes a block on each read. Encoding such a block again is better than
    /// copying it.
    pub(crate) fn is_decoded_on_read(&self, block: usize) -> bool {
        self.origin_block(block).is_some_and(|block| block.decoded)
    }

    /// Size in bytes of the archive's file: that of the source, or of the file that a generated
    /// archive comes from.
    pub(crate) fn file_len(&self) -> u64 {
        self.origin.as_ref().map_or(self.source.len(), |origin| origin.len)
    }

    /// Offset of a block in the archive's file, for errors. In a generated archive, it differs from
    /// that in the source, which is that of the [layout](Self::layout).
    pub(crate) fn block_offset(&self, block: usize) -> u64 {
        self.origin_block(block).map_or(self.layout.offset(block), |block| block.offset)
    }

    /// Converts the offset of an error: from an offset in a block, as the source has it, to one in
    /// the archive's file.
    pub(crate) fn in_block(&self, block: usize, error: Error) -> Error {
        let added = self.origin_block(block).map_or(0, |block| block.added);
        error.with_offset(error.offset.saturating_sub(added)).shifted(self.block_offset(block))
    }

    /// Replaces the source by another source of the same bytes, such as a box of it.
    pub fn map_source<T>(self, map: impl FnOnce(S) -> T) -> Archive<T> {
        Archive {
            source: map(self.source),
            limits: self.limits,
            header: self.header,
            toc: self.toc,
            pool: self.pool,
            layout: self.layout,
            spare: self.spare,
            hashed: self.hashed,
            origin: self.origin,
            by_path: self.by_path,
            by_folded: self.by_folded,
        }
    }

    /// The source of the archive's bytes.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The limits of this archive.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The header fields.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The table of contents: entries and blocks.
    pub fn toc(&self) -> &Toc {
        &self.toc
    }

    /// The string pool: all paths.
    pub fn pool(&self) -> &StringPool {
        &self.pool
    }

    /// The offsets and content lengths of the blocks.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns whether there are non-zero bytes between the tables and the first block.
    pub fn has_spare_bytes(&self) -> bool {
        self.spare
    }

    /// The hash function of the contents.
    pub fn hash_kind(&self) -> HashKind {
        self.header.hash
    }

    /// Whether contents have hashes, as in every Nx archive. An R3A archive may have none. Its
    /// contents are then read without a check, also if it is shown [as Nx](crate::r3a::AsNx).
    pub fn has_hashes(&self) -> bool {
        self.hashed
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.toc.entries.len()
    }

    /// Whether the archive has no files.
    pub fn is_empty(&self) -> bool {
        self.toc.entries.is_empty()
    }

    /// Returns the file of an index, or `None` if there is no such file.
    pub fn get(&self, index: usize) -> Option<File<'_>> {
        let entry = self.toc.entries.get(index)?;
        let path = self.pool.get(entry.path as usize)?;
        // There are fewer than 2^20 files.
        let (header, origin) = (&self.header, self.origin.as_ref());
        Some(File { index: index as u32, path, entry, header, origin, hashed: self.hashed })
    }

    /// Returns all files in the order of the archive. This crate writes archives in the order of
    /// blocks, empty files last.
    pub fn files(&self) -> impl DoubleEndedIterator<Item = File<'_>> + ExactSizeIterator + FusedIterator {
        (0..self.len()).map(|i| self.get(i).expect("every entry has a path: both were checked on opening"))
    }

    /// Finds a file by its exact path. If several files have the path, returns the first. The first
    /// call sorts the entries, which takes linear time if the paths in the archive are sorted.
    pub fn find(&self, path: &str) -> Option<File<'_>> {
        let by_path = self.by_path.get_or_init(|| self.sort_by_path());
        let index = by_path.partition_point(|&i| self.path_of(i) < path);
        let found = self.get(*by_path.get(index)? as usize)?;
        (found.path == path).then_some(found)
    }

    /// Finds files by path without regard to case, in the order of the archive. Each character is
    /// mapped to lower case by Unicode's rules, independent of language. The first call hashes all
    /// paths.
    pub fn find_ignoring_case<'a>(&'a self, path: &'a str) -> impl Iterator<Item = File<'a>> {
        let by_folded = self.by_folded.get_or_init(|| self.hash_folded());
        let hash_of_path = folded_hash(path);
        let start = by_folded.partition_point(|(hash, _)| *hash < hash_of_path);
        let same = by_folded[start..].iter().take_while(move |(hash, _)| *hash == hash_of_path);
        same.filter_map(|(_, i)| self.get(*i as usize)).filter(move |file| folded(file.path).eq(folded(path)))
    }

    /// Reads the table of a block's filtered regions. A block that is [not
    /// filtered](crate::Block::filtered) has none.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Corrupt`] if the table is damaged, [`Kind::Unsupported`] if it names an
    /// unknown filter, and [`Kind::Read`] if the source cannot be read. The offset is in the
    /// archive.
    ///
    /// # Panics
    ///
    /// Panics if there is no such block.
    pub fn regions(&self, block: usize) -> Result<Vec<Region>> {
        let (at, word) = (self.layout.offset(block), self.toc.blocks[block]);
        if !word.filtered {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; MAX_TABLE.min(word.compressed as usize)];
        self.source.read_at(at, &mut bytes).map_err(|e| read_error(at, &e))?;
        regions::parse(&bytes).map(|(regions, _)| regions).map_err(|e| e.shifted(at))
    }

    /// Creates a reader, which reuses its buffers from file to file. Create one for each thread.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] if zstd does not support [`Limits::window_log`].
    pub fn reader(&self) -> Result<Reader<'_, S>> {
        Reader::new(self)
    }

    /// Reads one file and checks its hash. To read several files, [`Archive::reader`] is faster.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Archive::reader`] and [`Reader::read`].
    pub fn read(&self, file: File<'_>) -> Result<Vec<u8>> {
        self.reader()?.read(file)
    }

    fn path_of(&self, index: u32) -> &str {
        self.pool.get(self.toc.entries[index as usize].path as usize).unwrap_or_default()
    }

    fn sort_by_path(&self) -> Vec<u32> {
        // There are fewer than 2^20 files.
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        match self.pool.is_sorted() {
            // The index of a path in the pool is its rank. Nearly always, one entry has it.
            true => {
                order.iter_mut().for_each(|i| *i = u32::MAX);
                for (i, entry) in (0..).zip(&self.toc.entries) {
                    order[entry.path as usize] = i;
                }
                if order.contains(&u32::MAX) {
                    order = (0..self.len() as u32).collect();
                    order.sort_by_key(|&i| self.toc.entries[i as usize].path);
                }
            }
            false => order.sort_by(|&a, &b| self.path_of(a).cmp(self.path_of(b))),
        }
        order
    }

    fn hash_folded(&self) -> Vec<(u64, u32)> {
        let mut hashes: Vec<_> = (0..self.len() as u32).map(|i| (folded_hash(self.path_of(i)), i)).collect();
        hashes.sort_unstable();
        hashes
    }
}

/// Returns the path in lower case.
pub(crate) fn folded(path: &str) -> impl Iterator<Item = char> {
    path.chars().flat_map(char::to_lowercase)
}

fn folded_hash(path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    folded(path).for_each(|c| hasher.write_u32(c as u32));
    hasher.finish()
}

/// Reads the header. Returns its fields, and all bytes of its pages.
fn read_header(source: &impl ReadAt, limits: &Limits) -> Result<(Header, Vec<u8>)> {
    let len = source.len();
    let mut bytes = vec![0; len.min(PAGE) as usize];
    source.read_at(0, &mut bytes).map_err(|e| read_error(0, &e))?;
    let header = Header::parse(&bytes)?;
    if header.bytes() > limits.header {
        return Err(Error::new(Kind::Limit, 4, "a header larger than the limit"));
    }
    if header.bytes() > len {
        return Err(Error::new(Kind::Truncated, len, "the archive ends within its header"));
    }
    let first = bytes.len();
    lengthen(&mut bytes, header.bytes() as usize, 4)?;
    if first < bytes.len() {
        source.read_at(first as u64, &mut bytes[first..]).map_err(|e| read_error(first as u64, &e))?;
    }
    Ok((header, bytes))
}

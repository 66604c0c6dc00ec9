//! Reads single files: a whole file, a range of it, or into a writer.

use core::ops::Range;
use std::io::{self, Write};

use linerate_core::{Error, Kind, Result};
use linerate_io::ReadAt;

use crate::block::cache::{BlockCache, INITIAL_CAPACITY};
use crate::block::memory::{lengthen, no_memory};
use crate::format::hash::HashKind;
use crate::format::toc::Codec;
use crate::read::archive::{Archive, File};
use crate::read::block_reader::BlockReader;

/// Reads files of one archive. An LRU cache keeps decoded blocks, so that a solid block is decoded
/// once for all of its small files, as long as it stays in the cache.
///
/// Memory holds decoded blocks, at least one and up to 64 MiB or the size set by [`Reader::cache`];
/// one more if a file was written or hashed block by block; one compressed block; the content of a
/// filtered block a second time; and the state of the zstd
/// decoder, about 300 KiB. After [`Reader::read_range`] has read a part of a zstd block, the state
/// to resume it takes up to 128 KiB more.
pub struct Reader<'a, S> {
    archive: &'a Archive<S>,
    blocks: BlockReader<'a, S>,
    cache: BlockCache,
    /// A block that is not cached, because all of it goes to the writer or hasher.
    uncached: Vec<u8>,
    verify: bool,
}

/// Default size of the block cache in bytes.
const CACHE: u64 = 64 << 20;

/// A part of a file: bytes `from..to` of the content of a block.
pub(crate) struct Piece {
    pub(crate) block: usize,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Piece {
    /// The range of the piece in the decoded block.
    pub(crate) fn range(&self) -> Range<usize> {
        self.from as usize..self.to as usize
    }

    /// Whether the piece is its whole block.
    pub(crate) fn is_whole_block<S: ReadAt>(&self, archive: &Archive<S>) -> bool {
        self.from == 0 && self.to == archive.layout().content(self.block)
    }
}

/// Largest allocation for a file by its stated size alone, in bytes. Beyond it, the output grows as
/// blocks are decoded.
pub(crate) const MAX_INITIAL_CAPACITY: u64 = 64 << 20;

impl<'a, S: ReadAt> Reader<'a, S> {
    pub(crate) fn new(archive: &'a Archive<S>) -> Result<Self> {
        let blocks = BlockReader::new(archive)?;
        let cache = BlockCache::new(CACHE);
        Ok(Reader { archive, blocks, cache, uncached: Vec::new(), verify: true })
    }

    /// Sets the size of the block cache in bytes. Default: 64 MiB. The cache holds the most
    /// recently used blocks of small files and of [`Reader::read_range`], at least one and at most
    /// 1024. A chunk of a large file is evicted first once a range has been read to the end of the
    /// chunk.
    pub fn cache(&mut self, bytes: u64) -> &mut Self {
        self.cache.set_budget(bytes);
        self
    }

    /// Sets whether whole files are checked against their hashes. Default: true.
    pub fn verify(&mut self, verify: bool) -> &mut Self {
        self.verify = verify;
        self
    }

    /// Reads a whole file.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Corrupt`] if a block is damaged or the content does not match its hash;
    /// [`Kind::Unsupported`] if a block has an unknown filter or, in R3A, an unsupported codec;
    /// [`Kind::Limit`] if the file, a block or a zstd window is larger than the limits, or memory
    /// runs out; and [`Kind::Read`] if the source cannot be read. The offset is in the archive: in
    /// or at the block or the entry.
    pub fn read(&mut self, file: File<'_>) -> Result<Vec<u8>> {
        let (archive, verify) = (self.archive, self.verify);
        read_whole(archive, file, verify, |piece, out| self.fill(piece, file.blocks().end, out))
    }

    /// Reads a whole file into the start of `out` and returns its length. The rest of `out` is
    /// unchanged.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Reader::read`], and [`Kind::OutputTooSmall`] if the file is larger
    /// than `out`. `out` is unspecified after an error.
    pub fn read_into(&mut self, file: File<'_>, out: &mut [u8]) -> Result<usize> {
        let (archive, verify) = (self.archive, self.verify);
        read_whole_into(archive, file, verify, out, |piece, out| self.fill(piece, file.blocks().end, out))
    }

    /// Reads `out.len()` bytes of a file, starting at `offset`.
    ///
    /// Only the blocks that hold these bytes are read, and a zstd block is decoded less than 128
    /// KiB further than needed. A later range of the same block resumes there, so that sequential
    /// reads of any size decode each byte once. A block that fits the [cache](Reader::cache) is
    /// decoded completely in three cases: the chunk before it was read to its end; another block
    /// was started since a part of it was decoded; or it is LZ4, which cannot be resumed. A
    /// filtered block always is.
    ///
    /// The file's hash is not checked. The checksum of a zstd frame is checked if the range reaches
    /// the end of its block.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Reader::read`], and [`Kind::BadArgument`] if the file ends before
    /// the range does. `out` is unspecified after an error.
    pub fn read_range(&mut self, file: File<'_>, offset: u64, out: &mut [u8]) -> Result<()> {
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= file.size());
        let end = end.ok_or(Error::new(Kind::BadArgument, offset, "a range past the end of the file"))?;
        let mut rest = out;
        for piece in pieces(self.archive, file, offset, end) {
            let (part, next) = rest.split_at_mut((piece.to - piece.from) as usize);
            self.fill_part(&piece, file.is_chunked(), part)?;
            rest = next;
        }
        Ok(())
    }

    /// Writes a file to `out`, block by block, and returns its size. Needs memory for one block
    /// besides the cache, however large the file is. The hash is checked at the end: after an
    /// error, discard the output.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Reader::read`], wrapped in an [`io::Error`], and those of the
    /// writer.
    pub fn write_to(&mut self, file: File<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<u64> {
        check_file_limit(self.archive, file)?;
        let verify = self.verify;
        let mut hasher = self.archive.hash_kind().hasher();
        for piece in pieces(self.archive, file, 0, file.size()) {
            let bytes = self.piece_bytes(&piece, file.blocks().end)?;
            if verify {
                hasher.update(bytes);
            }
            out.write_all(bytes)?;
        }
        if self.verify {
            file.check_hash(hasher.finish())?;
        }
        Ok(file.size())
    }

    /// Returns the hash of a file's content, as
    /// [`hash_with_progress`](Self::hash_with_progress) does.
    pub(crate) fn hash(&mut self, file: File<'_>, kind: HashKind) -> Result<u64> {
        self.hash_with_progress(file, kind, &mut |_| {})
    }

    /// Computes a hash of any kind over the content of a file, whether the archive stores hashes or
    /// not, and checks the stored hash as [`Reader::read`] does. `progress` gets the number of
    /// bytes hashed since its last call, at most a block.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Reader::read`].
    pub fn hash_with_progress(
        &mut self,
        file: File<'_>,
        kind: HashKind,
        progress: &mut dyn FnMut(usize),
    ) -> Result<u64> {
        check_file_limit(self.archive, file)?;
        let stored = self.archive.hash_kind();
        let (mut hasher, mut checker) = (kind.hasher(), stored.hasher());
        let checks = self.verify && self.archive.has_hashes();
        for piece in pieces(self.archive, file, 0, file.size()) {
            let bytes = self.piece_bytes(&piece, file.blocks().end)?;
            hasher.update(bytes);
            if checks && kind != stored {
                checker.update(bytes);
            }
            progress(bytes.len());
        }
        let hash = hasher.finish();
        if checks {
            file.check_hash(if kind == stored { hash } else { checker.finish() })?;
        }
        Ok(hash)
    }

    /// Decodes a piece into `out`. Bypasses the cache if the piece is a whole block that is not
    /// cached, or if the block is stored and the source coalesces no reads. The blocks before
    /// `until` are read next.
    fn fill(&mut self, piece: &Piece, until: usize, out: &mut [u8]) -> Result<()> {
        if piece.is_whole_block(self.archive) && !self.is_cached(piece) {
            return self.blocks.decode(piece.block, out, until - 1).map(|_| ());
        }
        if is_stored(self.archive, piece.block) && self.archive.source().coalesce_limit() == 0 {
            return self.blocks.read_stored(piece.block, piece.from, out);
        }
        out.copy_from_slice(self.piece_bytes(piece, until)?);
        Ok(())
    }

    /// Returns the bytes of a piece. Decodes the whole block unless it is cached, or a damaged one
    /// up to the end of the piece.
    fn piece_bytes(&mut self, piece: &Piece, until: usize) -> Result<&[u8]> {
        if !self.is_cached(piece) {
            if piece.is_whole_block(self.archive) {
                let content = self.blocks.buffer_for(piece.block, &mut self.uncached)?;
                self.blocks.decode(piece.block, content, until - 1)?;
                return Ok(content);
            }
            if let Err(error) = self.decode_whole(piece.block, until) {
                self.recover(piece, error)?;
            }
        }
        Ok(&self.cache.newest().content()[piece.range()])
    }

    /// Decodes a damaged block up to the end of a piece, since damage after the piece does not
    /// matter. Returns `error` if it is no damage, if no hash will check the result, if nothing
    /// follows the piece, or if this fails, too.
    fn recover(&mut self, piece: &Piece, error: Error) -> Result<()> {
        let content = self.archive.layout().content(piece.block);
        let verify = self.verify && self.archive.has_hashes();
        if !verify || error.kind != Kind::Corrupt || piece.to >= content {
            return Err(error);
        }
        self.decode_up_to(piece.block, piece.to).map_err(|_| error)
    }

    /// Decodes a piece into `out`, and usually no more of its block.
    fn fill_part(&mut self, piece: &Piece, is_chunk: bool, out: &mut [u8]) -> Result<()> {
        if is_stored(self.archive, piece.block) {
            return self.blocks.read_stored(piece.block, piece.from, out);
        }
        let content = self.archive.layout().content(piece.block);
        if !self.is_cached(piece) {
            self.decode_part(piece, content)?;
        }
        out.copy_from_slice(&self.cache.newest().content()[piece.range()]);
        self.cache.set_finished(is_chunk && piece.to == content);
        Ok(())
    }

    /// Decodes a block into the cache at least as far as a piece needs it. A prefix may be cached
    /// already.
    fn decode_part(&mut self, piece: &Piece, content: u64) -> Result<()> {
        // The reader is sequential and will most likely read all of this chunk. Decoding it at once
        // is faster than in steps, which copy the content of the zstd blocks in which they end.
        let follows = piece.from == 0 && piece.block > 0 && self.cache.is_finished(piece.block - 1);
        let filled = self.cache.find(piece.block).unwrap_or(0);
        let block = self.archive.toc().blocks[piece.block];
        let steps = block.is_resumable() && (filled == 0 || self.blocks.can_resume(piece.block, filled));
        // Any part of a filtered block needs all of it decoded, so it is cached whatever the
        // budget.
        let budget = if block.filtered { u64::MAX } else { self.cache.budget() };
        let fits = content <= budget.min(self.archive.limits().block);
        if fits && (!steps || follows || (filled == 0 && piece.to == content)) {
            match self.decode_whole(piece.block, piece.block + 1) {
                // Damage after the range does not matter.
                Err(error) if error.kind == Kind::Corrupt && piece.to < content => {}
                result => return result,
            }
        }
        self.decode_up_to(piece.block, piece.to)
    }

    /// Decodes a whole block into the cache and makes it the newest.
    fn decode_whole(&mut self, block: usize, until: usize) -> Result<()> {
        let (content, at) = (self.blocks.content_len(block)?, self.archive.block_offset(block));
        if self.cache.find(block).is_none() {
            self.cache.insert(block, content);
        }
        self.cache.newest().set_filled(0);
        self.cache.reserve(content, content, at)?;
        let newest = self.cache.newest();
        self.blocks.decode(block, newest.buffer_mut(content), until - 1)?;
        newest.set_filled(content);
        Ok(())
    }

    /// Decodes a prefix of a block into the cache and makes it the newest. Resumes where possible.
    fn decode_up_to(&mut self, block: usize, to: u64) -> Result<()> {
        let (layout, limits) = (self.archive.layout(), self.archive.limits());
        let at = self.archive.block_offset(block);
        let too_large = Error::new(Kind::Limit, at, "a block larger than the limit");
        let len = usize::try_from(to).ok().filter(|_| to <= limits.block).ok_or(too_large)?;
        let max_len = usize::try_from(layout.content(block).min(limits.block)).unwrap_or(usize::MAX);
        let filled = match self.cache.find(block) {
            Some(filled) => filled,
            None => {
                self.cache.insert(block, max_len.min(INITIAL_CAPACITY));
                0
            }
        };
        self.cache.reserve(len, max_len, at)?;
        let newest = self.cache.newest();
        newest.set_filled(0);
        self.blocks.decode_more(block, newest.buffer_mut(len), filled)?;
        newest.set_filled(len);
        Ok(())
    }

    /// Returns whether a piece is cached. If so, its block becomes the newest.
    fn is_cached(&mut self, piece: &Piece) -> bool {
        self.cache.find(piece.block).is_some_and(|filled| filled as u64 >= piece.to)
    }
}

/// Whether a block is stored in the source without compression.
pub(crate) fn is_stored<S: ReadAt>(archive: &Archive<S>, block: usize) -> bool {
    archive.toc().blocks[block].codec == Codec::Copy && !archive.is_decoded_on_read(block)
}

/// Checks the size of a file against the archive's limit.
pub(crate) fn check_file_limit<S: ReadAt>(archive: &Archive<S>, file: File<'_>) -> Result<()> {
    match file.size() <= archive.limits().file {
        true => Ok(()),
        false => Err(Error::new(Kind::Limit, file.entry_offset(), "a file larger than the limit")),
    }
}

/// Reads a whole file piece by piece with `fill`, and checks its hash.
pub(crate) fn read_whole<S: ReadAt>(
    archive: &Archive<S>,
    file: File<'_>,
    verify: bool,
    mut fill: impl FnMut(&Piece, &mut [u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    check_file_limit(archive, file)?;
    let mut out = Vec::new();
    out.try_reserve_exact(file.size().min(MAX_INITIAL_CAPACITY) as usize)
        .map_err(|_| no_memory(file.entry_offset()))?;
    for piece in pieces(archive, file, 0, file.size()) {
        let (start, len) = (out.len(), (piece.to - piece.from) as usize);
        lengthen(&mut out, start + len, file.entry_offset())?;
        fill(&piece, &mut out[start..])?;
    }
    if verify {
        file.check_hash(archive.hash_kind().hash_bytes(&out))?;
    }
    Ok(out)
}

/// Reads a whole file into the start of `out`, as [`read_whole`] does into new memory. Returns the
/// length of the file.
pub(crate) fn read_whole_into<S: ReadAt>(
    archive: &Archive<S>,
    file: File<'_>,
    verify: bool,
    out: &mut [u8],
    mut fill: impl FnMut(&Piece, &mut [u8]) -> Result<()>,
) -> Result<usize> {
    check_file_limit(archive, file)?;
    let out = usize::try_from(file.size()).ok().and_then(|size| out.get_mut(..size));
    let too_small =
        Error::new(Kind::OutputTooSmall, file.entry_offset(), "the buffer is smaller than the file");
    let out = out.ok_or(too_small)?;
    let mut rest = &mut *out;
    for piece in pieces(archive, file, 0, file.size()) {
        let (part, next) = rest.split_at_mut((piece.to - piece.from) as usize);
        fill(&piece, part)?;
        rest = next;
    }
    if verify {
        file.check_hash(archive.hash_kind().hash_bytes(out))?;
    }
    Ok(out.len())
}

/// Splits the byte range `from..to` of a file by block.
pub(crate) fn pieces<'f, S: ReadAt>(
    archive: &Archive<S>,
    file: File<'f>,
    from: u64,
    to: u64,
) -> impl Iterator<Item = Piece> + use<'f, S> {
    let chunk = archive.header().chunk.bytes();
    let (first, offset) = (file.blocks().start, u64::from(file.entry().block_offset));
    let chunks = if from < to { from / chunk..(to - 1) / chunk + 1 } else { 0..0 };
    chunks.map(move |i| {
        let start = i * chunk;
        Piece {
            block: first + i as usize,
            from: offset + from.max(start) - start,
            // Computed without overflow: the last chunk of a file near 2^64 bytes would end beyond
            // 2^64.
            to: offset + (to - start).min(chunk),
        }
    })
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use super::*;
    use crate::pack::{Builder, Coding, PackOptions};

    const CODINGS: [Coding; 2] = [Coding::zstd(1), Coding::lz4(1)];

    /// Compressible text, different for each seed.
    fn text(len: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 24
        };
        let mut bytes = Vec::with_capacity(len + 9);
        while bytes.len() < len {
            bytes.extend_from_slice(format!("word {:03} ", next()).as_bytes());
        }
        bytes.truncate(len);
        bytes
    }

    /// Returns an archive with chunks of 512 KiB, each of several zstd blocks.
    fn archive(coding: Coding, files: &[(&str, &[u8])]) -> Archive<Vec<u8>> {
        let chunk = 512 << 10;
        let options = PackOptions {
            chunk,
            solid_limit: chunk - 1,
            solid: coding,
            chunked: coding,
            group_similar: false,
            ..PackOptions::default()
        };
        let mut builder = Builder::new(options).unwrap();
        files.iter().for_each(|(name, bytes)| builder.add_bytes(*name, *bytes).unwrap());
        Archive::open(builder.to_bytes().unwrap().0).unwrap()
    }

    /// Reads a file in ranges of `step` bytes, and compares them with `bytes`.
    fn step_through(reader: &mut Reader<'_, Vec<u8>>, file: File<'_>, bytes: &[u8], step: usize) {
        for at in (0..bytes.len()).step_by(step) {
            let mut out = vec![0; step.min(bytes.len() - at)];
            reader.read_range(file, at as u64, &mut out).unwrap();
            assert!(out == bytes[at..at + out.len()], "{step} at {at}");
        }
    }

    #[test]
    fn sequential_ranges_decode_each_byte_once() {
        let bytes = text(1_300_000, 1);
        for coding in CODINGS {
            let archive = archive(coding, &[("large", &bytes)]);
            for step in [4096, 100_000, 1 << 20] {
                let mut reader = archive.reader().unwrap();
                step_through(&mut reader, archive.find("large").unwrap(), &bytes, step);
                assert_eq!(reader.blocks.decoded(), bytes.len() as u64, "{coding:?}, {step}");
            }
        }
    }

    #[test]
    fn two_files_read_alternately_are_decoded_at_most_twice() {
        let (a, b) = (text(600_000, 1), text(600_000, 2));
        for budget in [CACHE, 1 << 20] {
            let archive = archive(Coding::zstd(1), &[("a", &a), ("b", &b)]);
            let mut reader = archive.reader().unwrap();
            reader.cache(budget);
            let files = ["a", "b"].map(|name| archive.find(name).unwrap());
            for at in (0..a.len()).step_by(5000) {
                for (file, bytes) in files.into_iter().zip([&a, &b]) {
                    let mut out = [0; 5000];
                    reader.read_range(file, at as u64, &mut out).unwrap();
                    assert!(out == bytes[at..at + 5000]);
                }
            }
            assert!(reader.blocks.decoded() <= 2 * 1_200_000, "{}", reader.blocks.decoded());
        }
    }

    #[test]
    fn small_files_in_any_order_decode_each_solid_block_once() {
        let contents: Vec<Vec<u8>> = (0..100).map(|i| text(20_000 + i, i as u32)).collect();
        let names: Vec<String> = (0..100).map(|i| format!("{:02}", i * 37 % 100)).collect();
        let files: Vec<(&str, &[u8])> =
            names.iter().zip(&contents).map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
        let archive = archive(Coding::zstd(1), &files);
        assert!(archive.layout().len() > 3);
        let mut order: Vec<File<'_>> = archive.files().collect();
        // Makes consecutive reads use different blocks.
        order.sort_by_key(|file| (file.entry().block_offset, file.entry().first_block));
        let all: u64 = (0..archive.layout().len()).map(|i| archive.layout().content(i)).sum();
        let read_all = |budget| {
            let mut reader = archive.reader().unwrap();
            reader.cache(budget);
            for file in &order {
                let bytes = reader.read(*file).unwrap();
                assert!(files.iter().any(|(name, content)| *name == file.path() && *content == bytes));
            }
            reader.blocks.decoded()
        };
        assert_eq!(read_all(CACHE), all);
        assert!(read_all(0) > 10 * all, "only one block is cached");
    }

    #[test]
    fn range_before_damage_is_read_however_it_is_decoded() {
        let bytes = text(500_000, 7);
        for coding in CODINGS {
            let whole = archive(coding, &[("a", &bytes), ("b", &text(900, 8))]);
            let at = whole.layout().offset(whole.find("a").unwrap().blocks().start) as usize;
            let compressed = whole.toc().blocks[0].compressed as usize;
            let mut damaged = whole.source().clone();
            damaged[at + compressed / 2..at + compressed].fill(0);
            let damaged = Archive::open(damaged).unwrap();
            let (file, other) = (damaged.find("a").unwrap(), damaged.find("b").unwrap());
            let mut reader = damaged.reader().unwrap();
            let mut out = vec![0; 100_000];
            reader.read_range(file, 50_000, &mut out[..1000]).unwrap();
            // After this read, the block cannot be resumed.
            let _ = reader.read_range(other, 0, &mut out[..900]);
            reader.read_range(file, 0, &mut out).unwrap();
            assert!(out == bytes[..100_000], "{coding:?}");
            assert_eq!(reader.read_range(file, 400_000, &mut out).unwrap_err().kind, Kind::Corrupt);
            reader.read_range(file, 0, &mut out).unwrap();
            assert!(out == bytes[..100_000], "{coding:?}");
        }
    }
}

//! Reading files: whole, in part, or into a writer.

use core::ops::Range;
use std::io::{self, Write};

use linerate_core::{Error, Kind, Result};

use crate::ReadAt;
use crate::archive::{Archive, File};
use crate::block::{BlockReader, no_memory};
use crate::cache::{BlockCache, FIRST_ROOM};
use crate::hash::HashKind;
use crate::toc::Codec;

/// Reads files of one archive with working memory of its own. Blocks that were decoded lately are
/// kept, so that the small files of a solid block cost one decoding, in whatever order they are read.
///
/// Memory is [`Reader::CACHE`] bytes of decoded blocks, or what [`Reader::cache`] says, but at least
/// the block that is being read; one block in compressed form; and, once [`Reader::read_range`] has
/// read part of a zstd block, what zstd keeps to go on there: its window, at most
/// 2^[`Limits::window_log`](crate::Limits::window_log) bytes, and some 300 KiB.
pub struct Reader<'a, S> {
    archive: &'a Archive<S>,
    blocks: BlockReader<'a, S>,
    cache: BlockCache,
    /// A block on its way to a writer, which nobody will want again.
    passing: Vec<u8>,
    verifies: bool,
}

/// A part of a file: bytes `from..to` of the content of a block.
struct Piece {
    block: usize,
    from: u64,
    to: u64,
}

impl Piece {
    /// Where it is in its block, once that is in memory.
    fn range(&self) -> Range<usize> {
        self.from as usize..self.to as usize
    }
}

/// The most that is taken on a file's word alone.
const PLAUSIBLE: u64 = 64 << 20;

impl<'a, S: ReadAt> Reader<'a, S> {
    pub(crate) fn new(archive: &'a Archive<S>) -> Result<Self> {
        let blocks = BlockReader::new(archive)?;
        let cache = BlockCache::new(Self::CACHE);
        Ok(Reader { archive, blocks, cache, passing: Vec::new(), verifies: true })
    }

    /// Bytes of decoded blocks that are kept by default: 64 MiB.
    pub const CACHE: u64 = 64 << 20;

    /// How many bytes of decoded blocks are kept, the most recently used ones, at most 1024 blocks.
    /// Kept are the blocks of small files, and those that [`Reader::read_range`] reads, until a range
    /// has come to the end of a block that is a chunk of a larger file. Less than one block keeps one.
    pub fn cache(&mut self, bytes: u64) -> &mut Self {
        self.cache.set_budget(bytes);
        self
    }

    /// Whether the hashes of whole files are checked, which they are at first.
    pub fn verify(&mut self, verifies: bool) -> &mut Self {
        self.verifies = verifies;
        self
    }

    /// The content of a file.
    ///
    /// # Errors
    ///
    /// [`Kind::Corrupt`] if a block is damaged or the content does not match its hash,
    /// [`Kind::Limit`] if the file, a block or a zstd window is larger than the limits or memory
    /// runs out, [`Kind::Read`] if the source cannot be read; `at` is that of the block or the entry
    /// in the archive.
    pub fn read(&mut self, file: File<'_>) -> Result<Vec<u8>> {
        self.admit(file)?;
        let mut out = Vec::new();
        out.try_reserve_exact(file.size().min(PLAUSIBLE) as usize).map_err(|_| no_memory(file.at()))?;
        for piece in pieces(self.archive, file, 0, file.size()) {
            let (start, len) = (out.len(), (piece.to - piece.from) as usize);
            out.try_reserve(len).map_err(|_| no_memory(file.at()))?;
            out.resize(start + len, 0);
            self.fill(&piece, file.blocks().end, &mut out[start..])?;
        }
        if self.verifies {
            file.check(self.archive.hash_kind().hash_bytes(&out))?;
        }
        Ok(out)
    }

    /// Fills the start of `out` with the content of a file; the rest of it stays. Its length is
    /// returned.
    ///
    /// # Errors
    ///
    /// As [`Reader::read`], and [`Kind::OutputTooSmall`]. `out` is unspecified after an error.
    pub fn read_into(&mut self, file: File<'_>, out: &mut [u8]) -> Result<usize> {
        self.admit(file)?;
        let out = usize::try_from(file.size()).ok().and_then(|size| out.get_mut(..size));
        let too_small = Error::new(Kind::OutputTooSmall, file.at(), "the buffer is smaller than the file");
        let out = out.ok_or(too_small)?;
        let mut rest = &mut *out;
        for piece in pieces(self.archive, file, 0, file.size()) {
            let (part, next) = rest.split_at_mut((piece.to - piece.from) as usize);
            self.fill(&piece, file.blocks().end, part)?;
            rest = next;
        }
        if self.verifies {
            file.check(self.archive.hash_kind().hash_bytes(out))?;
        }
        Ok(out.len())
    }

    /// Fills `out` with the bytes of a file from `offset` on. Only the blocks that hold them are
    /// read, and a zstd block is decoded no further than needed; a range behind the last one of the
    /// same block goes on from there, so that reading on in steps of any size decodes each byte once. If
    /// the [cache](Reader::cache) has room for it, a block is decoded whole when the chunk before it was
    /// read to its end, when it is read on after another was begun, and if it is LZ4, which has nothing
    /// to go on from. The hash is of the whole
    /// file, so it is not checked; the checksums of blocks, where there are any, are if they are reached.
    ///
    /// # Errors
    ///
    /// As [`Reader::read`], and [`Kind::BadArgument`] if the file ends before the range does. `out`
    /// is unspecified after an error.
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

    /// Writes the content of a file, block by block, and returns its size. Memory is that of
    /// one block besides the cache, however large the file is. The hash is known only at the end: on an error,
    /// discard what was written.
    ///
    /// # Errors
    ///
    /// As [`Reader::read`], as [`io::Error`]s that wrap them, and those of the writer.
    pub fn write_to(&mut self, file: File<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<u64> {
        self.admit(file)?;
        let verifies = self.verifies;
        let mut hasher = self.archive.hash_kind().hasher();
        for piece in pieces(self.archive, file, 0, file.size()) {
            let bytes = self.hold(&piece, file.blocks().end)?;
            if verifies {
                hasher.update(bytes);
            }
            out.write_all(bytes)?;
        }
        if self.verifies {
            file.check(hasher.finish())?;
        }
        Ok(file.size())
    }

    /// The hash of the content of a file, of any kind, whether the archive has one or not.
    ///
    /// # Errors
    ///
    /// As [`Reader::read`].
    pub fn hash(&mut self, file: File<'_>, kind: HashKind) -> Result<u64> {
        self.admit(file)?;
        let stored = self.archive.hash_kind();
        let (mut hasher, mut checker) = (kind.hasher(), stored.hasher());
        let checks = self.verifies && self.archive.has_hashes();
        for piece in pieces(self.archive, file, 0, file.size()) {
            let bytes = self.hold(&piece, file.blocks().end)?;
            hasher.update(bytes);
            if checks && kind != stored {
                checker.update(bytes);
            }
        }
        let hash = hasher.finish();
        if checks {
            file.check(if kind == stored { hash } else { checker.finish() })?;
        }
        Ok(hash)
    }

    fn admit(&self, file: File<'_>) -> Result<()> {
        match file.size() <= self.archive.limits().file {
            true => Ok(()),
            false => Err(Error::new(Kind::Limit, file.at(), "a file larger than the limit")),
        }
    }

    /// Fills `out` with a piece. A block that is nothing but the piece goes straight there.
    fn fill(&mut self, piece: &Piece, until: usize, out: &mut [u8]) -> Result<()> {
        if self.is_alone(piece) && !self.is_held(piece) {
            return self.blocks.whole(piece.block, out, until - 1).map(|_| ());
        }
        if self.is_stored(piece.block) && self.archive.source().coalesce_limit() == 0 {
            return self.blocks.stored(piece.block, piece.from, out);
        }
        out.copy_from_slice(self.hold(piece, until)?);
        Ok(())
    }

    /// A piece, from the whole block, which is decoded unless it is held.
    fn hold(&mut self, piece: &Piece, until: usize) -> Result<&[u8]> {
        if !self.is_held(piece) {
            if self.is_alone(piece) {
                self.blocks.prepare(piece.block, &mut self.passing)?;
                self.blocks.whole(piece.block, &mut self.passing, until - 1)?;
                return Ok(&self.passing);
            }
            if let Err(error) = self.decode_whole(piece.block, until) {
                self.salvage(piece, error)?;
            }
        }
        Ok(&self.cache.newest().content()[piece.range()])
    }

    /// Decodes a block up to the end of a piece, since damage behind it is not the piece's. Without
    /// a hash to check it, what comes of a damaged block is not to be trusted.
    fn salvage(&mut self, piece: &Piece, error: Error) -> Result<()> {
        let content = self.archive.layout().content(piece.block);
        let verifies = self.verifies && self.archive.has_hashes();
        if !verifies || error.kind != Kind::Corrupt || piece.to >= content {
            return Err(error);
        }
        self.decode_up_to(piece.block, piece.to).map_err(|_| error)
    }

    /// Fills `out` with a piece, decoding its block no further than there.
    fn fill_part(&mut self, piece: &Piece, is_chunk: bool, out: &mut [u8]) -> Result<()> {
        if self.is_stored(piece.block) {
            return self.blocks.stored(piece.block, piece.from, out);
        }
        let content = self.archive.layout().content(piece.block);
        if !self.is_held(piece) {
            self.decode_part(piece, content)?;
        }
        let newest = self.cache.newest();
        out.copy_from_slice(&newest.content()[piece.range()]);
        newest.set_spent(is_chunk && piece.to == content);
        Ok(())
    }

    /// Decodes what a range needs of a block, which may be held in part.
    fn decode_part(&mut self, piece: &Piece, content: u64) -> Result<()> {
        // Who has read the chunk before to its end will most likely do so with this one; at once is
        // faster than in steps, which pass through the window of zstd.
        let follows = piece.from == 0 && piece.block > 0 && self.cache.is_spent(piece.block - 1);
        let filled = self.cache.find(piece.block).unwrap_or(0);
        let is_zstd = self.archive.toc().blocks[piece.block].codec == Codec::Zstd;
        let steps = is_zstd && (filled == 0 || self.blocks.can_go_on(piece.block, filled));
        let fits = content <= self.cache.budget().min(self.archive.limits().block);
        if fits && (!steps || follows || (filled == 0 && piece.to == content)) {
            match self.decode_whole(piece.block, piece.block + 1) {
                // Damage behind the range is not the range's.
                Err(error) if error.kind == Kind::Corrupt && piece.to < content => {}
                result => return result,
            }
        }
        self.decode_up_to(piece.block, piece.to)
    }

    /// Decodes a block, which is the newest then.
    fn decode_whole(&mut self, block: usize, until: usize) -> Result<()> {
        let (content, at) = (self.blocks.content(block)?, self.archive.layout().offset(block));
        if self.cache.find(block).is_none() {
            self.cache.begin(block, content);
        }
        self.cache.newest().set_filled(0);
        self.cache.reserve(content, content, at)?;
        let newest = self.cache.newest();
        self.blocks.whole(block, newest.room(content), until - 1)?;
        newest.set_filled(content);
        Ok(())
    }

    /// Decodes the first bytes of a block, or goes on to there. It is the newest then.
    fn decode_up_to(&mut self, block: usize, to: u64) -> Result<()> {
        let (layout, limits) = (self.archive.layout(), self.archive.limits());
        let at = layout.offset(block);
        let too_large = Error::new(Kind::Limit, at, "a block larger than the limit");
        let len = usize::try_from(to).ok().filter(|_| to <= limits.block).ok_or(too_large)?;
        let most = usize::try_from(layout.content(block).min(limits.block)).unwrap_or(usize::MAX);
        let filled = match self.cache.find(block) {
            Some(filled) => filled,
            None => {
                self.cache.begin(block, most.min(FIRST_ROOM));
                0
            }
        };
        self.cache.reserve(len, most, at)?;
        let newest = self.cache.newest();
        newest.set_filled(0);
        self.blocks.go_on(block, newest.room(len), filled)?;
        newest.set_filled(len);
        Ok(())
    }

    /// Whether the block is nothing but the piece.
    fn is_alone(&self, piece: &Piece) -> bool {
        piece.from == 0 && piece.to == self.archive.layout().content(piece.block)
    }

    /// Whether a piece is decoded, in the newest block.
    fn is_held(&mut self, piece: &Piece) -> bool {
        self.cache.find(piece.block).is_some_and(|filled| filled as u64 >= piece.to)
    }

    /// Whether the bytes of a block are those of the source.
    fn is_stored(&self, block: usize) -> bool {
        // Making them, as of blocks with a dictionary, is decoding the block.
        let is_made = || self.archive.source().is_generated(self.archive.layout().offset(block));
        self.archive.toc().blocks[block].codec == Codec::Copy && !is_made()
    }
}

/// The pieces that bytes `from..to` of a file are of, in order.
fn pieces<'f, S: ReadAt>(
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
            // The last chunk of a file near 2^64 bytes ends beyond it.
            to: offset + (to - start).min(chunk),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::{Builder, Coding, Options};

    const CODINGS: [Coding; 2] = [Coding::zstd(1), Coding::lz4(1)];

    /// Text that both codecs shorten, and that no two files share.
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

    /// Chunks of 512 KiB, each of several zstd blocks.
    fn archive(coding: Coding, files: &[(&str, &[u8])]) -> Archive<Vec<u8>> {
        let chunk = 512 << 10;
        let options = Options {
            chunk,
            solid_limit: chunk - 1,
            solid: coding,
            chunked: coding,
            group_similar: false,
            ..Options::default()
        };
        let mut builder = Builder::new(options).unwrap();
        files.iter().for_each(|(name, bytes)| builder.add_bytes(*name, *bytes).unwrap());
        Archive::open(builder.to_bytes().unwrap().0).unwrap()
    }

    /// Reads a file in steps from `from` on, and compares.
    fn step_through(reader: &mut Reader<'_, Vec<u8>>, file: File<'_>, bytes: &[u8], step: usize) {
        for at in (0..bytes.len()).step_by(step) {
            let mut out = vec![0; step.min(bytes.len() - at)];
            reader.read_range(file, at as u64, &mut out).unwrap();
            assert!(out == bytes[at..at + out.len()], "{step} at {at}");
        }
    }

    #[test]
    fn reading_on_in_steps_decodes_each_byte_once() {
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
    fn two_files_read_in_turns_are_decoded_at_most_twice() {
        let (a, b) = (text(600_000, 1), text(600_000, 2));
        for budget in [Reader::<Vec<u8>>::CACHE, 1 << 20] {
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
        // Each from another block than the one before.
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
        assert_eq!(read_all(Reader::<Vec<u8>>::CACHE), all);
        assert!(read_all(0) > 10 * all, "one block alone is kept");
    }

    #[test]
    fn a_range_before_damage_comes_out_whichever_way_it_is_decoded() {
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
            // What was decoded of the block cannot be gone on from now.
            let _ = reader.read_range(other, 0, &mut out[..900]);
            reader.read_range(file, 0, &mut out).unwrap();
            assert!(out == bytes[..100_000], "{coding:?}");
            assert_eq!(reader.read_range(file, 400_000, &mut out).unwrap_err().kind, Kind::Corrupt);
            reader.read_range(file, 0, &mut out).unwrap();
            assert!(out == bytes[..100_000], "{coding:?}");
        }
    }
}

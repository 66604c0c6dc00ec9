//! Reading files: whole, in part, or into a writer.

use std::io::{self, Write};

use linerate_core::{Error, Kind, Result};

use crate::archive::{Archive, File};
use crate::block::{BlockReader, no_memory};
use crate::source::Source;
use crate::toc::Codec;

/// Reads files of one archive with working memory of its own. The block it decoded last is kept,
/// so that the small files of one solid block cost one decoding.
pub struct Reader<'a, S> {
    archive: &'a Archive<S>,
    blocks: BlockReader<'a, S>,
    hot: Vec<u8>,
    /// The block whose first bytes are in `hot`.
    held: Option<usize>,
    verifies: bool,
}

/// A part of a file: bytes `from..to` of the content of a block.
struct Piece {
    block: usize,
    from: u64,
    to: u64,
}

/// The most that is taken on a file's word alone.
const PLAUSIBLE: u64 = 64 << 20;

impl<'a, S: Source> Reader<'a, S> {
    pub(crate) fn new(archive: &'a Archive<S>) -> Result<Self> {
        let blocks = BlockReader::new(archive)?;
        Ok(Reader { archive, blocks, hot: Vec::new(), held: None, verifies: true })
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
    /// runs out, [`Kind::Io`] if the source cannot be read; `at` is that of the block or the entry
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
            file.check(self.archive.hash_kind().of(&out))?;
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
            file.check(self.archive.hash_kind().of(out))?;
        }
        Ok(out.len())
    }

    /// Fills `out` with the bytes of a file from `offset` on. Only the blocks that hold them are
    /// read, and a block is decoded no further than needed. The hash is of the whole file, so
    /// it is not checked; the checksums of blocks, where there are any, are if they are reached.
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
            self.fill_part(&piece, part)?;
            rest = next;
        }
        Ok(())
    }

    /// Writes the content of a file, block by block, and returns its size. Memory is that of
    /// one block, however large the file is. The hash is known only at the end: on an error,
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

    fn admit(&self, file: File<'_>) -> Result<()> {
        match file.size() <= self.archive.limits().file {
            true => Ok(()),
            false => Err(Error::new(Kind::Limit, file.at(), "a file larger than the limit")),
        }
    }

    /// Fills `out` with a piece. A block that is nothing but the piece goes straight there.
    fn fill(&mut self, piece: &Piece, until: usize, out: &mut [u8]) -> Result<()> {
        let alone = piece.from == 0 && piece.to == self.archive.layout().content(piece.block);
        if alone && self.held != Some(piece.block) {
            return self.blocks.whole(piece.block, out, until - 1).map(|_| ());
        }
        if self.is_stored(piece.block) && self.archive.source().reach() == 0 {
            return self.blocks.stored(piece.block, piece.from, out);
        }
        out.copy_from_slice(self.hold(piece, until)?);
        Ok(())
    }

    /// A piece, from the whole block, which is decoded unless it is held.
    fn hold(&mut self, piece: &Piece, until: usize) -> Result<&[u8]> {
        let content = self.archive.layout().content(piece.block) as usize;
        if self.held != Some(piece.block) || self.hot.len() < content {
            self.held = None;
            self.blocks.prepare(piece.block, &mut self.hot)?;
            if let Err(error) = self.blocks.whole(piece.block, &mut self.hot, until - 1) {
                self.salvage(piece, error)?;
            }
            self.held = Some(piece.block);
        }
        Ok(&self.hot[piece.from as usize..piece.to as usize])
    }

    /// Decodes a block up to the end of a piece, since damage behind it is not the piece's. Without
    /// a hash to check it, what comes of a damaged block is not to be trusted.
    fn salvage(&mut self, piece: &Piece, error: Error) -> Result<()> {
        if !self.verifies || error.kind != Kind::Corrupt || piece.to as usize >= self.hot.len() {
            return Err(error);
        }
        self.blocks.prepare_prefix(piece.block, &mut self.hot, piece.to)?;
        self.blocks.prefix(piece.block, &mut self.hot).map_err(|_| error)
    }

    /// Fills `out` with a piece, decoding its block no further than there.
    fn fill_part(&mut self, piece: &Piece, out: &mut [u8]) -> Result<()> {
        if self.is_stored(piece.block) {
            return self.blocks.stored(piece.block, piece.from, out);
        }
        let to = piece.to as usize;
        if self.held != Some(piece.block) || self.hot.len() < to {
            self.held = None;
            self.blocks.prepare_prefix(piece.block, &mut self.hot, piece.to)?;
            self.blocks.prefix(piece.block, &mut self.hot)?;
            self.held = Some(piece.block);
        }
        out.copy_from_slice(&self.hot[piece.from as usize..to]);
        Ok(())
    }

    fn is_stored(&self, block: usize) -> bool {
        self.archive.toc().blocks[block].codec == Codec::Copy
    }
}

/// The pieces that bytes `from..to` of a file are of, in order.
fn pieces<'f, S: Source>(
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

//! Reads and decodes blocks. Reads of neighbouring blocks are coalesced.

use core::ops::Range;

use linerate_core::{Error, Kind, Result};
use linerate_io::{ReadAt, read_error};
use linerate_zstd::Format;

use crate::block::decode::{Decoder, Ending};
use crate::block::memory::{grow, no_memory, zeroed};
use crate::format::toc::Codec;
use crate::read::archive::Archive;

/// Reads and decodes blocks of one archive. Each thread has one.
pub(crate) struct BlockReader<'a, S> {
    archive: &'a Archive<S>,
    decoder: Decoder,
    buffer: ReadBuffer,
    sizes: BufferSizes,
    /// The zstd block that [`decode_more`](Self::decode_more) can resume, and the length decoded so
    /// far.
    resumable: Option<(usize, usize)>,
}

/// Memory that a reader keeps from block to block. It does not borrow the archive.
pub(crate) struct ReaderMemory {
    decoder: Decoder,
    buffer: ReadBuffer,
}

/// Sizes of the buffers of one thread, in bytes. Buffers that begin large enough need not grow for
/// larger blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BufferSizes {
    /// Buffer of decoded content.
    pub(crate) content: u64,
    /// Buffer of bytes read from the source.
    pub(crate) compressed: u64,
    /// Buffer of the decompressed content of filtered blocks. It counts towards the memory limit,
    /// but the decoder allocates it when it is needed.
    pub(crate) filtered: u64,
}

impl<'a, S: ReadAt> BlockReader<'a, S> {
    pub(crate) fn new(archive: &'a Archive<S>) -> Result<Self> {
        BlockReader::with_buffer_sizes(archive, BufferSizes::default())
    }

    /// Creates a reader with these initial buffer sizes, each at most
    /// [`Limits::block`](crate::Limits::block).
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] if zstd does not support
    /// [`Limits::window_log`](crate::Limits::window_log).
    pub(crate) fn with_buffer_sizes(archive: &'a Archive<S>, sizes: BufferSizes) -> Result<Self> {
        let decoder = Decoder::new(archive.limits().window_log, Format::Standard)?;
        let max = archive.limits().block;
        let sizes = BufferSizes {
            content: sizes.content.min(max),
            compressed: sizes.compressed.min(max),
            filtered: sizes.filtered.min(max),
        };
        Ok(BlockReader { archive, decoder, buffer: ReadBuffer::default(), sizes, resumable: None })
    }

    /// Creates a reader with the memory of an earlier reader of the same archive.
    pub(crate) fn with_memory(archive: &'a Archive<S>, memory: ReaderMemory) -> Self {
        let ReaderMemory { decoder, buffer } = memory;
        BlockReader { archive, decoder, buffer, sizes: BufferSizes::default(), resumable: None }
    }

    /// Returns the memory of the reader, for a later reader of the same archive.
    pub(crate) fn into_memory(self) -> ReaderMemory {
        ReaderMemory { decoder: self.decoder, buffer: self.buffer }
    }

    /// Decodes all of `block` that files refer to into `out`, which has exactly this length. Blocks
    /// up to and including `until` will be read next, and may be read in the same request.
    pub(crate) fn decode(&mut self, block: usize, out: &mut [u8], until: usize) -> Result<Ending> {
        self.read(block, out, until, true)
    }

    /// Decodes the first `out.len()` bytes of `block`. A filtered block is decoded completely, into
    /// memory of its own.
    pub(crate) fn decode_prefix(&mut self, block: usize, out: &mut [u8]) -> Result<()> {
        if !self.archive.toc().blocks[block].filtered {
            return self.read(block, out, block, false).map(|_| ());
        }
        let mut content = Vec::new();
        grow(&mut content, self.content_len(block)?, self.archive.block_offset(block))?;
        self.decode(block, &mut content, block)?;
        out.copy_from_slice(&content[..out.len()]);
        Ok(())
    }

    /// Decodes the first `out.len()` bytes of `block`, of which `out` already holds `filled`. These
    /// are not decoded again if [`BlockReader::can_resume`] returns true.
    pub(crate) fn decode_more(&mut self, block: usize, out: &mut [u8], filled: usize) -> Result<()> {
        let word = self.archive.toc().blocks[block];
        if !word.is_resumable() {
            return self.decode_prefix(block, out);
        }
        let filled = match self.can_resume(block, filled) {
            true => filled,
            false => {
                self.decoder.begin_steps();
                0
            }
        };
        self.resumable = None;
        let at = self.archive.layout().offset(block);
        let end = at + u64::from(word.compressed);
        let (archive, capacity) = (self.archive, self.sizes.compressed);
        let packed =
            self.buffer.get(archive.source(), at..end, end, capacity, archive.block_offset(block))?;
        self.decoder.step(packed, out, filled).map_err(|e| archive.in_block(block, e))?;
        self.resumable = Some((block, out.len()));
        Ok(())
    }

    /// Bytes decoded so far.
    #[cfg(test)]
    pub(crate) fn decoded(&self) -> u64 {
        self.decoder.decoded
    }

    /// Whether decoding of `block` can resume after its first `filled` bytes.
    pub(crate) fn can_resume(&self, block: usize, filled: usize) -> bool {
        self.resumable == Some((block, filled))
    }

    /// Returns the part of `buffer` for the content of `block` that files refer to. The buffer
    /// grows, but never shrinks, so that bytes left from a longer block need not be zeroed again.
    pub(crate) fn buffer_for<'b>(&self, block: usize, buffer: &'b mut Vec<u8>) -> Result<&'b mut [u8]> {
        let len = self.content_len(block)?;
        if buffer.len() < len {
            *buffer = Vec::new();
            *buffer = zeroed(self.sizes.content, len, self.archive.block_offset(block))?;
        }
        Ok(&mut buffer[..len])
    }

    /// Returns the length of the content of `block` that files refer to.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if the content is larger than the limit or than the memory that can
    /// be addressed.
    pub(crate) fn content_len(&self, block: usize) -> Result<usize> {
        let (len, at) = (self.archive.layout().content(block), self.archive.block_offset(block));
        if len > self.archive.limits().block {
            return Err(Error::new(Kind::Limit, at, "a block larger than the limit"));
        }
        usize::try_from(len).map_err(|_| no_memory(at))
    }

    /// Returns the content of a stored block, if the source has it in memory.
    pub(crate) fn stored_view(&self, block: usize) -> Option<(&'a [u8], Ending)> {
        let (layout, word) = (self.archive.layout(), self.archive.toc().blocks[block]);
        let len = usize::try_from(layout.content(block)).ok().filter(|_| word.codec == Codec::Copy)?;
        let view = self.archive.source().view(layout.offset(block), len)?;
        let ending = if len < word.compressed as usize { Ending::Longer } else { Ending::Clean };
        Some((view, ending))
    }

    /// Reads bytes of a stored block, starting at `from`.
    pub(crate) fn read_stored(&mut self, block: usize, from: u64, out: &mut [u8]) -> Result<()> {
        let at = self.archive.layout().offset(block) + from;
        let error_at = self.archive.block_offset(block) + from;
        self.archive.source().read_at(at, out).map_err(|e| read_error(error_at, &e))
    }

    fn read(&mut self, block: usize, out: &mut [u8], until: usize, all: bool) -> Result<Ending> {
        let archive = self.archive;
        let (layout, blocks) = (archive.layout(), &archive.toc().blocks);
        let (at, word, error_at) = (layout.offset(block), blocks[block], archive.block_offset(block));
        if out.len() as u64 > archive.limits().block {
            // `out` may be the caller's buffer, whose length is not checked before.
            return Err(Error::new(Kind::Limit, error_at, "a block larger than the limit"));
        }
        let source = archive.source();
        let len = u64::from(word.compressed);
        if word.codec == Codec::Copy && source.coalesce_limit() == 0 {
            source.read_at(at, out).map_err(|e| read_error(error_at, &e))?;
            return Ok(if len > out.len() as u64 { Ending::Longer } else { Ending::Clean });
        }
        // Offset up to which one read may go, with the blocks that will be read next.
        let reach = at.saturating_add(source.coalesce_limit());
        let next = block + 1..=until.min(blocks.len() - 1);
        let last = next.take_while(|&i| block_end(archive, i) <= reach).last().unwrap_or(block);
        let (end, capacity) = (block_end(archive, last), self.sizes.compressed);
        let packed = self.buffer.get(source, at..at + len, end, capacity, error_at)?;
        match all {
            true if word.filtered => self.decoder.decode_filtered(word.codec, packed, out),
            true => self.decoder.decode(word.codec, packed, out),
            false => self.decoder.decode_prefix(word.codec, packed, out).map(|()| Ending::Clean),
        }
        .map_err(|e| archive.in_block(block, e))
    }
}

/// Returns the end offset of a block in the source.
pub(crate) fn block_end<S: ReadAt>(archive: &Archive<S>, block: usize) -> u64 {
    archive.layout().offset(block) + u64::from(archive.toc().blocks[block].compressed)
}

/// The last bytes that were read from the archive.
#[derive(Default)]
struct ReadBuffer {
    /// The bytes, of which the first `len` were read, from the offset `start` on.
    bytes: Vec<u8>,
    len: usize,
    start: u64,
}

impl ReadBuffer {
    /// Returns the bytes of `wanted`, from memory if they are there; else reads them together with
    /// the bytes up to `end`. A new buffer has at least `capacity` bytes. `error_at` is the offset
    /// of errors.
    fn get<'b>(
        &'b mut self,
        source: &'b impl ReadAt,
        wanted: Range<u64>,
        end: u64,
        capacity: u64,
        error_at: u64,
    ) -> Result<&'b [u8]> {
        // Blocks are below 2^29 bytes.
        let len = (wanted.end - wanted.start) as usize;
        if let Some(view) = source.view(wanted.start, len) {
            return Ok(view);
        }
        let held = self.start..self.start + self.len as u64;
        if held.start > wanted.start || held.end < wanted.end {
            let len = usize::try_from(end.max(wanted.end) - wanted.start)
                .map_err(|_| Error::new(Kind::Limit, error_at, "more bytes than can be addressed"))?;
            // A failed read leaves the buffer unspecified.
            self.len = 0;
            if self.bytes.len() < len {
                // The old buffer is freed first, so that both are never held at once.
                self.bytes = Vec::new();
                self.bytes = zeroed(capacity, len, error_at)?;
            }
            let read = source.read_at(wanted.start, &mut self.bytes[..len]);
            read.map_err(|error| read_error(error_at, &error))?;
            (self.start, self.len) = (wanted.start, len);
        }
        let from = (wanted.start - self.start) as usize;
        Ok(&self.bytes[from..from + len])
    }
}

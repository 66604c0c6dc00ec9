//! Reading blocks: their bytes from the source, coalesced, and their content from those.

use core::ops::Range;

use linerate_core::{Error, Kind, Result};

use crate::ReadAt;
use crate::archive::Archive;
use crate::decode::{Decoder, Ending};
use crate::toc::Codec;
use linerate_io::read_error;

/// What one thread needs to read blocks.
pub(crate) struct BlockReader<'a, S> {
    archive: &'a Archive<S>,
    decoder: Decoder,
    packed: Packed,
    room: Room,
    /// The zstd block that is decoded in steps, and how many bytes of it are.
    begun: Option<(usize, usize)>,
}

/// Bytes that buffers are made for, so that they are not made anew for larger blocks: of content, and
/// of what is read for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    pub(crate) content: u64,
    pub(crate) packed: u64,
}

impl<'a, S: ReadAt> BlockReader<'a, S> {
    pub(crate) fn new(archive: &'a Archive<S>) -> Result<Self> {
        BlockReader::with_room(archive, Room::default())
    }

    /// With buffers of that size from the first on, as far as blocks may be large.
    pub(crate) fn with_room(archive: &'a Archive<S>, room: Room) -> Result<Self> {
        let decoder = Decoder::new(archive.limits().window_log)?;
        let most = archive.limits().block;
        let room = Room { content: room.content.min(most), packed: room.packed.min(most) };
        Ok(BlockReader { archive, decoder, packed: Packed::default(), room, begun: None })
    }

    /// Fills `out` with all content that files need of `block`. The blocks up to `until` will be
    /// asked for next.
    pub(crate) fn whole(&mut self, block: usize, out: &mut [u8], until: usize) -> Result<Ending> {
        self.read(block, out, until, true)
    }

    /// Fills `out` with the first bytes of the content of `block`.
    pub(crate) fn prefix(&mut self, block: usize, out: &mut [u8]) -> Result<()> {
        self.read(block, out, block, false).map(|_| ())
    }

    /// Fills `out`, of which the first `filled` bytes are decoded, with the first bytes of the content
    /// of `block`. What is decoded is not decoded again, if [`BlockReader::can_go_on`].
    pub(crate) fn go_on(&mut self, block: usize, out: &mut [u8], filled: usize) -> Result<()> {
        let word = self.archive.toc().blocks[block];
        if word.codec != Codec::Zstd {
            return self.prefix(block, out);
        }
        let filled = match self.can_go_on(block, filled) {
            true => filled,
            false => {
                self.decoder.begin_steps()?;
                0
            }
        };
        self.begun = None;
        let at = self.archive.layout().offset(block);
        let end = at + u64::from(word.compressed);
        let packed = self.packed.get(self.archive.source(), at..end, end, self.room.packed)?;
        let last = out.len() as u64 == self.archive.layout().content(block);
        self.decoder.step(packed, out, filled, last).map_err(|e| e.shifted(at))?;
        self.begun = Some((block, out.len()));
        Ok(())
    }

    /// Bytes that were decoded.
    #[cfg(test)]
    pub(crate) fn decoded(&self) -> u64 {
        self.decoder.decoded
    }

    /// Whether decoding of `block` can go on behind its first `filled` bytes.
    pub(crate) fn can_go_on(&self, block: usize, filled: usize) -> bool {
        self.begun == Some((block, filled))
    }

    /// Makes room in `hot` for all content that files need of `block`.
    pub(crate) fn prepare(&self, block: usize, hot: &mut Vec<u8>) -> Result<()> {
        let len = self.content(block)?;
        grow_with(hot, len, self.room.content, self.archive.layout().offset(block))
    }

    /// How many bytes of the content of `block` files need, which is within the limit.
    pub(crate) fn content(&self, block: usize) -> Result<usize> {
        let (len, at) = (self.archive.layout().content(block), self.archive.layout().offset(block));
        if len > self.archive.limits().block {
            return Err(Error::new(Kind::Limit, at, "a block larger than the limit"));
        }
        usize::try_from(len).map_err(|_| no_memory(at))
    }

    /// All content that files need of a stored block, where it is in memory already.
    pub(crate) fn stored_view(&self, block: usize) -> Option<(&'a [u8], Ending)> {
        let (layout, word) = (self.archive.layout(), self.archive.toc().blocks[block]);
        let len = usize::try_from(layout.content(block)).ok().filter(|_| word.codec == Codec::Copy)?;
        let view = self.archive.source().view(layout.offset(block), len)?;
        let ending = if len < word.compressed as usize { Ending::Longer } else { Ending::Clean };
        Some((view, ending))
    }

    /// Fills `out` with bytes of a stored block.
    pub(crate) fn stored(&mut self, block: usize, from: u64, out: &mut [u8]) -> Result<()> {
        let at = self.archive.layout().offset(block) + from;
        self.archive.source().read_at(at, out).map_err(|e| read_error(at, &e))
    }

    fn read(&mut self, block: usize, out: &mut [u8], until: usize, whole: bool) -> Result<Ending> {
        let archive = self.archive;
        let (layout, blocks) = (archive.layout(), &archive.toc().blocks);
        let (at, word) = (layout.offset(block), blocks[block]);
        if out.len() as u64 > archive.limits().block {
            // Where the caller's own buffer is filled.
            return Err(Error::new(Kind::Limit, at, "a block larger than the limit"));
        }
        let source = archive.source();
        let len = u64::from(word.compressed);
        if word.codec == Codec::Copy && source.coalesce_limit() == 0 {
            source.read_at(at, out).map_err(|e| read_error(at, &e))?;
            return Ok(if len > out.len() as u64 { Ending::Longer } else { Ending::Clean });
        }
        // As many of the next blocks as one read may span.
        let reach = at.saturating_add(source.coalesce_limit());
        let next = block + 1..=until.min(blocks.len() - 1);
        let last = next.take_while(|&i| ends(archive, i) <= reach).last().unwrap_or(block);
        let packed = self.packed.get(source, at..at + len, ends(archive, last), self.room.packed)?;
        match whole {
            true => self.decoder.whole(word.codec, packed, out),
            false => self.decoder.prefix(word.codec, packed, out).map(|()| Ending::Clean),
        }
        .map_err(|e| e.shifted(at))
    }
}

/// Where the bytes of a block end in the archive.
pub(crate) fn ends<S: ReadAt>(archive: &Archive<S>, block: usize) -> u64 {
    archive.layout().offset(block) + u64::from(archive.toc().blocks[block].compressed)
}

/// Bytes of the archive that were read last.
#[derive(Default)]
struct Packed {
    bytes: Vec<u8>,
    start: u64,
}

impl Packed {
    /// The bytes of `wanted`, from memory where they are there, else read together with what
    /// follows up to `end`. A new buffer has at least that room.
    fn get<'b>(
        &'b mut self,
        source: &'b impl ReadAt,
        wanted: Range<u64>,
        end: u64,
        room: u64,
    ) -> Result<&'b [u8]> {
        // Blocks are below 2^29 bytes.
        let len = (wanted.end - wanted.start) as usize;
        if let Some(view) = source.view(wanted.start, len) {
            return Ok(view);
        }
        let held = self.start..self.start + self.bytes.len() as u64;
        if held.start > wanted.start || held.end < wanted.end {
            let len = usize::try_from(end.max(wanted.end) - wanted.start)
                .map_err(|_| Error::new(Kind::Limit, wanted.start, "more bytes than can be addressed"))?;
            grow_with(&mut self.bytes, len, room, wanted.start)?;
            self.start = wanted.start;
            if let Err(error) = source.read_at(wanted.start, &mut self.bytes) {
                // What a failed read leaves is not the archive's.
                self.bytes.clear();
                return Err(read_error(wanted.start, &error));
            }
        }
        let from = (wanted.start - self.start) as usize;
        Ok(&self.bytes[from..from + len])
    }
}

/// Makes `buffer` of that length, with whatever in it.
pub(crate) fn grow(buffer: &mut Vec<u8>, len: usize, at: u64) -> Result<()> {
    grow_with(buffer, len, 0, at)
}

/// As [`grow`], with that room at least where memory is taken. Fresh memory comes zeroed from the
/// system, which costs nothing until it is touched.
fn grow_with(buffer: &mut Vec<u8>, len: usize, room: u64, at: u64) -> Result<()> {
    if buffer.capacity() < len {
        let room = usize::try_from(room).map_or(len, |room| room.max(len));
        // Two at once are too many.
        *buffer = Vec::new();
        // Asked for first in the way that can fail.
        Vec::<u8>::new().try_reserve_exact(room).map_err(|_| no_memory(at))?;
        *buffer = vec![0; room];
    }
    buffer.resize(len, 0);
    Ok(())
}

pub(crate) const fn no_memory(at: u64) -> Error {
    Error::new(Kind::Limit, at, "not enough memory")
}

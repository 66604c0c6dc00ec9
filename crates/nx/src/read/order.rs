//! The order of entries that other programs rely on when they merge or repack an archive.
//!
//! The production library copies a solid block as it is and counts the offsets of its files anew, in the order of the
//! table. That gives the right bytes only if the entries of a block come in the order of their offsets and leave no byte
//! of it out. Its extraction also fails now and then where an empty file is the first of its folder.

use linerate_io::ReadAt;
use linerate_zstd::{Format, FrameHeader};

use crate::format::layout::Layout;
use crate::format::toc::{Codec, Entry};
use crate::read::archive::{Archive, File};

/// Longest header of a zstd frame with its magic number, in bytes.
const MAX_FRAME_HEADER: usize = 18;

/// Sorts entries by block, offset and path; those of empty files, which are in no block, come last.
pub(crate) fn sort(entries: &mut [Entry]) {
    entries.sort_by_key(rank);
}

fn rank(entry: &Entry) -> (bool, u32, u32, u32) {
    match entry.size {
        0 => (true, 0, 0, entry.path),
        _ => (false, entry.first_block, entry.block_offset, entry.path),
    }
}

/// Defects of an archive's table that make other programs damage it, in silence, when they merge or repack it. Every writer
/// of this crate avoids them; archives of its first versions, and those of others, may have them until they are written again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disorder {
    /// Number of files that come right after one with a larger offset in the same block.
    pub misplaced: usize,
    /// Number of solid blocks with bytes before or between their files that belong to no file, or to several in part.
    pub holes: usize,
    /// Number of empty files that come before one with content.
    pub early_empty: usize,
}

impl Disorder {
    /// Whether other programs repack the archive without damage. Empty files that come early do not matter for that.
    pub fn is_none(&self) -> bool {
        self.misplaced == 0 && self.holes == 0
    }
}

impl<S: ReadAt> Archive<S> {
    /// Counts the defects that make other programs damage the archive when they merge or repack it. Only the tables are looked at.
    pub fn disorder(&self) -> Disorder {
        let entries = &self.toc().entries;
        let with_content = entries.iter().rposition(|entry| entry.size > 0).unwrap_or(0);
        let mut found = Disorder {
            early_empty: entries[..with_content].iter().filter(|entry| entry.size == 0).count(),
            ..Disorder::default()
        };
        let slices = Slices::of(self.files());
        found.holes = slices.filled(self.layout()).iter().filter(|filled| !**filled).count();
        let mut in_order = slices.0;
        in_order.sort_unstable_by_key(|slice| (slice.block, slice.file));
        let follows = |pair: &&[Slice]| pair[0].block == pair[1].block;
        let pairs = in_order.windows(2).filter(follows);
        found.misplaced = pairs.filter(|pair| pair[1].from < pair[0].from).count();
        found
    }

    /// For each block, whether other archives may take it over for these files alone: they fill it from its first byte to
    /// its last, side by side.
    pub(crate) fn whole_blocks(&self, files: &[File<'_>]) -> Vec<bool> {
        let slices = Slices::of(files.iter().copied());
        let mut whole = slices.filled(self.layout());
        // A source whose reads are expensive is not asked for what follows the last file: it harms nobody.
        if self.source().coalesce_limit() == 0 {
            for block in slices.by_block().map(|slices| slices[0].block as usize) {
                whole[block] &= !self.has_tail(block);
            }
        }
        whole
    }

    /// Whether a block is known to hold more bytes than its files need. For LZ4 only decoding would tell.
    fn has_tail(&self, block: usize) -> bool {
        let (word, content) = (self.toc().blocks[block], self.layout().content(block));
        match word.codec {
            Codec::Copy => u64::from(word.compressed) > content,
            Codec::Zstd if !word.filtered => {
                let mut start = vec![0; MAX_FRAME_HEADER.min(word.compressed as usize)];
                // What cannot be read is an error where the block is.
                let read = self.source().read_at(self.layout().offset(block), &mut start);
                let header = read.ok().and_then(|()| FrameHeader::parse(&start, Format::Standard).ok());
                header.and_then(|header| header.content_size).is_some_and(|size| size > content)
            }
            Codec::Zstd | Codec::Lz4 => false,
        }
    }
}

/// The part of a block that is one file of at most a chunk, or several equal ones.
#[derive(Clone, Copy)]
struct Slice {
    block: u32,
    from: u64,
    to: u64,
    /// The first of its files.
    file: usize,
}

/// The slices of blocks, each once, by block and position.
struct Slices(Vec<Slice>);

impl Slices {
    fn of<'f>(files: impl Iterator<Item = File<'f>>) -> Slices {
        let small = files.filter(|file| file.size() > 0 && !file.is_chunked());
        let slice = |file: File<'_>| {
            let Entry { first_block: block, block_offset, size, .. } = *file.entry();
            let from = u64::from(block_offset);
            Slice { block, from, to: from + size, file: file.index() }
        };
        let mut slices: Vec<Slice> = small.map(slice).collect();
        slices.sort_unstable_by_key(|slice| (slice.block, slice.from, slice.to, slice.file));
        slices.dedup_by_key(|slice| (slice.block, slice.from, slice.to));
        Slices(slices)
    }

    fn by_block(&self) -> impl Iterator<Item = &[Slice]> {
        self.0.chunk_by(|a, b| a.block == b.block)
    }

    /// For each block, whether its slices follow each other from its first byte to the end of its content without a gap
    /// and without overlap. True for blocks that have none.
    fn filled(&self, layout: &Layout) -> Vec<bool> {
        let mut filled = vec![true; layout.len()];
        for slices in self.by_block() {
            let block = slices[0].block as usize;
            let end = slices.iter().try_fold(0, |end, slice| (slice.from == end).then_some(slice.to));
            filled[block] = end == Some(layout.content(block));
        }
        filled
    }
}

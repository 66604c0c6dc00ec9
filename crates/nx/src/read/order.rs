//! The order of entries that other programs rely on when they merge or repack an archive.
//!
//! The Nx library copies a solid block unchanged and computes the offsets of its files again, in
//! the order of the table. The offsets are right only if the entries of a block are in the order of
//! their offsets and cover every byte of it. The library's extraction also fails occasionally if an
//! empty file is the first file of its folder.

use linerate_io::ReadAt;
use linerate_zstd::{Format, FrameHeader};

use crate::format::layout::Layout;
use crate::format::toc::{Codec, Entry};
use crate::read::archive::{Archive, File};

/// Longest header of a zstd frame with its magic number, in bytes.
const MAX_FRAME_HEADER: usize = 18;

/// Sorts entries by block, offset and path. Entries of empty files, which are in no block, come
/// last.
pub(crate) fn sort(entries: &mut [Entry]) {
    entries.sort_by_key(rank);
}

fn rank(entry: &Entry) -> (bool, u32, u32, u32) {
    match entry.size {
        0 => (true, 0, 0, entry.path),
        _ => (false, entry.first_block, entry.block_offset, entry.path),
    }
}

/// Defects of an archive's table. Because of the first two, other programs silently damage the
/// archive when they merge or repack it. This crate writes no such archives. Archives of its first
/// versions and of other programs may have the defects until they are written again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disorder {
    /// Number of files whose offset is smaller than that of the file before, among the files of the
    /// same block. Of files that are the same bytes of a block, only the first counts.
    pub misplaced: usize,
    /// Number of solid blocks whose files leave gaps before or between them, or overlap in part.
    pub holes: usize,
    /// Number of empty files that come before a file with content. Extraction by the Nx library may
    /// fail because of them.
    pub early_empty: usize,
}

impl Disorder {
    /// Whether the order of the table lets other programs merge or repack the archive without
    /// damage. Empty files do no harm then, wherever they are.
    pub fn is_none(&self) -> bool {
        self.misplaced == 0 && self.holes == 0
    }
}

impl<S: ReadAt> Archive<S> {
    /// Counts the defects of the table that harm other programs. Looks only at the tables.
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

    /// For each block, returns whether another archive that has only these files may copy it: the
    /// files cover it from its first byte to its last, without gap or overlap. True for blocks that
    /// hold no file of at most a chunk.
    pub(crate) fn whole_blocks(&self, files: &[File<'_>]) -> Vec<bool> {
        let slices = Slices::of(files.iter().copied());
        let mut whole = slices.filled(self.layout());
        // If reads are expensive, bytes after the last file are not searched for: they do no harm.
        if self.source().coalesce_limit() == 0 {
            for block in slices.by_block().map(|slices| slices[0].block as usize) {
                whole[block] &= !self.has_tail(block);
            }
        }
        whole
    }

    /// Whether a block is known to hold more bytes than its files need. Not known for LZ4, for
    /// filtered blocks and for zstd frames that do not state their size, where only decoding could
    /// tell.
    fn has_tail(&self, block: usize) -> bool {
        let (word, content) = (self.toc().blocks[block], self.layout().content(block));
        match word.codec {
            Codec::Copy => u64::from(word.compressed) > content,
            Codec::Zstd if !word.filtered => {
                let mut start = vec![0; MAX_FRAME_HEADER.min(word.compressed as usize)];
                // A read error here is ignored: it is reported when the block itself is read.
                let read = self.source().read_at(self.layout().offset(block), &mut start);
                let header = read.ok().and_then(|()| FrameHeader::parse(&start, Format::Standard).ok());
                header.and_then(|header| header.content_size).is_some_and(|size| size > content)
            }
            Codec::Zstd | Codec::Lz4 => false,
        }
    }
}

/// The part of a block that holds one file of at most a chunk, or several equal files.
#[derive(Clone, Copy)]
struct Slice {
    block: u32,
    from: u64,
    to: u64,
    /// The first of the files in it.
    file: usize,
}

/// The distinct slices of blocks, sorted by block and position.
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

    /// For each block, returns whether its slices cover it from its first byte to the end of its
    /// content without gap or overlap. True for blocks without slices.
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

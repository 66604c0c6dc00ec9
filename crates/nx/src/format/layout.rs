//! Computes offsets and content lengths of the blocks, which the archive does not store.
//!
//! Blocks follow each other from the end of the header, each aligned to a page. A file no larger
//! than a chunk is a slice of one block; a larger file has one block per chunk, in sequence. The
//! content length of a block is therefore the largest end offset of a file in it.

use linerate_core::{Error, Kind, Result};

use crate::format::header::{HEADER, Header, PAGE};
use crate::format::toc::{Codec, Entry, Toc};

/// The offset and content length of every block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    offsets: Vec<u64>,
    contents: Vec<u64>,
    end: u64,
}

impl Layout {
    /// Computes the layout and checks every entry against the blocks. `len` is the length of the
    /// archive in bytes. Takes linear time in the size of the tables, however many files share
    /// blocks.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Truncated`], at offset `len`, if the archive ends before its header or a
    /// block does; [`Kind::Corrupt`], at the offset of the entry, if a file reaches past the last
    /// block, or has several blocks and an offset; [`Kind::Corrupt`], at the offset of the block's
    /// word, if its files need more of a stored or empty block than it holds.
    pub fn new(header: &Header, toc: &Toc, len: u64) -> Result<Layout> {
        if header.bytes() > len {
            return Err(Error::new(Kind::Truncated, len, "the archive ends within its header"));
        }
        let (offsets, end) = offsets(header, toc, len)?;
        let contents = contents(header, toc)?;
        for (i, (block, content)) in toc.blocks.iter().zip(&contents).enumerate() {
            let held = match block.codec {
                Codec::Copy => u64::from(block.compressed),
                // The decompressed size of a compressed block is not known.
                _ if block.compressed > 0 => u64::MAX,
                _ => 0,
            };
            if *content > held {
                let at = header.blocks_offset() + 4 * i as u64;
                return Err(Error::new(Kind::Corrupt, at, "a block smaller than its files"));
            }
        }
        Ok(Layout { offsets, contents, end })
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The offset of a block in the archive.
    ///
    /// # Panics
    ///
    /// Panics if there is no such block.
    pub fn offset(&self, block: usize) -> u64 {
        self.offsets[block]
    }

    /// The number of bytes of the decompressed block that files refer to, or 0 if none does. The
    /// block may hold more bytes.
    ///
    /// # Panics
    ///
    /// Panics if there is no such block.
    pub fn content(&self, block: usize) -> u64 {
        self.contents[block]
    }

    /// The largest of [`Layout::content`].
    pub fn largest_content(&self) -> u64 {
        self.contents.iter().copied().max().unwrap_or(0)
    }

    /// The end offset of the last block, without its padding; of the header if there is no block.
    /// If the last blocks are empty, the archive may end before it.
    pub fn end(&self) -> u64 {
        self.end
    }
}

fn offsets(header: &Header, toc: &Toc, len: u64) -> Result<(Vec<u64>, u64)> {
    let mut next = header.bytes();
    let mut end = next;
    let mut offsets = Vec::with_capacity(toc.blocks.len());
    for block in &toc.blocks {
        offsets.push(next);
        // At most 2^18 blocks of 2^29 bytes each: no sum comes near 2^64.
        let ends = next + u64::from(block.compressed);
        if ends > len && block.compressed > 0 {
            return Err(Error::new(Kind::Truncated, len, "the archive ends within its blocks"));
        }
        end = end.max(ends);
        next = ends.next_multiple_of(PAGE);
    }
    Ok((offsets, end))
}

/// Returns how far files reach into each block. A difference array counts runs of whole chunks, so
/// that a million files over the same blocks take linear time.
fn contents(header: &Header, toc: &Toc) -> Result<Vec<u64>> {
    let chunk = header.chunk.bytes();
    let mut contents = vec![0u64; toc.blocks.len()];
    let mut runs = vec![0i64; toc.blocks.len() + 1];
    for (i, entry) in toc.entries.iter().enumerate().filter(|(_, entry)| entry.size > 0) {
        let blocks = blocks_of(entry, header, i)?;
        let (Some(last), Some(_)) = (blocks.end.checked_sub(1), contents.get(blocks.end - 1)) else {
            return Err(corrupt(header, i, "a file that reaches past the last block"));
        };
        runs[blocks.start] += 1;
        runs[last] -= 1;
        let reach = match entry.size % chunk {
            0 => chunk,
            rest => rest,
        };
        contents[last] = contents[last].max(u64::from(entry.block_offset) + reach);
    }
    let mut open = 0;
    for (content, change) in contents.iter_mut().zip(runs) {
        open += change;
        if open > 0 {
            *content = (*content).max(chunk);
        }
    }
    Ok(contents)
}

/// Returns the blocks of a non-empty file. Some of them may not exist.
fn blocks_of(entry: &Entry, header: &Header, i: usize) -> Result<core::ops::Range<usize>> {
    let count = header.chunk.blocks(entry.size);
    if count > 1 && entry.block_offset != 0 {
        return Err(corrupt(header, i, "a file of several blocks that does not begin at the first of them"));
    }
    let first = entry.first_block as usize;
    let end = usize::try_from(count).ok().and_then(|count| first.checked_add(count));
    Ok(first..end.ok_or(corrupt(header, i, "a file that reaches past the last block"))?)
}

fn corrupt(header: &Header, entry: usize, what: &'static str) -> Error {
    let at = HEADER + entry * header.form.entry_bytes();
    Error::new(Kind::Corrupt, at as u64, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::header::{ChunkSize, MAX_BLOCKS, TocForm};
    use crate::format::toc::Block;

    fn file(size: u64, first_block: u32, block_offset: u32) -> Entry {
        Entry { hash: 0, size, path: 0, first_block, block_offset }
    }

    fn blocks(sizes: &[u32]) -> Vec<Block> {
        sizes.iter().map(|&compressed| Block { compressed, codec: Codec::Zstd, filtered: false }).collect()
    }

    /// Computes the layout with chunks of 512 bytes, in an archive of sufficient length.
    fn layout(entries: Vec<Entry>, blocks: Vec<Block>) -> Result<Layout> {
        let toc = Toc { entries, blocks };
        let chunk = ChunkSize::from_bytes(512).unwrap();
        let header = Header::new(chunk, TocForm::Long, 0, toc.blocks.len(), toc.entries.len()).unwrap();
        Layout::new(&header, &toc, u64::MAX)
    }

    #[test]
    fn blocks_are_aligned_to_pages_and_empty_blocks_take_none() {
        let found = layout(vec![], blocks(&[1, 4096, 0, 4097, 7])).unwrap();
        let pages: Vec<u64> = (0..5).map(|i| found.offset(i) / PAGE).collect();
        assert_eq!(pages, [1, 2, 3, 3, 5]);
        assert_eq!(found.end(), 5 * PAGE + 7);
    }

    #[test]
    fn content_length_is_the_furthest_end_of_a_file() {
        let files = vec![file(10, 0, 5), file(3, 0, 100), file(512 * 2 + 1, 1, 0), file(512, 4, 0)];
        let found = layout(files, blocks(&[9; 6])).unwrap();
        let contents: Vec<u64> = (0..6).map(|i| found.content(i)).collect();
        assert_eq!(contents, [103, 512, 512, 1, 512, 0]);
        assert_eq!(found.largest_content(), 512);
    }

    #[test]
    fn empty_file_may_refer_to_any_block() {
        assert!(layout(vec![file(0, MAX_BLOCKS, 77)], vec![]).is_ok());
    }

    #[test]
    fn file_past_the_last_block_is_an_error_at_its_entry() {
        for bad in [file(1, 2, 0), file(513, 1, 0), file(u64::MAX, 0, 0), file(1, MAX_BLOCKS, 0)] {
            let error = layout(vec![file(1, 0, 0), bad], blocks(&[9, 9])).unwrap_err();
            assert_eq!((error.kind, error.offset), (Kind::Corrupt, 40), "{bad:?}");
        }
        let error = layout(vec![file(513, 0, 1)], blocks(&[9, 9])).unwrap_err();
        assert_eq!((error.kind, error.offset), (Kind::Corrupt, 16));
    }

    #[test]
    fn stored_or_empty_block_smaller_than_its_files_is_an_error() {
        let stored = |compressed| vec![Block { compressed, codec: Codec::Copy, filtered: false }];
        assert!(layout(vec![file(10, 0, 5)], stored(15)).is_ok());
        assert_eq!(layout(vec![file(10, 0, 6)], stored(15)).unwrap_err().kind, Kind::Corrupt);
        assert_eq!(layout(vec![file(1, 0, 0)], blocks(&[0])).unwrap_err().kind, Kind::Corrupt);
    }

    #[test]
    fn truncated_archive_is_an_error() {
        let toc = Toc { entries: vec![], blocks: blocks(&[100, 100]) };
        let chunk = ChunkSize::from_bytes(512).unwrap();
        let header = Header::new(chunk, TocForm::Short, 0, 2, 0).unwrap();
        let whole = 2 * PAGE + 100;
        assert!(Layout::new(&header, &toc, whole).is_ok(), "the last block needs no padding");
        for len in [0, PAGE - 1, PAGE, PAGE + 99, 2 * PAGE, whole - 1] {
            assert_eq!(Layout::new(&header, &toc, len).unwrap_err().kind, Kind::Truncated, "{len}");
        }
    }

    #[test]
    fn million_files_over_the_same_blocks_take_linear_time() {
        let count = MAX_BLOCKS as usize;
        let files = vec![file(512 * count as u64, 0, 0); 1 << 20];
        let toc = Toc { entries: files, blocks: blocks(&vec![1; count]) };
        let header = Header {
            pages: 1,
            files: (1 << 20) - 1,
            ..Header::new(ChunkSize::from_bytes(512).unwrap(), TocForm::Long, 0, count, 0).unwrap()
        };
        assert_eq!(Layout::new(&header, &toc, u64::MAX).unwrap().content(count - 1), 512);
    }
}

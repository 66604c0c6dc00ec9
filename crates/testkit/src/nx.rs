//! Checks, without code of `linerate-nx`, that other programs can merge and repack an Nx archive
//! without damage.
//!
//! When the original library repacks an archive, it copies a solid block unchanged, and computes
//! the offsets of the block's files again from their sizes, in the order of the table's entries. So
//! the entries must be in the order of blocks and, within a block, of offsets, and every byte of a
//! solid block must belong to an entry. Several entries may have the same bytes of a block; then
//! the first one counts. Files of 0 bytes must come last, since that library's extraction sometimes
//! stops at an empty file that is the first of its folder.

use std::collections::BTreeMap;

const PAGE: usize = 4096;

/// Returns a phrase about each entry that breaks the order and, unless the archive has filters,
/// about each stored or zstd block with bytes that belong to no entry. Blocks without an entry of
/// at most a chunk are not examined.
///
/// # Panics
/// If `archive` is not a valid Nx archive.
pub fn disorder(archive: &[u8]) -> Vec<String> {
    let u32_at = |at: usize| u32::from_le_bytes(archive[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(archive[at..at + 8].try_into().unwrap());
    assert_eq!(&archive[..4], b"NXUS");
    let (word, toc) = (u32_at(4), u64_at(8));
    let filtered = word >> 25 != 1;
    let (chunk, pages) = (512u64 << (word >> 20 & 31), (word >> 4 & 0xffff) as usize);
    let (files, blocks) = ((toc & 0xf_ffff) as usize, (toc >> 20 & 0x3_ffff) as usize);
    let width = if toc >> 62 == 0 { 20 } else { 24 };
    let mut found = Vec::new();
    let (mut empty, mut slices) = (None, BTreeMap::<u64, Vec<(u64, u64)>>::new());
    let mut last_block = 0;
    for i in 0..files {
        let at = 16 + i * width;
        let size = if width == 20 { u64::from(u32_at(at + 8)) } else { u64_at(at + 8) };
        let place = u64_at(at + width - 8);
        let (block, offset) = (place & 0x3_ffff, place >> 38);
        if size == 0 {
            empty.get_or_insert(i);
            continue;
        }
        if let Some(empty) = empty {
            found.push(format!("entry {i} has content and comes after the empty entry {empty}"));
        }
        if block < last_block {
            found.push(format!("entry {i} of block {block} comes after one of block {last_block}"));
        }
        last_block = block;
        let of_block = slices.entry(block).or_default();
        if size <= chunk && !of_block.contains(&(offset, size)) {
            of_block.push((offset, size));
        }
    }
    let mut block_at = pages * PAGE;
    for block in 0..blocks {
        let word = u32_at(16 + files * width + 4 * block);
        let (len, codec) = ((word >> 3) as usize, word & 7);
        let bytes = &archive[block_at..block_at + len];
        block_at += len.next_multiple_of(PAGE);
        let Some(slices) = slices.get(&(block as u64)).filter(|slices| !slices.is_empty()) else { continue };
        // The offsets that another program computes.
        let mut end = 0;
        for &(offset, size) in slices {
            if offset != end {
                found.push(format!("block {block}: a file at {offset} would be found at {end}"));
            }
            end += size;
        }
        let content = match codec {
            _ if filtered => None,
            0 => Some(len as u64),
            1 => zstd_safe::get_frame_content_size(bytes).expect("a frame"),
            _ => None,
        };
        if content.is_some_and(|content| content != end) {
            found.push(format!("block {block}: files take {end} of its {content:?} bytes"));
        }
    }
    found
}

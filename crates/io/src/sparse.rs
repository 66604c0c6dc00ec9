//! Writes bytes to a new file with long runs of zeros left as holes.

use std::fs::File;
use std::io;
use std::ops::Range;

use crate::folder::write_all_at;

/// A hole begins and ends at a multiple of this size in the file. It is the page size of memory on
/// most systems, and the block size of most file systems.
const PAGE: usize = 4096;

/// Length of the shortest hole, in bytes. The write call for the bytes after a shorter hole would
/// cost more than the hole saves.
const MIN_HOLE: usize = 4 * PAGE;

/// Writes `bytes` at `offset` of a file that has no content there yet, and skips runs of four or
/// more whole pages of the file (4 KiB each) that are zeros. Returns whether the bytes end with a
/// skipped run. If so, the file may be shorter than it should be, and the caller must set its
/// length.
///
/// # Errors
///
/// Returns the errors of the system. Parts may have been written.
pub fn write_sparse_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<bool> {
    let mut done = 0;
    while let Some(hole) = next_hole(bytes, offset, done) {
        write_part(file, bytes, offset, done..hole.start)?;
        done = hole.end;
    }
    write_part(file, bytes, offset, done..bytes.len())?;
    Ok(done == bytes.len() && done > 0)
}

fn write_part(file: &File, bytes: &[u8], offset: u64, part: Range<usize>) -> io::Result<()> {
    match part.is_empty() {
        true => Ok(()),
        false => write_all_at(file, &bytes[part.clone()], offset + part.start as u64),
    }
}

/// Finds the first run of whole zero pages of the file in `bytes` from index `from` on that has at
/// least [`MIN_HOLE`] bytes. `offset` is the offset of `bytes` in the file.
fn next_hole(bytes: &[u8], offset: u64, from: usize) -> Option<Range<usize>> {
    let first = from + (offset + from as u64).wrapping_neg() as usize % PAGE;
    let pages = bytes.get(first..)?.as_chunks().0;
    let mut at = 0;
    loop {
        at += pages[at..].iter().position(is_zero)?;
        let count = pages[at..].iter().take_while(|page| is_zero(page)).count();
        let start = first + at * PAGE;
        if count * PAGE >= MIN_HOLE {
            return Some(start..start + count * PAGE);
        }
        at += count;
    }
}

fn is_zero(page: &[u8; PAGE]) -> bool {
    page == &[0; PAGE]
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    /// Makes `len` bytes that are not zero, except in these ranges.
    fn with_zeros(len: usize, zeros: &[(usize, usize)]) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8 + 1).collect();
        zeros.iter().for_each(|&(start, end)| bytes[start..end].fill(0));
        bytes
    }

    fn holes(bytes: &[u8], offset: u64) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        while let Some(hole) = next_hole(bytes, offset, found.last().map_or(0, |&(_, end)| end)) {
            found.push((hole.start, hole.end));
        }
        found
    }

    #[test]
    fn holes_are_whole_pages_of_the_file_and_at_least_four() {
        let len = 40 * PAGE + 100;
        let bytes = with_zeros(len, &[(PAGE - 1, 5 * PAGE + 1), (8 * PAGE, 11 * PAGE), (20 * PAGE, len)]);
        assert_eq!(holes(&bytes, 0), [(PAGE, 5 * PAGE), (20 * PAGE, 40 * PAGE)]);
        // A page of the file begins 512 bytes before a page of the bytes.
        let shifted = holes(&bytes, 512);
        assert_eq!(shifted, [(21 * PAGE - 512, 40 * PAGE - 512)]);
        assert_eq!(holes(&with_zeros(3 * PAGE, &[(0, 3 * PAGE)]), 0), []);
        assert_eq!(holes(&[0; 100], 4000), []);
        assert_eq!(holes(&[], 7), []);
    }

    #[test]
    fn written_bytes_come_back_and_a_hole_at_the_end_is_reported() {
        let len = 30 * PAGE;
        for (zeros, ends_in_hole) in [
            (vec![], false),
            (vec![(0, len)], true),
            (vec![(0, 10 * PAGE)], false),
            (vec![(5 * PAGE, 9 * PAGE), (25 * PAGE, len)], true),
            (vec![(25 * PAGE, len - 1)], false),
        ] {
            for offset in [0, PAGE as u64, 512] {
                let bytes = with_zeros(len, &zeros);
                let mut file = tempfile::tempfile().unwrap();
                let ended = write_sparse_at(&file, &bytes, offset).unwrap();
                assert_eq!(ended, ends_in_hole && offset != 512, "{zeros:?} at {offset}");
                file.set_len(offset + len as u64).unwrap();
                let mut found = Vec::new();
                // It is up to the system where the writes leave the position.
                file.rewind().unwrap();
                file.read_to_end(&mut found).unwrap();
                assert!(found[..offset as usize].iter().all(|&byte| byte == 0));
                assert!(found[offset as usize..] == bytes, "{zeros:?} at {offset}");
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn holes_take_no_space_if_the_file_system_has_them() {
        use std::os::unix::fs::MetadataExt;
        let allocated = |bytes: &[u8]| {
            let file = tempfile::tempfile().unwrap();
            write_sparse_at(&file, bytes, 0).unwrap();
            file.sync_all().unwrap();
            file.metadata().unwrap().blocks()
        };
        let full = allocated(&with_zeros(1 << 20, &[]));
        let sparse = allocated(&with_zeros(1 << 20, &[(4096, 1 << 20)]));
        assert!(sparse < full / 2 || full == 0, "{sparse} of {full}");
    }
}

//! Which small files are alike, and blocks of such files.
//!
//! A file's marks are hashes of 16-byte windows, one in 64 by its value, so that equal text leaves equal
//! marks in any file. A block begins with the first file that is left and takes the one that shares most
//! of its marks with the block, as long as one shares any; then the next of that extension that fits,
//! and of the next extension only when none is left: room that is lost costs less than files that are
//! torn from their like.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::content::Item;
use super::error::PackResult;
use super::options::extension;
use super::threads::{self, Crew};

/// Bytes at the start of a file that are looked at.
const LOOKED_AT: u64 = 64 << 10;
/// Bytes under one mark.
const WINDOW: usize = 16;
/// One window in so many leaves a mark, or fewer where there are many files.
const SPARSE: u64 = 64;
/// Most marks of all files, which bounds memory to about 100 MiB.
const MAX_MARKS: u64 = 1 << 22;
/// Marks of more files than that tell nothing apart, and cost time.
const COMMON: usize = 256;
/// Files that are looked at for one that fits into what is left of a block.
const TRIED: usize = 200;

/// The files of `files`, of which those of an extension stand together, divided into blocks of at most
/// `limit` bytes.
pub(super) fn blocks(
    items: &[Item],
    files: &[usize],
    limit: u64,
    crew: &Crew,
) -> PackResult<Vec<Vec<usize>>> {
    let looked_at: u64 = files.iter().map(|&file| items[file].size.min(LOOKED_AT)).sum();
    let sparse = SPARSE.max(looked_at / MAX_MARKS).next_power_of_two();
    let marks = threads::map(crew, files.len(), Vec::new, |buffer, i| {
        let item = &items[files[i]];
        buffer.resize(item.size.min(LOOKED_AT) as usize, 0);
        item.read_at(0, buffer)?;
        Ok(marks_of(buffer, sparse))
    })?;
    let kin = Kin::of(&marks);
    let same_extension = |a: &usize, b: &usize| {
        extension(&items[*a].name).to_lowercase() == extension(&items[*b].name).to_lowercase()
    };
    let of_extension = files.chunk_by(same_extension).enumerate();
    let mut filling = Filling {
        kin: &kin,
        extension: of_extension.flat_map(|(number, files)| vec![number; files.len()]).collect(),
        sizes: files.iter().map(|&file| items[file].size).collect(),
        left: (0..files.len()).collect(),
        shared: vec![0; files.len()],
        met: vec![false; kin.start.len()],
    };
    let mut blocks = Vec::new();
    while let Some(&first) = filling.left.first() {
        blocks.push(filling.block(first, limit).into_iter().map(|i| files[i]).collect());
    }
    Ok(blocks)
}

/// The marks of a file that begins like that, sorted, each once.
fn marks_of(bytes: &[u8], sparse: u64) -> Vec<u64> {
    let most = u64::MAX / sparse;
    let mut marks: Vec<u64> = bytes.windows(WINDOW).map(hash).filter(|hash| *hash <= most).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Good enough in its high bits, which choose the marks.
fn hash(window: &[u8]) -> u64 {
    let word = |at: usize| u64::from_le_bytes(window[at..at + 8].try_into().expect("eight bytes"));
    let mixed = word(0).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word(8).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Which files have which marks in common.
struct Kin {
    /// Of each file, how many marks it has, and the numbers of those that others have too.
    of_file: Vec<(u32, Vec<u32>)>,
    /// Where the files of each of those marks begin in `files`; they end where the next begin.
    start: Vec<u32>,
    files: Vec<u32>,
}

impl Kin {
    fn of(marks: &[Vec<u64>]) -> Kin {
        let all = marks.iter().enumerate();
        let mut all: Vec<(u64, u32)> =
            all.flat_map(|(file, marks)| marks.iter().map(move |&mark| (mark, file as u32))).collect();
        all.sort_unstable();
        let of_file = marks.iter().map(|marks| (marks.len() as u32, Vec::new())).collect();
        let mut kin = Kin { of_file, start: Vec::new(), files: Vec::new() };
        for same in all.chunk_by(|a, b| a.0 == b.0).filter(|same| (2..=COMMON).contains(&same.len())) {
            let number = kin.start.len() as u32;
            kin.start.push(kin.files.len() as u32);
            for &(_, file) in same {
                kin.of_file[file as usize].1.push(number);
                kin.files.push(file);
            }
        }
        kin
    }

    fn files_of(&self, mark: u32) -> &[u32] {
        let start = self.start[mark as usize] as usize;
        let end = self.start.get(mark as usize + 1).map_or(self.files.len(), |&end| end as usize);
        &self.files[start..end]
    }
}

/// Files are named by their place in the order here.
struct Filling<'a> {
    kin: &'a Kin,
    /// The number of its extension.
    extension: Vec<usize>,
    sizes: Vec<u64>,
    left: BTreeSet<usize>,
    /// Of each file, marks that it shares with the block. All 0 between blocks.
    shared: Vec<u32>,
    /// Whether the block has that mark. All false between blocks.
    met: Vec<bool>,
}

impl Filling<'_> {
    fn block(&mut self, first: usize, limit: u64) -> Vec<usize> {
        let (mut block, mut room) = (Vec::new(), limit);
        // By the part of its marks that a file shares; entries may be older than `shared`.
        let mut alike: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
        let (mut touched, mut met) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(file) = next {
            self.left.remove(&file);
            block.push(file);
            room -= self.sizes[file];
            let begin = touched.len();
            self.meet(file, &mut met, &mut touched);
            let mut new = touched[begin..].to_vec();
            new.sort_unstable();
            new.dedup();
            alike.extend(new.into_iter().map(|file| (self.share(file), Reverse(file))));
            next = self.most_alike(&mut alike, room).or_else(|| self.next_that_fits(room));
        }
        touched.into_iter().for_each(|file| self.shared[file] = 0);
        met.into_iter().for_each(|mark: u32| self.met[mark as usize] = false);
        block
    }

    /// Counts what the files that are left share with `file` and not yet with the block.
    fn meet(&mut self, file: usize, met: &mut Vec<u32>, touched: &mut Vec<usize>) {
        for &mark in &self.kin.of_file[file].1 {
            if std::mem::replace(&mut self.met[mark as usize], true) {
                continue;
            }
            met.push(mark);
            for &other in self.kin.files_of(mark) {
                if self.left.contains(&(other as usize)) {
                    self.shared[other as usize] += 1;
                    touched.push(other as usize);
                }
            }
        }
    }

    /// How much of the file is in the block, by its marks, in 2^-32.
    fn share(&self, file: usize) -> u64 {
        (u64::from(self.shared[file]) << 32) / u64::from(self.kin.of_file[file].0)
    }

    fn most_alike(&self, alike: &mut BinaryHeap<(u64, Reverse<usize>)>, room: u64) -> Option<usize> {
        while let Some((share, Reverse(file))) = alike.pop() {
            let is_new = share == self.share(file);
            if is_new && self.sizes[file] <= room && self.left.contains(&file) {
                return Some(file);
            }
        }
        None
    }

    fn next_that_fits(&self, room: u64) -> Option<usize> {
        let extension = self.extension[*self.left.first()?];
        let fits = |file: &usize| self.extension[*file] == extension && self.sizes[*file] <= room;
        self.left.iter().take(TRIED).copied().find(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::content::Content;
    use crate::pack::options::Prefer;

    /// Text that has nothing in common with that of another `kind`.
    fn text(kind: u64, from: u64, len: usize) -> Vec<u8> {
        let lines = (from..).map(|i| format!("{:x} ", (i + 1).wrapping_mul(0x9E37_79B9 + 2 * kind)));
        lines.flat_map(String::into_bytes).take(len).collect()
    }

    fn items(contents: Vec<Vec<u8>>) -> Vec<Item> {
        let item = |(i, bytes): (usize, Vec<u8>)| Item {
            name: format!("{i:03}"),
            size: bytes.len() as u64,
            content: Content::Bytes(bytes),
            prefer: Prefer::default(),
        };
        contents.into_iter().enumerate().map(item).collect()
    }

    #[test]
    fn alike_files_share_blocks_whatever_their_order() {
        // Kinds alternate; two files of 4000 bytes fit a block.
        let items = items((0..20).map(|i| text(i % 5, i, 4000)).collect());
        let files: Vec<usize> = (0..items.len()).collect();
        let blocks = blocks(&items, &files, 8191, &1.into()).expect("readable");
        assert_eq!(blocks.len(), 10);
        for block in &blocks {
            assert_eq!(block[0] % 5, block[1] % 5, "{blocks:?}");
        }
    }

    #[test]
    fn every_file_is_in_one_block_and_blocks_keep_the_limit() {
        let sizes = (0..300u64).map(|i| (i * 7919 % 3001) as usize);
        let items = items(sizes.enumerate().map(|(i, len)| text(i as u64 / 9, 5, len)).collect());
        let files: Vec<usize> = (0..items.len()).rev().collect();
        let one = blocks(&items, &files, 4095, &1.into()).expect("readable");
        let mut seen: Vec<usize> = one.concat();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..items.len()));
        for block in &one {
            assert!(block.iter().map(|&file| items[file].size).sum::<u64>() <= 4095);
        }
        for threads in [2, 5] {
            assert_eq!(blocks(&items, &files, 4095, &threads.into()).expect("readable"), one);
        }
    }

    #[test]
    fn files_without_marks_fill_blocks_in_their_order() {
        let items = items(vec![vec![1; 10]; 7]);
        let blocks = blocks(&items, &[0, 1, 2, 3, 4, 5, 6], 31, &1.into()).expect("readable");
        assert_eq!(blocks, [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    }
}

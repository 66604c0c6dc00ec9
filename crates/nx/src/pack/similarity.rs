//! Groups small files by similarity. Compares sampled fingerprints of their content, as in MinHash
//! (Broder 1997).
//!
//! The fingerprints of a file are hashes of the 16-byte windows of its first 64 KiB. One window in
//! 64, or fewer if there are many files, is kept, selected by its hash, so that equal text gives
//! equal fingerprints in any file.
//!
//! Blocks are filled greedily. A block starts with the first file that is left. It then takes, as
//! long as there is one, the file with the largest share of its fingerprints in the block; else the
//! next file that fits, of the extension of the first file that is left. So it takes a dissimilar
//! file of another extension only when no file of its own extension is left: unused capacity costs
//! less than similar files in different blocks.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::content::Item;
use super::error::PackResult;
use super::options::extension;
use super::progress::Stage;
use super::workers::Workers;

/// Bytes at the start of a file that are sampled.
const SAMPLED_BYTES: u64 = 64 << 10;
/// Bytes covered by one fingerprint.
const WINDOW: usize = 16;
/// One window in this many gives a fingerprint. If there are many files, fewer windows do.
const SAMPLING_RATE: u64 = 64;
/// Expected maximum number of fingerprints of all files, which bounds memory to about 100 MiB.
const MAX_FINGERPRINTS: u64 = 1 << 22;
/// Maximum number of files that share a fingerprint. Fingerprints of more files are ignored: they
/// say little and cost time.
const MAX_FILES_PER_FINGERPRINT: usize = 256;
/// Maximum number of dissimilar files that are tried for the remaining capacity of a block.
const MAX_CANDIDATES: usize = 200;

/// Divides `files`, which are sorted by extension and have at most `limit` bytes each, into blocks
/// of at most `limit` bytes.
pub(super) fn blocks(
    items: &[Item],
    files: &[usize],
    limit: u64,
    workers: &Workers,
) -> PackResult<Vec<Vec<usize>>> {
    let sampled: u64 = files.iter().map(|&file| items[file].size.min(SAMPLED_BYTES)).sum();
    let rate = SAMPLING_RATE.max(sampled / MAX_FINGERPRINTS).next_power_of_two();
    workers.cancel.begin(Stage::Grouping);
    let fingerprints = workers.map(files.len(), Vec::new, |buffer, i| {
        workers.cancel.step()?;
        let item = &items[files[i]];
        buffer.resize(item.size.min(SAMPLED_BYTES) as usize, 0);
        item.read_at(0, buffer)?;
        Ok(fingerprints_of(buffer, rate))
    })?;
    let shared = SharedFingerprints::new(&fingerprints);
    let same_extension = |a: &usize, b: &usize| {
        extension(&items[*a].name).to_lowercase() == extension(&items[*b].name).to_lowercase()
    };
    let of_extension = files.chunk_by(same_extension).enumerate();
    let mut grouping = Grouping {
        fingerprints: &shared,
        extension: of_extension.flat_map(|(number, files)| vec![number; files.len()]).collect(),
        sizes: files.iter().map(|&file| items[file].size).collect(),
        left: (0..files.len()).collect(),
        shared: vec![0; files.len()],
        in_block: vec![false; shared.start.len()],
    };
    let mut blocks = Vec::new();
    while let Some(&first) = grouping.left.first() {
        workers.cancel.check()?;
        blocks.push(grouping.block(first, limit).into_iter().map(|i| files[i]).collect());
    }
    Ok(blocks)
}

/// Returns the fingerprints of a file that starts with `bytes`, sorted and without repeats.
fn fingerprints_of(bytes: &[u8], rate: u64) -> Vec<u64> {
    let max = u64::MAX / rate;
    let mut fingerprints: Vec<u64> = bytes.windows(WINDOW).map(hash).filter(|hash| *hash <= max).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    fingerprints
}

/// Returns a multiplicative hash. Its high bits, which select the windows, are good enough.
fn hash(window: &[u8]) -> u64 {
    let word = |at: usize| u64::from_le_bytes(window[at..at + 8].try_into().expect("eight bytes"));
    let mixed = word(0).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word(8).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Inverted index of the fingerprints that several files have.
struct SharedFingerprints {
    /// For each file, the number of its fingerprints and the indices of the shared ones.
    of_file: Vec<(u32, Vec<u32>)>,
    /// For each shared fingerprint, the start of its list in `files`. The list ends at the next
    /// start.
    start: Vec<u32>,
    files: Vec<u32>,
}

impl SharedFingerprints {
    fn new(fingerprints: &[Vec<u64>]) -> SharedFingerprints {
        let pairs = fingerprints.iter().enumerate();
        let mut pairs: Vec<(u64, u32)> = pairs
            .flat_map(|(file, of_file)| of_file.iter().map(move |&fingerprint| (fingerprint, file as u32)))
            .collect();
        pairs.sort_unstable();
        let of_file = fingerprints.iter().map(|of_file| (of_file.len() as u32, Vec::new())).collect();
        let mut index = SharedFingerprints { of_file, start: Vec::new(), files: Vec::new() };
        let is_shared = |same: &&[(u64, u32)]| (2..=MAX_FILES_PER_FINGERPRINT).contains(&same.len());
        for same in pairs.chunk_by(|a, b| a.0 == b.0).filter(is_shared) {
            let number = index.start.len() as u32;
            index.start.push(index.files.len() as u32);
            for &(_, file) in same {
                index.of_file[file as usize].1.push(number);
                index.files.push(file);
            }
        }
        index
    }

    fn files_with(&self, fingerprint: u32) -> &[u32] {
        let start = self.start[fingerprint as usize] as usize;
        let end = self.start.get(fingerprint as usize + 1).map_or(self.files.len(), |&end| end as usize);
        &self.files[start..end]
    }
}

/// The state of the greedy grouping. Files are numbered by their position in the given order.
struct Grouping<'a> {
    fingerprints: &'a SharedFingerprints,
    /// For each file, the number of its extension.
    extension: Vec<usize>,
    sizes: Vec<u64>,
    left: BTreeSet<usize>,
    /// For each file, the number of fingerprints that it shares with the block. All are 0 between
    /// blocks.
    shared: Vec<u32>,
    /// For each shared fingerprint, whether the block has it. All are false between blocks.
    in_block: Vec<bool>,
}

impl Grouping<'_> {
    fn block(&mut self, first: usize, limit: u64) -> Vec<usize> {
        let (mut block, mut free) = (Vec::new(), limit);
        // Files that share fingerprints with the block, by similarity. When a file comes to share
        // more, it gets another entry, and its earlier ones are stale.
        let mut similar: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
        let (mut touched, mut added) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(file) = next {
            self.left.remove(&file);
            block.push(file);
            free -= self.sizes[file];
            let begin = touched.len();
            self.add(file, &mut added, &mut touched);
            let mut new = touched[begin..].to_vec();
            new.sort_unstable();
            new.dedup();
            similar.extend(new.into_iter().map(|file| (self.similarity(file), Reverse(file))));
            next = self.most_similar(&mut similar, free).or_else(|| self.next_that_fits(free));
        }
        touched.into_iter().for_each(|file| self.shared[file] = 0);
        added.into_iter().for_each(|fingerprint: u32| self.in_block[fingerprint as usize] = false);
        block
    }

    /// Adds the fingerprints of `file` to the block and counts them for the files that are left.
    fn add(&mut self, file: usize, added: &mut Vec<u32>, touched: &mut Vec<usize>) {
        for &fingerprint in &self.fingerprints.of_file[file].1 {
            if std::mem::replace(&mut self.in_block[fingerprint as usize], true) {
                continue;
            }
            added.push(fingerprint);
            for &other in self.fingerprints.files_with(fingerprint) {
                if self.left.contains(&(other as usize)) {
                    self.shared[other as usize] += 1;
                    touched.push(other as usize);
                }
            }
        }
    }

    /// Returns the share of the file's fingerprints that the block has, in units of 2^-32.
    fn similarity(&self, file: usize) -> u64 {
        (u64::from(self.shared[file]) << 32) / u64::from(self.fingerprints.of_file[file].0)
    }

    fn most_similar(&self, similar: &mut BinaryHeap<(u64, Reverse<usize>)>, free: u64) -> Option<usize> {
        while let Some((similarity, Reverse(file))) = similar.pop() {
            let is_current = similarity == self.similarity(file);
            if is_current && self.sizes[file] <= free && self.left.contains(&file) {
                return Some(file);
            }
        }
        None
    }

    fn next_that_fits(&self, free: u64) -> Option<usize> {
        let extension = self.extension[*self.left.first()?];
        let fits = |file: &usize| self.extension[*file] == extension && self.sizes[*file] <= free;
        self.left.iter().take(MAX_CANDIDATES).copied().find(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::content::Content;
    use crate::pack::options::FileOptions;

    /// Returns text that has nothing in common with text of another `kind`.
    fn text(kind: u64, from: u64, len: usize) -> Vec<u8> {
        let lines = (from..).map(|i| format!("{:x} ", (i + 1).wrapping_mul(0x9E37_79B9 + 2 * kind)));
        lines.flat_map(String::into_bytes).take(len).collect()
    }

    fn items(contents: Vec<Vec<u8>>) -> Vec<Item> {
        let item = |(i, bytes): (usize, Vec<u8>)| Item {
            name: format!("{i:03}"),
            size: bytes.len() as u64,
            content: Content::Bytes(bytes),
            file_options: FileOptions::default(),
        };
        contents.into_iter().enumerate().map(item).collect()
    }

    #[test]
    fn similar_files_share_blocks_in_any_input_order() {
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
    fn files_without_fingerprints_fill_blocks_in_input_order() {
        let items = items(vec![vec![1; 10]; 7]);
        let blocks = blocks(&items, &[0, 1, 2, 3, 4, 5, 6], 31, &1.into()).expect("readable");
        assert_eq!(blocks, [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    }
}

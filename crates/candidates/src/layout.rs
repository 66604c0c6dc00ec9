//! Lays out all of the data in archives, as `linerate nx pack` does, for samples of their blocks.
//!
//! The packer compares the small files of all of the data, and puts similar ones into one block.
//! Files that are neighbours by name are less similar, and the longer a codec's matches reach, the
//! more that costs. So samples must consist of the packer's blocks. Only packing shows them: the
//! archives here are packed with a fast coding, a control, and only their tables are kept. The
//! sizes of these archives also show how all of the data differs from a sample, and how much is
//! gained by larger blocks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use linerate_nx::pack::{Builder, Coding, PackOptions, Zstd};
use linerate_nx::{Archive, Limits};

use super::sample::{FileSet, Piece, Window, divide, length, spread};
use super::{Options, Progress};

/// The control for zstd: level 3 with long matches, the fastest coding whose matches reach across a
/// whole block, whatever its size.
pub(super) const ZSTD: Coding = Coding::Zstd(Zstd { level: 3, min_match: 0, literals: true, long: true });
/// The control for LZ4, whose matches reach back only 64 KiB, so that it gains little where zstd
/// gains much.
pub(super) const LZ4: Coding = Coding::Lz4 { level: 1 };
/// Largest number of bytes of data that are laid out, for each thread and second of
/// [`Options::seconds`]. Four layouts of them take a thread 240 ms if files are large, and 380 ms
/// if they have 9 KB each.
const BYTES_PER_SECOND: f64 = 12e6;
/// Largest number of bytes of data that are laid out. The archive is in memory for a moment.
const MAX_BYTES: u64 = 512 << 20;

/// Layouts by block size in bytes and control.
pub(super) type Layouts = BTreeMap<(u64, Coding), Layout>;

/// The layout of an archive of all of the data.
pub(super) struct Layout {
    /// The content of each block, ordered by how well it compresses. Of equal files and chunks,
    /// only one is in a block.
    blocks: Vec<Window>,
    /// Bytes of content in all blocks.
    pub(super) content: u64,
    /// Bytes of all blocks, compressed with the control, and of their padding.
    compressed: u64,
    /// Bytes of the archive's header with its tables.
    pub(super) header: u64,
}

/// Returns options of packing with a control in blocks of this size.
pub(super) fn options(block: u64, control: Coding, threads: usize) -> PackOptions {
    PackOptions::new().chunk(block).solid_limit(block - 1).solid(control).chunked(control).threads(threads)
}

/// Returns layouts with zstd for each of these block sizes in bytes, and one with LZ4 for the first
/// of them. There are none if the data is so large that they would take more than a small share of
/// the time, or has more than `MAX_BYTES`.
///
/// # Errors
/// Returns a sentence if a file cannot be read or packed.
pub(super) fn layouts(
    set: &FileSet,
    blocks: &BTreeSet<u64>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Layouts, String> {
    let most = (options.seconds * options.threads as f64 * BYTES_PER_SECOND) as u64;
    if set.bytes > most.min(MAX_BYTES) {
        return Ok(Layouts::new());
    }
    let layout = |(block, control): (u64, Coding)| {
        progress(&format!("laying out blocks of {} MiB", block >> 20));
        Ok(((block, control), Layout::new(set, block, control, options.threads)?))
    };
    let zstd = blocks.iter().map(|&block| (block, ZSTD));
    let lz4 = blocks.first().map(|&block| (block, LZ4));
    zstd.chain(lz4).map(layout).collect()
}

impl Layout {
    fn new(set: &FileSet, block: u64, control: Coding, threads: usize) -> Result<Layout, String> {
        let mut builder = Builder::new(options(block, control, threads)).map_err(|e| e.to_string())?;
        let mut numbers = HashMap::new();
        for (number, file) in set.files.iter().enumerate() {
            builder.add_path(file.name.as_str(), &file.path).map_err(|e| e.to_string())?;
            numbers.insert(file.name.as_str(), number);
        }
        let (bytes, _) = builder.to_bytes().map_err(|e| e.to_string())?;
        let archive = Archive::open_with(&bytes[..], Limits::none()).map_err(|e| e.to_string())?;
        // The pieces of each block by their offset in it, so that equal files count once.
        let mut blocks: BTreeMap<usize, BTreeMap<u32, Piece>> = BTreeMap::new();
        for file in archive.files() {
            let Some(&number) = numbers.get(file.path()) else { continue };
            for (i, at) in file.blocks().enumerate() {
                let offset = i as u64 * block;
                let piece = Piece { file: number, offset, len: block.min(file.size() - offset) };
                blocks.entry(at).or_default().entry(file.entry().block_offset).or_insert(piece);
            }
        }
        let compressed = |at: usize| archive.toc().blocks.get(at).map_or(0, |block| block.compressed.into());
        // The compressed bytes of each block, and its content.
        let mut blocks: Vec<(u64, Window)> =
            blocks.into_iter().map(|(at, block)| (compressed(at), block.into_values().collect())).collect();
        // Strata of a sample then have blocks that compress equally well, which makes its error a
        // third smaller.
        blocks.sort_by_key(|(compressed, block)| {
            let first = block.first().map(|piece| (piece.file, piece.offset));
            ((compressed << 20) / length(block).max(1), first)
        });
        Ok(Layout {
            content: blocks.iter().map(|(_, block)| length(block)).sum(),
            compressed: bytes.len() as u64 - archive.header().bytes(),
            blocks: blocks.into_iter().map(|(_, block)| block).collect(),
            header: archive.header().bytes(),
        })
    }

    /// Chooses blocks, or parts of about `size` bytes of larger ones, as [`FileSet::spread`] does.
    pub(super) fn spread(&self, size: u64, bytes: u64, seed: u64) -> Vec<Window> {
        let parts = || self.blocks.iter().flat_map(|block| divide(block.iter().copied(), size));
        spread(parts, self.content, size, bytes, seed)
    }

    /// Compressed bytes, with padding, per byte of content with the control, in all blocks.
    pub(super) fn density(&self) -> f64 {
        self.compressed as f64 / self.content.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_every_byte_once_and_equal_files_once_with_any_number_of_threads() {
        let folder = tempfile::tempdir().expect("a folder");
        let noise = crate::testdata::random(300_000);
        for (name, bytes) in [("a", &noise[..150_000]), ("b", &noise[..10_000]), ("c", &noise[10..20_000])] {
            std::fs::write(folder.path().join(name), bytes).expect("writable");
            std::fs::write(folder.path().join(format!("{name}.copy")), bytes).expect("writable");
        }
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let layout = Layout::new(&set, 64 << 10, ZSTD, 1).expect("readable");
        let mut pieces: Vec<Piece> = layout.blocks.concat();
        pieces.sort_by_key(|piece| (piece.file, piece.offset));
        let bytes = |file: usize| -> u64 {
            pieces.iter().filter(|piece| piece.file == file).map(|piece| piece.len).sum()
        };
        let (copied, others): (Vec<usize>, _) =
            (0..set.files.len()).partition(|&file| bytes(file) == set.files[file].size);
        assert!(copied.len() == 3 && others.iter().all(|&file| bytes(file) == 0), "{pieces:?}");
        assert_eq!(layout.content, 150_000 + 10_000 + 19_990);
        assert!(layout.blocks.iter().all(|block| length(block) <= 64 << 10));
        let other = Layout::new(&set, 64 << 10, ZSTD, 3).expect("readable");
        assert!(other.blocks == layout.blocks && other.compressed == layout.compressed);
    }

    #[test]
    fn data_that_takes_long_has_no_layout() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a"), vec![1; 1_000_000]).expect("writable");
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let number = |seconds| {
            let options = Options { seconds, threads: 1, seed: 1 };
            layouts(&set, &[1 << 20].into(), &options, &|_| {}).expect("readable").len()
        };
        assert_eq!([0.05, 1.0].map(number), [0, 2]);
    }
}

//! Checks files against the limits of an archive, and finds how many threads have buffers within
//! its memory limit.

use linerate_core::{Error, Kind, Result};
use linerate_io::ReadAt;

use crate::read::archive::{Archive, File};
use crate::read::block_reader::BufferSizes;

impl<S: ReadAt> Archive<S> {
    /// Checks the sizes of files against [`Limits::file`](crate::Limits::file),
    /// [`Limits::total`](crate::Limits::total) and [`Limits::ratio`](crate::Limits::ratio), and
    /// returns their total in bytes. Calls that take several files check them; before you read many
    /// files one by one, check them with this function.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if a limit is exceeded. The offset is that of the entry of a file
    /// that is too large, otherwise 0.
    pub fn check_limits(&self, files: &[File<'_>]) -> Result<u64> {
        check_limits(self, files)
    }
}

/// Checks the sizes of files against the limits of the archive, and returns their total.
pub(crate) fn check_limits<S: ReadAt>(archive: &Archive<S>, files: &[File<'_>]) -> Result<u64> {
    let limits = archive.limits();
    let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let large = |message| Error::new(Kind::Limit, 0, message);
    if let Some(file) = files.iter().find(|file| file.size() > limits.file) {
        return Err(Error::new(Kind::Limit, file.entry_offset(), "a file larger than the limit"));
    }
    if total > limits.total {
        return Err(large("the files are larger together than the limit"));
    }
    let most = archive.file_len().saturating_mul(limits.ratio);
    if total > limits.ratio_from && total > most {
        return Err(large("the files are larger than the archive by more than the limit"));
    }
    Ok(total)
}

/// Returns buffer sizes for the largest of these blocks, and for the largest coalesced read.
pub(crate) fn buffer_sizes<S: ReadAt>(
    archive: &Archive<S>,
    blocks: impl Iterator<Item = usize>,
) -> BufferSizes {
    let mut sizes = BufferSizes { compressed: archive.source().coalesce_limit(), ..BufferSizes::default() };
    for block in blocks {
        let (content, word) = (archive.layout().content(block), archive.toc().blocks[block]);
        sizes.content = sizes.content.max(content);
        sizes.compressed = sizes.compressed.max(word.compressed.into());
        sizes.filtered = sizes.filtered.max(if word.filtered { content } else { 0 });
    }
    sizes
}

/// Returns the number of threads, at most `wanted`, whose buffers fit
/// [`Limits::memory`](crate::Limits::memory); at least one.
pub(crate) fn within_memory<S: ReadAt>(archive: &Archive<S>, sizes: BufferSizes, wanted: usize) -> usize {
    let each = sizes.content.saturating_add(sizes.compressed).saturating_add(sizes.filtered).max(1);
    let fit = usize::try_from(archive.limits().memory / each).unwrap_or(usize::MAX);
    wanted.min(fit).max(1)
}

/// Like [`within_memory`], for threads that decode any blocks of the archive.
#[cfg(feature = "pack")]
pub(crate) fn threads_for_any_block<S: ReadAt>(archive: &Archive<S>, wanted: usize) -> usize {
    within_memory(archive, buffer_sizes(archive, 0..archive.layout().len()), wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileSource;
    use crate::read::queue::Queue;

    #[cfg(feature = "pack")]
    #[test]
    fn memory_limit_counts_filtered_blocks_twice() {
        use crate::pack::{Builder, Filters, PackOptions};
        let texture = linerate_testkit::data::dds(b"DXT1", 4000, 1);
        let sizes = |filters| {
            let mut builder = Builder::new(PackOptions { filters, ..PackOptions::default() }).unwrap();
            builder.add_bytes("a.dds", texture.clone()).unwrap();
            let archive = Archive::open(builder.to_bytes().unwrap().0).unwrap();
            let queue = Queue::new(&archive, archive.files().enumerate());
            let sizes = buffer_sizes(&archive, queue.blocks());
            let limited = crate::Limits { memory: 4 << 20, ..*archive.limits() };
            let limited = Archive::open_with(archive.source().clone(), limited).unwrap();
            (sizes.content, sizes.filtered, within_memory(&limited, sizes, queue.len().min(9)))
        };
        assert_eq!(sizes(Filters::NONE), (1 << 20, 0, 2));
        assert_eq!(sizes(Filters::all()), (1 << 20, 1 << 20, 1));
    }

    #[cfg(feature = "pack")]
    #[test]
    fn files_of_exactly_the_largest_ratio_are_within_the_limits() {
        use crate::pack::{Builder, PackOptions};
        let mut builder = Builder::new(PackOptions::default()).unwrap();
        builder.add_bytes("a", vec![7; 1000]).unwrap();
        let bytes = builder.to_bytes().unwrap().0;
        for (ratio, expected) in [(1000, Ok(1000 * bytes.len() as u64)), (999, Err(Kind::Limit))] {
            let limits = crate::Limits { ratio, ratio_from: 0, ..crate::Limits::default() };
            let archive = Archive::open_with(bytes.clone(), limits).unwrap();
            let files = vec![archive.find("a").unwrap(); bytes.len()];
            assert_eq!(check_limits(&archive, &files).map_err(|error| error.kind), expected, "{ratio}");
        }
    }

    #[test]
    fn memory_limit_bounds_the_number_of_threads() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/nx/over-4-gib.nx");
        let large = Archive::open(FileSource::open(path).unwrap()).unwrap();
        let queue = Queue::new(&large, large.files().enumerate());
        let fit = within_memory(&large, buffer_sizes(&large, queue.blocks()), 100.min(queue.len()));
        assert_eq!(fit, 7, "threads with a block of 256 MiB each, within 2 GiB");
    }
}

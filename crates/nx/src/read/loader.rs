//! Loads files of an archive in parallel, into memory or to any destination.

use std::sync::{Mutex, MutexGuard};

use linerate_core::{Error, Kind, Result, lock};
use linerate_io::ReadAt;

use crate::block::memory::{lengthen, no_memory};
use crate::error::{FileError, PathError};
use crate::read::archive::{Archive, File};
use crate::read::destination::{Destination, Progress};
use crate::read::parallel::{Outcome, ReadOptions, read_files};
use crate::read::reader::MAX_INITIAL_CAPACITY;

/// Contents of files that were loaded.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The content of each file, in the order of the call. `None` if the file failed, or was not
    /// complete when the work stopped.
    pub contents: Vec<Option<Vec<u8>>>,
    /// Errors of files, sorted by path.
    pub failures: Vec<PathError>,
    /// Whether the progress callback, or a panic in a [`Batch`](crate::shared::Batch), stopped the
    /// work, so that some files may not have been tried.
    pub stopped: bool,
}

/// Result of delivering files to a [`Destination`].
#[derive(Debug, Default)]
pub struct Delivered {
    /// Number of files that were delivered completely.
    pub files: u64,
    /// Bytes of content that the destination took, including those of files larger than a chunk
    /// that failed later.
    pub bytes: u64,
    /// Errors of files, sorted by path.
    pub failures: Vec<PathError>,
    /// Whether the progress callback, a full disk, or a panic in a
    /// [`Batch`](crate::shared::Batch), stopped the work, so that some files may not have been
    /// tried.
    pub stopped: bool,
}

/// Loads files of an archive into memory in parallel. Each block is decoded once.
///
/// The threads end with the call. [`shared::Batch`](crate::shared::Batch) does the same on threads
/// that stay, or on the caller's threads. Memory holds the contents, one decoded and one compressed
/// block per thread, and the content of a filtered block a second time.
///
#[cfg_attr(feature = "pack", doc = "```")]
#[cfg_attr(not(feature = "pack"), doc = "```ignore")]
/// use linerate_nx::pack::{Builder, PackOptions};
/// use linerate_nx::{Archive, Loader};
///
/// # let mut builder = Builder::new(PackOptions::new())?;
/// # builder.add_bytes("a.txt", "first")?;
/// # builder.add_bytes("b.txt", "second")?;
/// let archive = Archive::open(builder.to_bytes()?.0)?;
/// let files = ["a.txt", "b.txt"].map(|path| archive.find(path).expect("packed above"));
/// let loaded = Loader::new(&archive).threads(2).read_many(&files)?;
/// assert_eq!(loaded.contents[1].as_deref(), Some(&b"second"[..]));
///
/// // One buffer of the caller's for all of them.
/// let mut arena = vec![0; files.iter().map(|file| file.size() as usize).sum()];
/// let mut rest = &mut arena[..];
/// let mut parts = Vec::new();
/// for file in &files {
///     let (part, next) = rest.split_at_mut(file.size() as usize);
///     parts.push(part);
///     rest = next;
/// }
/// Loader::new(&archive).threads(2).read_many_into(&files, &mut parts)?;
/// assert_eq!(arena, b"firstsecond");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Loader<'a, S> {
    archive: &'a Archive<S>,
    options: ReadOptions<'a>,
}

impl<'a, S: ReadAt> Loader<'a, S> {
    /// Creates a loader that uses one thread and checks hashes.
    pub fn new(archive: &'a Archive<S>) -> Self {
        Loader { archive, options: ReadOptions::default() }
    }

    /// Sets the number of threads, as [`Extractor::threads`](crate::Extractor::threads). Default:
    /// 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Sets whether contents are checked against their hashes. Default: true.
    pub fn verify(mut self, verify: bool) -> Self {
        self.options.verify = verify;
        self
    }

    /// Calls `on_progress` after each block, from the thread that decoded or skipped it; `false`
    /// stops the work.
    pub fn on_progress(mut self, on_progress: impl Fn(&Progress) -> bool + Sync + 'a) -> Self {
        self.options.on_progress = Some(Box::new(on_progress));
        self
    }

    /// Loads files into new memory. The same file may be given several times.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if the files exceed the limits of the archive, and
    /// [`Kind::BadArgument`] if zstd does not support
    /// [`Limits::window_log`](crate::Limits::window_log). Errors of single files are in
    /// [`Loaded::failures`].
    pub fn read_many(&self, files: &[File<'_>]) -> Result<Loaded> {
        let memory = Memory::new(files);
        let outcome = read_files(self.archive, files, &memory, &self.options)?;
        Ok(memory.take_loaded(files, outcome))
    }

    /// Loads each file into the start of one of the caller's buffers. The rest of the buffer is
    /// unchanged; the buffer of a file that failed is unspecified.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Loader::read_many`], and [`Kind::BadArgument`] if there are not as
    /// many buffers as files. If a buffer is smaller than its file, [`Delivered::failures`] has an
    /// error [`Kind::OutputTooSmall`].
    pub fn read_many_into(&self, files: &[File<'_>], buffers: &mut [&mut [u8]]) -> Result<Delivered> {
        if files.len() != buffers.len() {
            return Err(Error::new(Kind::BadArgument, 0, "not as many buffers as files"));
        }
        let buffers = Buffers(buffers.iter_mut().map(|buffer| Mutex::new(&mut **buffer)).collect());
        self.deliver(files, &buffers)
    }

    /// Passes files to a destination.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Loader::read_many`]. Errors of single files are in
    /// [`Delivered::failures`].
    pub fn deliver(&self, files: &[File<'_>], destination: &dyn Destination) -> Result<Delivered> {
        let outcome = read_files(self.archive, files, destination, &self.options)?;
        Ok(delivered(files, outcome))
    }
}

/// Makes the caller's result from the outcome of a run.
pub(crate) fn delivered(files: &[File<'_>], mut outcome: Outcome) -> Delivered {
    let failed = outcome.failed.len() as u64 + outcome.skipped.len() as u64;
    Delivered {
        files: outcome.done.files.saturating_sub(failed),
        bytes: outcome.done.bytes,
        failures: outcome.take_failures(files),
        stopped: outcome.stopped,
    }
}

/// A destination that allocates memory for each file.
pub(crate) struct Memory {
    files: Vec<Mutex<Content>>,
}

struct Content {
    bytes: Vec<u8>,
    size: u64,
    is_whole: bool,
    is_discarded: bool,
}

impl Memory {
    pub(crate) fn new(files: &[File<'_>]) -> Memory {
        let content = |file: &File<'_>| {
            let size = file.size();
            Mutex::new(Content { bytes: Vec::new(), size, is_whole: false, is_discarded: false })
        };
        Memory { files: files.iter().map(content).collect() }
    }

    /// Takes the contents after a run.
    pub(crate) fn take_loaded(&self, files: &[File<'_>], mut outcome: Outcome) -> Loaded {
        let take = |file: usize| core::mem::take(&mut self.file(file).bytes);
        let whole = |file: &usize| self.file(*file).is_whole;
        let contents = (0..self.files.len()).map(|file| whole(&file).then(|| take(file))).collect();
        Loaded { contents, failures: outcome.take_failures(files), stopped: outcome.stopped }
    }

    fn file(&self, file: usize) -> MutexGuard<'_, Content> {
        lock(&self.files[file])
    }
}

impl Destination for Memory {
    fn write_file(&self, file: usize, bytes: &[u8]) -> core::result::Result<(), FileError> {
        let mut content = self.file(file);
        content.bytes.try_reserve_exact(bytes.len()).map_err(|_| no_memory(0))?;
        content.bytes.extend_from_slice(bytes);
        content.is_whole = true;
        Ok(())
    }

    fn write_range(&self, file: usize, offset: u64, bytes: &[u8]) -> core::result::Result<(), FileError> {
        let mut content = self.file(file);
        if content.is_discarded {
            return Ok(());
        }
        let end = usize::try_from(offset).ok().and_then(|offset| offset.checked_add(bytes.len()));
        let end = end.ok_or(no_memory(0))?;
        if content.bytes.capacity() == 0 {
            // The stated size is untrusted. Beyond this capacity, the memory grows with what is
            // decoded.
            let first = content.size.min(MAX_INITIAL_CAPACITY) as usize;
            content.bytes.try_reserve_exact(first).map_err(|_| no_memory(0))?;
        }
        if content.bytes.len() < end {
            lengthen(&mut content.bytes, end, 0)?;
        }
        content.bytes[end - bytes.len()..end].copy_from_slice(bytes);
        Ok(())
    }

    fn commit(&self, file: usize) -> core::result::Result<(), FileError> {
        self.file(file).is_whole = true;
        Ok(())
    }

    fn discard(&self, file: usize) {
        let mut content = self.file(file);
        (content.bytes, content.is_discarded) = (Vec::new(), true);
    }
}

/// A destination made of the caller's buffers.
struct Buffers<'b>(Vec<Mutex<&'b mut [u8]>>);

impl Destination for Buffers<'_> {
    fn write_file(&self, file: usize, bytes: &[u8]) -> core::result::Result<(), FileError> {
        self.write_range(file, 0, bytes)
    }

    fn write_range(&self, file: usize, offset: u64, bytes: &[u8]) -> core::result::Result<(), FileError> {
        let mut buffer = lock(&self.0[file]);
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let part = buffer.get_mut(start..).and_then(|rest| rest.get_mut(..bytes.len()));
        let too_small = Error::new(Kind::OutputTooSmall, offset, "the buffer is smaller than the file");
        part.ok_or(too_small)?.copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::pack::{Builder, PackOptions};

    /// Returns an archive of an empty file, small files and a file of many chunks, and their
    /// contents.
    fn archive() -> (Archive<Vec<u8>>, Vec<Vec<u8>>) {
        let options = PackOptions { chunk: 4096, solid_limit: 2047, ..PackOptions::default() };
        let mut builder = Builder::new(options).unwrap();
        let contents: Vec<Vec<u8>> = [0, 1, 700, 2047, 4096, 50_000]
            .iter()
            .map(|len| (0..*len).map(|i| (i % 251) as u8).collect())
            .collect();
        for (i, content) in contents.iter().enumerate() {
            builder.add_bytes(format!("{i}"), content.clone()).unwrap();
        }
        (Archive::open(builder.to_bytes().unwrap().0).unwrap(), contents)
    }

    #[test]
    fn files_are_loaded_in_the_order_asked_for_repeats_included() {
        let (archive, contents) = archive();
        for threads in [1, 3] {
            let order = [5, 0, 3, 5, 2, 4, 1];
            let files: Vec<File<'_>> = order.iter().map(|i| archive.find(&i.to_string()).unwrap()).collect();
            let loaded = Loader::new(&archive).threads(threads).read_many(&files).unwrap();
            assert!(loaded.failures.is_empty() && !loaded.stopped);
            let expected: Vec<_> = order.iter().map(|i| Some(contents[*i].clone())).collect();
            assert!(loaded.contents == expected);
        }
    }

    #[test]
    fn a_range_after_discard_takes_no_memory() {
        let (archive, contents) = archive();
        let memory = Memory::new(&[archive.find("5").unwrap()]);
        memory.write_range(0, 0, &contents[5][..4096]).unwrap();
        memory.discard(0);
        memory.write_range(0, 4096, &contents[5][4096..8192]).unwrap();
        assert_eq!(memory.file(0).bytes.capacity(), 0);
    }

    #[test]
    fn buffer_too_small_fails_its_file_alone() {
        let (archive, contents) = archive();
        let mut files: Vec<File<'_>> = archive.files().collect();
        files.sort_by_key(|file| file.path());
        let mut memory: Vec<Vec<u8>> = files.iter().map(|file| vec![9; file.size() as usize + 1]).collect();
        memory[4].truncate(4095);
        memory[5].truncate(49_999);
        let mut buffers: Vec<&mut [u8]> = memory.iter_mut().map(|buffer| &mut buffer[..]).collect();
        let loader = Loader::new(&archive).threads(2);
        let delivered = loader.read_many_into(&files, &mut buffers).unwrap();
        let failed: Vec<_> = delivered.failures.iter().map(|e| (&*e.path, e.kind())).collect();
        assert_eq!(failed, [("4", Kind::OutputTooSmall), ("5", Kind::OutputTooSmall)]);
        assert_eq!(delivered.files, 4);
        for i in 0..4 {
            assert!(memory[i][..contents[i].len()] == contents[i] && memory[i][contents[i].len()] == 9);
        }
        let error = loader.read_many_into(&files, &mut []).unwrap_err();
        assert_eq!(error.kind, Kind::BadArgument);
    }

    #[test]
    fn progress_that_returns_false_stops() {
        let (archive, _) = archive();
        let files: Vec<File<'_>> = archive.files().collect();
        let calls = AtomicUsize::new(0);
        let stop = |_: &Progress| calls.fetch_add(1, Ordering::Relaxed) < 2;
        let loaded = Loader::new(&archive).on_progress(stop).read_many(&files).unwrap();
        assert!(loaded.stopped && loaded.contents.iter().any(Option::is_none));
        assert_eq!(calls.into_inner(), 3);
    }
}

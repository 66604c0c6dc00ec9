//! Shares archives between threads, as games and servers read them. Gives streaming file handles
//! without lifetimes, one cache of decoded blocks, prefetching, and reading of many files at once.
//!
//! ```
//! # #[cfg(feature = "pack")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::io::{BufRead, Read, Seek, SeekFrom};
//!
//! use linerate_nx::Archive;
//! use linerate_nx::shared::{Executor, SharedArchive, SharedOptions};
//! # let mut builder = linerate_nx::pack::Builder::new(linerate_nx::pack::PackOptions::default())?;
//! # builder.add_bytes("level.txt", "first line\nsecond line\n")?;
//! # builder.add_bytes("wall.dds", vec![7; 1000])?;
//! # let (bytes, _) = builder.to_bytes()?;
//!
//! let options = SharedOptions::new().executor(Executor::threads(2));
//! let assets = SharedArchive::with_options(Archive::open(bytes)?, options)?;
//!
//! let mut file = assets.open("level.txt")?; // owned: it can move to another thread
//! let mut line = String::new();
//! file.read_line(&mut line)?;
//! file.seek(SeekFrom::End(-5))?;
//! let mut end = String::new();
//! file.read_to_string(&mut end)?;
//! assert_eq!((&*line, &*end), ("first line\n", "line\n"));
//!
//! let loaded = assets.batch(["wall.dds", "level.txt"])?.read_many()?.wait(); // or `.await`
//! assert_eq!(loaded.contents[0].as_ref().map(Vec::len), Some(1000));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "pack"))]
//! # fn main() {}
//! ```
//!
//! | module | content |
//! |---|---|
//! | `open_file` | an open file with `Read`, `Seek` and `BufRead` |
//! | `cache` | the cache of decoded blocks |
//! | `batch` | many files in parallel: loaded, prefetched, pinned |
//! | `executor`, `pending` | the threads that do the work; results that come later |
//! | `asynchronous` | files for tokio and `futures-io`, with the features of these names |

#[cfg(any(feature = "tokio", feature = "futures-io"))]
mod asynchronous;
mod batch;
#[cfg(feature = "futures-io")]
mod by_futures;
#[cfg(feature = "tokio")]
mod by_tokio;
mod cache;
mod executor;
mod open_file;
mod pending;

use std::sync::{Arc, Mutex};

use linerate_core::{Error, Kind, Result, lock};

#[cfg(any(feature = "tokio", feature = "futures-io"))]
pub use self::asynchronous::AsyncFile;
pub use self::batch::{Batch, Pinned, Prefetched};
pub use self::cache::{CacheCounters, SharedCache};
pub use self::executor::{Executor, Job};
pub use self::open_file::OpenFile;
pub use self::pending::Pending;
use linerate_io::ReadAt;

use crate::error::PathError;
use crate::read::archive::{Archive, File};
use crate::read::block_reader::{BlockReader, ReaderMemory};
use crate::read::reader::{Piece, is_stored, read_whole, read_whole_into};
use cache::{Content, Key, Purpose};

/// Options of a [`SharedArchive`].
#[derive(Clone)]
pub struct SharedOptions {
    cache: Option<SharedCache>,
    executor: Executor,
    verify: bool,
}

impl Default for SharedOptions {
    fn default() -> Self {
        SharedOptions { cache: None, executor: Executor::inline(), verify: true }
    }
}

impl SharedOptions {
    /// Returns the default options: a new cache of [`SharedArchive::CACHE`] bytes, work in the
    /// calling thread, and hashes checked.
    pub fn new() -> SharedOptions {
        SharedOptions::default()
    }

    /// Sets the cache. Several archives may share it.
    pub fn cache(mut self, cache: &SharedCache) -> Self {
        self.cache = Some(cache.clone());
        self
    }

    /// Sets the executor that does the work of [`Batch`] and `AsyncFile`. Default:
    /// [`Executor::inline`].
    pub fn executor(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }

    /// Sets whether contents are checked against their hashes. The check covers whole files, and
    /// open files that are read from start to end. Default: true.
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }
}

/// An archive whose files many threads read through one cache of decoded blocks. Clones are handles
/// of the same archive. Open files keep it alive.
///
/// Memory holds the [`SharedCache`] and, for each thread that is decoding, the decoder's state
/// (about 300 KiB) and one compressed block. Up to 16 idle decoders are kept for later reads.
pub struct SharedArchive<S> {
    inner: Arc<Inner<S>>,
}

impl<S> Clone for SharedArchive<S> {
    fn clone(&self) -> Self {
        SharedArchive { inner: Arc::clone(&self.inner) }
    }
}

struct Inner<S> {
    archive: Arc<Archive<S>>,
    cache: SharedCache,
    /// The number of the archive in the cache.
    number: u64,
    executor: Executor,
    verify: bool,
    idle: Mutex<Vec<ReaderMemory>>,
}

impl<S> Drop for Inner<S> {
    fn drop(&mut self) {
        self.cache.remove_archive(self.number);
    }
}

impl<S> SharedArchive<S> {
    /// Default budget of the cache in bytes: 64 MiB.
    pub const CACHE: u64 = 64 << 20;

    /// Maximum number of decoders that are kept for later reads.
    const IDLE_DECODERS: usize = 16;
}

impl<S: ReadAt + 'static> SharedArchive<S> {
    /// Shares an archive with the default options.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`SharedArchive::with_options`].
    pub fn new(archive: impl Into<Arc<Archive<S>>>) -> Result<SharedArchive<S>> {
        SharedArchive::with_options(archive, SharedOptions::default())
    }

    /// Shares an archive.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] if zstd does not support
    /// [`Limits::window_log`](crate::Limits::window_log).
    pub fn with_options(
        archive: impl Into<Arc<Archive<S>>>,
        options: SharedOptions,
    ) -> Result<SharedArchive<S>> {
        let archive = archive.into();
        let first = BlockReader::new(&archive)?.into_memory();
        let cache = options.cache.unwrap_or_else(|| SharedCache::new(Self::CACHE));
        let number = cache.add_archive();
        let SharedOptions { executor, verify, .. } = options;
        let idle = Mutex::new(vec![first]);
        Ok(SharedArchive { inner: Arc::new(Inner { archive, cache, number, executor, verify, idle }) })
    }

    /// The archive.
    pub fn archive(&self) -> &Arc<Archive<S>> {
        &self.inner.archive
    }

    /// The cache of decoded blocks.
    pub fn cache(&self) -> &SharedCache {
        &self.inner.cache
    }

    /// Opens the file of exactly this path. Nothing is read or decoded yet.
    ///
    /// # Errors
    ///
    /// Returns a [`PathError`] with [`Kind::BadArgument`] if the archive has no such file,
    /// [`Kind::Limit`] if the file is larger than the limit, and, if hashes are checked,
    /// [`Kind::Corrupt`] if it is empty but its hash is not that of an empty file.
    pub fn open(&self, path: &str) -> core::result::Result<OpenFile<S>, PathError> {
        let file = self.find(path)?;
        self.open_file(file).map_err(|error| PathError::new(path, error))
    }

    /// Opens a file of this archive.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] and [`Kind::Corrupt`] like [`SharedArchive::open`].
    ///
    /// # Panics
    ///
    /// Panics if the archive has no file of that index: `file` must come from this archive.
    pub fn open_file(&self, file: File<'_>) -> Result<OpenFile<S>> {
        OpenFile::new(Arc::clone(&self.inner), file)
    }

    /// Reads a whole file. Blocks of files up to a chunk go through the cache. Blocks of larger
    /// files are decoded directly into the result, unless they are cached. Stored blocks of a local
    /// source are read into the result, too.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`SharedArchive::open`] and [`Reader::read`](crate::Reader::read).
    pub fn read(&self, path: &str) -> core::result::Result<Vec<u8>, PathError> {
        let file = self.find(path)?;
        self.read_file(file).map_err(|error| PathError::new(path, error))
    }

    /// Reads a whole file of this archive, as [`SharedArchive::read`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Reader::read`](crate::Reader::read).
    pub fn read_file(&self, file: File<'_>) -> Result<Vec<u8>> {
        let inner = &*self.inner;
        read_whole(&inner.archive, file, inner.verify, |piece, out| inner.fill(file, piece, out))
    }

    /// Reads a whole file of this archive into the start of `out` and returns its length, as
    /// [`SharedArchive::read`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Reader::read_into`](crate::Reader::read_into).
    pub fn read_into(&self, file: File<'_>, out: &mut [u8]) -> Result<usize> {
        let inner = &*self.inner;
        read_whole_into(&inner.archive, file, inner.verify, out, |piece, out| inner.fill(file, piece, out))
    }

    /// Selects files to load, prefetch or pin together.
    ///
    /// # Errors
    ///
    /// Returns a [`PathError`] with [`Kind::BadArgument`], which names the first path that the
    /// archive does not have.
    pub fn batch<P: AsRef<str>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> core::result::Result<Batch<S>, PathError> {
        let indices = paths.into_iter().map(|path| self.find(path.as_ref()).map(|file| file.index() as u32));
        Ok(Batch::new(self.clone(), indices.collect::<core::result::Result<_, _>>()?))
    }

    /// Selects files of this archive by index, as [`SharedArchive::batch`] does by path.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] for an index beyond the archive's files.
    pub fn batch_of(&self, indices: impl IntoIterator<Item = usize>) -> Result<Batch<S>> {
        let missing = Error::new(Kind::BadArgument, 0, "the archive has no file of this index");
        let check =
            |index: usize| if index < self.inner.archive.len() { Ok(index as u32) } else { Err(missing) };
        Ok(Batch::new(self.clone(), indices.into_iter().map(check).collect::<Result<_>>()?))
    }

    /// Decodes the blocks of files ahead of their use, on the executor. See [`Batch::prefetch`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`SharedArchive::batch`].
    pub fn prefetch<P: AsRef<str>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> core::result::Result<Pending<Prefetched>, PathError> {
        Ok(self.batch(paths)?.prefetch())
    }

    fn find(&self, path: &str) -> core::result::Result<File<'_>, PathError> {
        let missing = Error::new(Kind::BadArgument, 0, "the archive has no file of this path");
        self.inner.archive.find(path).ok_or_else(|| PathError::new(path, missing))
    }
}

impl<S: ReadAt> Inner<S> {
    fn key(&self, block: usize) -> Key {
        (self.number, block)
    }

    /// Calls `work` with a reader that reuses the memory of earlier readers.
    fn with_reader<T>(&self, work: impl FnOnce(&mut BlockReader<'_, S>) -> Result<T>) -> Result<T> {
        let memory = lock(&self.idle).pop();
        let mut reader = match memory {
            Some(memory) => BlockReader::with_memory(&self.archive, memory),
            None => BlockReader::new(&self.archive)?,
        };
        let result = work(&mut reader);
        let mut idle = lock(&self.idle);
        if idle.len() < SharedArchive::<S>::IDLE_DECODERS {
            idle.push(reader.into_memory());
        }
        result
    }

    /// Returns the content of a block that files refer to, from the cache or decoded.
    fn block(&self, block: usize, purpose: Purpose) -> Result<Arc<Content>> {
        let (layout, limits) = (self.archive.layout(), self.archive.limits());
        let (len, at) = (layout.content(block), self.archive.block_offset(block));
        let too_large = Error::new(Kind::Limit, at, "a block larger than the limit");
        let len = usize::try_from(len).ok().filter(|_| len <= limits.block).ok_or(too_large)?;
        self.cache.get_or_decode(self.key(block), (len, at), purpose, |out| {
            self.with_reader(|reader| reader.decode(block, out, block).map(|_| ()))
        })
    }

    /// Decodes the first bytes of a damaged block, up to `to`, without the cache.
    fn prefix(&self, block: usize, to: u64) -> Result<Vec<u8>> {
        let at = self.archive.block_offset(block);
        let mut out = Vec::new();
        // Decoding the whole block was tried before, so its length is within the limit.
        crate::block::memory::grow(&mut out, to as usize, at)?;
        self.with_reader(|reader| reader.decode_prefix(block, &mut out))?;
        Ok(out)
    }

    /// Whether a block is read from the source directly into the caller's memory, since that costs
    /// no more than a copy from the cache.
    fn is_direct(&self, block: usize) -> bool {
        is_stored(&self.archive, block) && self.archive.source().coalesce_limit() == 0
    }

    /// Reads a piece of a file whose hash is checked at the end.
    fn fill(&self, file: File<'_>, piece: &Piece, out: &mut [u8]) -> Result<()> {
        if self.is_direct(piece.block) {
            return self.with_reader(|reader| reader.read_stored(piece.block, piece.from, out));
        }
        if file.is_chunked() && piece.is_whole_block(&self.archive) {
            if let Some(content) = self.cache.get(self.key(piece.block)) {
                out.copy_from_slice(content.bytes());
                drop(content);
                self.cache.release();
                return Ok(());
            }
            return self
                .with_reader(|reader| reader.decode(piece.block, out, file.blocks().end - 1).map(|_| ()));
        }
        let result = match self.block(piece.block, Purpose::Read) {
            Ok(content) => {
                out.copy_from_slice(&content.bytes()[piece.range()]);
                Ok(())
            }
            // Damage after the file does not matter if the hash is checked.
            Err(error) if error.kind == Kind::Corrupt && self.verify && self.archive.has_hashes() => {
                let prefix = self.prefix(piece.block, piece.to).map_err(|_| error)?;
                out.copy_from_slice(&prefix[piece.range()]);
                Ok(())
            }
            Err(error) => Err(error),
        };
        self.cache.release();
        result
    }
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use super::*;
    use crate::pack::{Builder, PackOptions};

    #[test]
    fn the_last_user_of_a_block_beyond_the_budget_evicts_it() {
        let content: Vec<u8> = (0..50_000_u32).map(|i| (i % 251) as u8).collect();
        let options = PackOptions { chunk: 4096, solid_limit: 2047, ..PackOptions::default() };
        let mut builder = Builder::new(options).unwrap();
        builder.add_bytes("a", content.clone()).unwrap();
        let archive = Archive::open(builder.to_bytes().unwrap().0).unwrap();
        let options = SharedOptions::new().cache(&SharedCache::new(0));
        let shared = SharedArchive::with_options(archive, options).unwrap();
        let reads: [&dyn Fn() -> Vec<u8>; 2] = [&|| shared.read("a").unwrap(), &|| {
            let loaded = shared.batch(["a"]).unwrap().read_many().unwrap().wait();
            loaded.contents.into_iter().next().flatten().unwrap()
        }];
        for read in reads {
            // As after a read whose block was pinned by the next one.
            drop(shared.inner.block(0, Purpose::Read).unwrap());
            assert_eq!(shared.cache().counters().blocks, 1);
            assert!(read() == content);
            assert_eq!(shared.cache().counters().blocks, 0);
        }
    }
}

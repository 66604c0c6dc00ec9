//! Loads, delivers, prefetches or pins many files of a shared archive at once.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use linerate_core::{Error, Kind, Result, lock};
use linerate_io::ReadAt;

use super::cache::{Content, Purpose, charge};
use super::executor::Executor;
use super::pending::Pending;
use super::{Inner, SharedArchive};
use crate::read::archive::File;
use crate::read::destination::{Destination, Progress};
use crate::read::loader::{Delivered, Loaded, Memory, delivered};
use crate::read::parallel::{Job, Outcome, Run};

/// Files of a [`SharedArchive`] that are read together, on its [`Executor`]. The result is
/// [`Pending`]: a thread can wait for it, a task can await it, and the work can be cancelled.
pub struct Batch<S> {
    shared: SharedArchive<S>,
    indices: Vec<u32>,
    on_progress: Option<SharedProgress>,
}

type SharedProgress = Arc<dyn Fn(&Progress) -> bool + Send + Sync>;

/// Result of prefetching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prefetched {
    /// Blocks that were decoded into the cache, including those that were cached or being decoded
    /// before.
    pub blocks: u64,
    /// Blocks left out, because the cache is full of prefetched blocks, the block exceeds a limit,
    /// or memory runs out.
    pub skipped: u64,
    /// Blocks that are damaged or could not be read. Reading them returns the error.
    pub failed: u64,
    /// Whether the work was stopped before all blocks were tried.
    pub stopped: bool,
}

/// Blocks that stay in the cache until this is dropped.
pub struct Pinned {
    held: Vec<Arc<Content>>,
    /// Counts of the blocks. Those that were skipped or failed are not pinned.
    pub report: Prefetched,
    /// Evicts the blocks above the cache's budget, once `held` is empty.
    release: Box<dyn Fn() + Send + Sync>,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.held.clear();
        (self.release)();
    }
}

impl<S: ReadAt + 'static> Batch<S> {
    pub(super) fn new(shared: SharedArchive<S>, indices: Vec<u32>) -> Batch<S> {
        Batch { shared, indices, on_progress: None }
    }

    /// Calls `on_progress` after each block, from the thread that worked on it; `false` stops the
    /// work. For prefetching and pinning, the fields of [`Progress`] count blocks instead of files.
    pub fn on_progress(mut self, on_progress: impl Fn(&Progress) -> bool + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(on_progress));
        self
    }

    /// Reads the files into new memory. Each block that is not cached is decoded once, and not
    /// added to the cache.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if the files exceed the limits of the archive. Errors of single
    /// files are in [`Loaded::failures`].
    pub fn read_many(self) -> Result<Pending<Loaded>> {
        let memory = Arc::new(Memory::new(&self.files()));
        let result = Arc::clone(&memory);
        self.run(memory, move |files, outcome| result.take_loaded(files, outcome))
    }

    /// Passes the files to a destination, numbered in the order of the batch. Each block that is
    /// not cached is decoded once, and not added to the cache.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if the files exceed the limits of the archive. Errors of single
    /// files are in [`Delivered::failures`].
    pub fn deliver(self, destination: Arc<dyn Destination>) -> Result<Pending<Delivered>> {
        self.run(destination, delivered)
    }

    /// Decodes the blocks of the files into the cache, in the order of the batch, until prefetched
    /// blocks that nobody has read yet fill its budget. Such blocks are evicted after all others.
    /// Stored blocks are left out unless the source is remote: reading them bypasses the cache.
    pub fn prefetch(self) -> Pending<Prefetched> {
        let ahead = Ahead::new(self, false);
        let count = ahead.blocks.len();
        let executor = ahead.inner.executor.clone();
        let ahead = Arc::new(ahead);
        let report = Arc::clone(&ahead);
        executor.run(count, move |stop| ahead.work(stop), move || report.report())
    }

    /// Decodes the blocks of the files into the cache, where they stay until [`Pinned`] is dropped.
    /// Stored blocks are left out unless the source is remote: reading them bypasses the cache. So
    /// are blocks for which prefetched blocks leave no room.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if the blocks take more than the cache's budget.
    pub fn pin(self) -> Result<Pending<Pinned>> {
        let ahead = Ahead::new(self, true);
        if ahead.total.saturating_add(charge(0) * ahead.blocks.len() as u64) > ahead.inner.cache.budget() {
            return Err(Error::new(Kind::Limit, 0, "the blocks to be pinned are larger than the cache"));
        }
        let (count, executor) = (ahead.blocks.len(), ahead.inner.executor.clone());
        let ahead = Arc::new(ahead);
        let pinned = Arc::clone(&ahead);
        let finish = move || {
            let held = core::mem::take(&mut *lock(&pinned.held));
            let cache = pinned.inner.cache.clone();
            Pinned { held, report: pinned.report(), release: Box::new(move || cache.release()) }
        };
        Ok(executor.run(count, move |stop| ahead.work(stop), finish))
    }

    fn files(&self) -> Vec<File<'_>> {
        files(&self.shared.inner, &self.indices)
    }

    /// Reads the files into `destination` on the executor. `finish` makes the result.
    fn run<T: Send + 'static>(
        self,
        destination: Arc<dyn Destination>,
        finish: impl FnOnce(&[File<'_>], Outcome) -> T + Send + 'static,
    ) -> Result<Pending<T>> {
        let inner = Arc::clone(&self.shared.inner);
        let executor: Executor = inner.executor.clone();
        let parallelism = executor.parallelism();
        let run = Run::new(&inner.archive, &self.files(), &*destination, inner.verify, parallelism)?;
        let threads = run.threads;
        let owned = Arc::new(OwnedRun { batch: self, destination, run });
        let last = Arc::clone(&owned);
        let work = move |stop: &AtomicBool| {
            owned.with_job(stop, |job| {
                // This cannot fail: the options of the decoder were checked when the archive was
                // shared.
                if let Ok(reader) = job.reader() {
                    job.work(reader);
                }
            });
        };
        let finish = move || {
            let mut outcome = None;
            last.with_job(&AtomicBool::new(false), |job| outcome = Some(job.finish()));
            finish(&last.batch.files(), outcome.unwrap_or_default())
        };
        Ok(executor.run(threads, work, finish))
    }
}

/// Returns the files of these indices.
fn files<'i, S: ReadAt>(inner: &'i Inner<S>, indices: &[u32]) -> Vec<File<'i>> {
    let file = |index: &u32| inner.archive.get(*index as usize).expect("checked when the batch was made");
    indices.iter().map(file).collect()
}

/// A run together with everything that it borrows, so that workers can share it in an `Arc`.
struct OwnedRun<S> {
    batch: Batch<S>,
    destination: Arc<dyn Destination>,
    run: Run,
}

impl<S: ReadAt + 'static> OwnedRun<S> {
    /// Calls `work` with a [`Job`] of this run. Setting `stop` stops the job when it has finished a
    /// block.
    fn with_job(&self, stop: &AtomicBool, work: impl FnOnce(&Job<'_, S>)) {
        let inner = &*self.batch.shared.inner;
        let on_progress = self.batch.on_progress.as_deref();
        let progress = |progress: &Progress| {
            on_progress.is_none_or(|on_progress| on_progress(progress)) && !stop.load(Ordering::Relaxed)
        };
        let cached = |block: usize, take: &mut dyn FnMut(&[u8])| match inner.cache.get(inner.key(block)) {
            Some(content) => {
                take(content.bytes());
                drop(content);
                inner.cache.release();
                true
            }
            None => false,
        };
        let job = Job {
            archive: &*inner.archive,
            files: &self.batch.files(),
            destination: &*self.destination,
            progress: Some(&progress),
            cached: Some(&cached),
            run: &self.run,
        };
        work(&job);
    }
}

/// Prefetching or pinning: blocks that workers decode into the cache.
struct Ahead<S> {
    inner: Arc<Inner<S>>,
    on_progress: Option<SharedProgress>,
    /// The blocks without repeats, in the order of the files.
    blocks: Vec<usize>,
    /// Bytes of content in all of them.
    total: u64,
    /// The index in `blocks` of the next block to decode.
    next: AtomicUsize,
    state: Mutex<(Prefetched, Progress)>,
    /// Whether the blocks are pinned.
    pins: bool,
    /// The blocks pinned so far.
    held: Mutex<Vec<Arc<Content>>>,
}

impl<S: ReadAt + 'static> Ahead<S> {
    fn new(batch: Batch<S>, pins: bool) -> Ahead<S> {
        let inner = Arc::clone(&batch.shared.inner);
        let mut seen = HashSet::new();
        let blocks = batch.files().into_iter().flat_map(|file| file.blocks());
        let blocks: Vec<usize> =
            blocks.filter(|block| !inner.is_direct(*block) && seen.insert(*block)).collect();
        let total = blocks.iter().map(|block| inner.archive.layout().content(*block)).sum();
        let progress =
            Progress { total_files: blocks.len() as u64, total_bytes: total, ..Progress::default() };
        Ahead {
            inner,
            on_progress: batch.on_progress,
            blocks,
            total,
            next: AtomicUsize::new(0),
            state: Mutex::new((Prefetched::default(), progress)),
            pins,
            held: Mutex::default(),
        }
    }

    /// Decodes blocks until none is left or `stop` is set.
    fn work(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let Some(&block) = self.blocks.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return };
            let is_ready = !self.pins && self.inner.cache.has(self.inner.key(block));
            let result =
                if is_ready { Ok(None) } else { self.inner.block(block, Purpose::Prefetch).map(Some) };
            let progress = self.count(block, &result);
            if let (true, Ok(Some(content))) = (self.pins, result) {
                lock(&self.held).push(content);
            }
            self.inner.cache.release();
            if self.on_progress.as_ref().is_some_and(|on_progress| !on_progress(&progress)) {
                stop.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Counts a block by its result, and returns the progress so far.
    fn count(&self, block: usize, result: &Result<Option<Arc<Content>>>) -> Progress {
        let mut state = lock(&self.state);
        let (report, progress) = &mut *state;
        match result {
            Ok(_) => report.blocks += 1,
            Err(error) if error.kind == Kind::Limit => report.skipped += 1,
            Err(_) => report.failed += 1,
        }
        progress.files += 1;
        progress.bytes += self.inner.archive.layout().content(block);
        *progress
    }

    fn report(&self) -> Prefetched {
        let (report, progress) = *lock(&self.state);
        Prefetched { stopped: progress.files < progress.total_files, ..report }
    }
}

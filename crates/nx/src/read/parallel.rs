//! Reads many files in parallel. Threads take blocks from one queue. Each thread decodes its block
//! once into a buffer of its own, hashes it there, and passes the files in it to a destination.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use linerate_core::{Error, Kind, Result, lock};
use linerate_io::ReadAt;

use crate::block::decode::Ending;
use crate::error::{FileError, PathError, is_full};
use crate::format::hash::ContentHasher;
use crate::read::archive::{Archive, File};
use crate::read::block_reader::{BlockReader, BufferSizes};
use crate::read::destination::{Destination, OnProgress, Progress, ProgressFn};
use crate::read::memory::{buffer_sizes, check_limits, within_memory};
use crate::read::queue::{Queue, Slice, Task, WorkerState};

/// Options of [`read_files`]. By default one thread reads, and hashes are checked.
pub(crate) struct ReadOptions<'a> {
    pub(crate) threads: usize,
    pub(crate) verify: bool,
    pub(crate) on_progress: Option<OnProgress<'a>>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        ReadOptions { threads: 1, verify: true, on_progress: None }
    }
}

/// Passes the content of a block to a function if it is cached, and returns whether it is.
pub(crate) type CachedFn<'w> = &'w (dyn Fn(usize, &mut dyn FnMut(&[u8])) -> bool + Sync);

/// Result of a [`Run`].
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Failed files, given by their index in the list of files.
    pub(crate) failed: Vec<(usize, FileError)>,
    /// Skipped files, given in the same way.
    pub(crate) skipped: Vec<usize>,
    /// Blocks whose ending is not [`Ending::Clean`].
    pub(crate) endings: Vec<(usize, Ending)>,
    pub(crate) done: Progress,
    /// Whether the progress callback or a full disk stopped the work, a thread panicked, or some
    /// files were not tried.
    pub(crate) stopped: bool,
}

impl Outcome {
    /// Takes the errors of failed files, sorted by path. `files` are all files that were read.
    pub(crate) fn take_failures(&mut self, files: &[File<'_>]) -> Vec<PathError> {
        let failed = core::mem::take(&mut self.failed).into_iter();
        let mut failures: Vec<PathError> =
            failed.map(|(number, source)| PathError::new(files[number].path(), source)).collect();
        failures.sort_by(|a, b| a.path.cmp(&b.path));
        failures
    }
}

/// Reads `files` into `destination`.
///
/// # Errors
///
/// Returns [`Kind::Limit`] if the files exceed the limits of the archive, and [`Kind::BadArgument`]
/// if zstd does not support [`Limits::window_log`](crate::Limits::window_log).
pub(crate) fn read_files<S: ReadAt>(
    archive: &Archive<S>,
    files: &[File<'_>],
    destination: &dyn Destination,
    options: &ReadOptions<'_>,
) -> Result<Outcome> {
    let run = Run::new(archive, files, destination, options.verify, options.threads)?;
    let progress = options.on_progress.as_deref().map(|f| f as _);
    let job = Job { archive, files, destination, progress, cached: None, run: &run };
    let mut workers = Vec::with_capacity(run.threads);
    for _ in 0..run.threads {
        workers.push(job.reader()?);
    }
    std::thread::scope(|scope| {
        let first = workers.pop();
        for worker in workers {
            // If the system cannot start the thread, as on WASI, the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || job.work(worker));
        }
        // The calling thread is one of the workers.
        first.into_iter().for_each(|worker| job.work(worker));
    });
    Ok(job.finish())
}

/// The state that the workers of one call share. It borrows nothing, so that the workers can be
/// threads of an executor, which outlive the call.
pub(crate) struct Run {
    queue: Queue,
    sizes: BufferSizes,
    /// Number of threads that can work: at most the wanted number, at most one per block, and at
    /// most as many as have buffers within [`Limits::memory`](crate::Limits::memory), but at least
    /// one.
    pub(crate) threads: usize,
    verify: bool,
    /// The hashes of the chunked files, in the order of [`Queue::runs`].
    hashes: Vec<OrderedHash>,
    outcome: Mutex<Outcome>,
    stop: AtomicBool,
    /// The index of the next file that is checked for being empty.
    next_empty: AtomicU64,
}

impl Run {
    /// Prepares to read `files` into `destination` with at most `threads` threads.
    pub(crate) fn new<S: ReadAt>(
        archive: &Archive<S>,
        files: &[File<'_>],
        destination: &dyn Destination,
        verify: bool,
        threads: usize,
    ) -> Result<Run> {
        let total_bytes = check_limits(archive, files)?;
        // If requests are expensive, skipped files are left out before the queue decides which
        // blocks to read in one request. Otherwise the workers leave them out.
        let is_remote = archive.source().coalesce_limit() > 0;
        let is_skipped = |&number: &usize| {
            is_remote && files[number].size() > 0 && destination.skips(number).is_ok_and(|skips| skips)
        };
        let (skipped, wanted): (Vec<usize>, Vec<usize>) = (0..files.len()).partition(is_skipped);
        let queue = Queue::new(archive, wanted.iter().map(|&number| (number, files[number])));
        let sizes = buffer_sizes(archive, queue.blocks());
        let threads = within_memory(archive, sizes, threads.min(queue.len()));
        let (files_done, total_files) = (skipped.len() as u64, files.len() as u64);
        let done = Progress { files: files_done, total_files, total_bytes, ..Progress::default() };
        Ok(Run {
            sizes,
            threads,
            verify: verify && archive.has_hashes(),
            hashes: queue.runs().iter().map(|_| OrderedHash::new(archive)).collect(),
            outcome: Mutex::new(Outcome { done, skipped, ..Outcome::default() }),
            stop: AtomicBool::new(false),
            next_empty: AtomicU64::new(0),
            queue: queue.announced_for(threads),
        })
    }
}

/// Tells the source that a block will be read.
fn read_ahead<S: ReadAt>(archive: &Archive<S>, block: usize) {
    let compressed = archive.toc().blocks[block].compressed;
    archive.source().will_read(archive.layout().offset(block), compressed.into());
}

/// The hash of a chunked file. Threads decode its blocks in parallel and hash them in order: each
/// thread waits until the blocks before its own are hashed.
struct OrderedHash {
    state: Mutex<HashState>,
    changed: Condvar,
}

struct HashState {
    /// Number of blocks done. With hashing they are the first blocks of the file, else any.
    done: u32,
    hasher: ContentHasher,
    /// Whether the destination was asked to skip the file.
    asked: bool,
    /// Whether the file is complete, has failed or is skipped.
    ended: bool,
}

impl OrderedHash {
    fn new<S: ReadAt>(archive: &Archive<S>) -> OrderedHash {
        let hasher = archive.hash_kind().hasher();
        OrderedHash {
            state: Mutex::new(HashState { done: 0, hasher, asked: false, ended: false }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashState> {
        lock(&self.state)
    }
}

/// A [`Run`] together with everything that its workers borrow.
pub(crate) struct Job<'j, S> {
    pub(crate) archive: &'j Archive<S>,
    pub(crate) files: &'j [File<'j>],
    pub(crate) destination: &'j dyn Destination,
    pub(crate) progress: Option<ProgressFn<'j>>,
    pub(crate) cached: Option<CachedFn<'j>>,
    pub(crate) run: &'j Run,
}

/// Stops all threads if one panics, since others may wait for its block.
struct StopOnPanic<'s>(&'s AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl<'j, S: ReadAt> Job<'j, S> {
    /// Creates the reader of one worker.
    pub(crate) fn reader(&self) -> Result<BlockReader<'j, S>> {
        BlockReader::with_buffer_sizes(self.archive, self.run.sizes)
    }

    /// Works until no block is left, or the run is stopped.
    pub(crate) fn work(&self, mut blocks: BlockReader<'_, S>) {
        let _guard = StopOnPanic(&self.run.stop);
        let (mut buffer, mut worker) = (Vec::new(), WorkerState::default());
        let (mut batch, mut ahead, mut was_wanted) = (Vec::new(), Vec::new(), true);
        while !self.is_stopped() && self.run.queue.take(&mut worker, &mut batch, &mut ahead) {
            // The blocks after an unwanted one are often unwanted too, so they are not announced.
            // Those that are wanted are read without a hint.
            ahead.drain(..).filter(|_| was_wanted).for_each(|block| read_ahead(self.archive, block));
            batch.retain_mut(|task| self.is_wanted(task));
            was_wanted = !batch.is_empty();
            if !was_wanted {
                self.report_progress();
            }
            let until = batch.last().map_or(0, |task| task.block);
            for task in batch.drain(..) {
                if self.is_stopped() {
                    break;
                }
                self.block(&mut blocks, &mut buffer, &task, until);
                self.report_progress();
            }
        }
        self.empty_files();
    }

    /// Returns the result. Call it once all workers have ended.
    pub(crate) fn finish(&self) -> Outcome {
        self.discard_runs();
        let mut outcome = core::mem::take(&mut *self.outcome());
        // Files also stay undone if a worker never ran.
        outcome.stopped = self.is_stopped() || outcome.done.files < outcome.done.total_files;
        outcome.failed.sort_unstable_by_key(|(file, _)| *file);
        outcome.skipped.sort_unstable();
        outcome.endings.sort_unstable_by_key(|(block, _)| *block);
        outcome
    }

    fn is_stopped(&self) -> bool {
        self.run.stop.load(Ordering::Relaxed)
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        lock(&self.run.outcome)
    }

    fn report_progress(&self) {
        let Some(progress) = self.progress else { return };
        let done = self.outcome().done;
        if !progress(&done) {
            self.run.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Writes the empty files, which are in no block. All threads share this work.
    fn empty_files(&self) {
        while !self.is_stopped() {
            let next = self.run.next_empty.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(file) = self.files.get(next) else { return };
            if file.size() == 0 {
                self.complete_file(next, &[]);
            }
        }
    }

    /// Removes from a task the chunked files that have ended or are skipped, and the first of the
    /// other files, up to one that is not skipped. Returns whether a file still needs the block.
    fn is_wanted(&self, task: &mut Task<'_>) -> bool {
        task.runs.retain(|&run| !self.has_ended(run));
        while let Some((first, others)) = task.slices.split_first() {
            let number = first.file as usize;
            // A file for which this fails counts as not skipped: `complete_file` asks again, and
            // records the error.
            if self.is_stopped() || !self.destination.skips(number).is_ok_and(|skips| skips) {
                break;
            }
            self.skip(number);
            task.slices = others;
        }
        !(task.slices.is_empty() && task.runs.is_empty())
    }

    /// Returns whether a chunked file has ended. The first call for a file asks the destination,
    /// and ends the file if it is skipped or the question fails.
    fn has_ended(&self, run: u32) -> bool {
        let mut state = self.run.hashes[run as usize].lock();
        if core::mem::replace(&mut state.asked, true) {
            return state.ended;
        }
        // Other threads wait for the answer before they write to the file.
        let number = self.run.queue.runs()[run as usize].file as usize;
        let skips = self.destination.skips(number);
        state.ended = matches!(skips, Ok(true));
        drop(state);
        match skips {
            Ok(true) => self.skip(number),
            Ok(false) => return false,
            Err(error) => self.end_run(run, Err(error)),
        }
        true
    }

    /// Decodes a block and passes its content on. The blocks up to `until` are decoded next, so
    /// they may be read in the same request.
    fn block(&self, blocks: &mut BlockReader<'_, S>, buffer: &mut Vec<u8>, task: &Task<'_>, until: usize) {
        let block = task.block;
        if self.cached.is_some_and(|cached| cached(block, &mut |content| self.distribute(task, content))) {
            return;
        }
        if let Some((content, ending)) = blocks.stored_view(block) {
            self.record_ending(block, ending);
            return self.distribute(task, content);
        }
        let decoded = blocks.buffer_for(block, buffer).and_then(|content| {
            let ending = blocks.decode(block, content, until)?;
            Ok((&*content, ending))
        });
        match decoded {
            Ok((content, ending)) => {
                self.record_ending(block, ending);
                self.distribute(task, content);
            }
            Err(error) => {
                task.runs.iter().for_each(|&run| self.end_run(run, Err(error.into())));
                task.slices.iter().for_each(|slice| self.recover(slice, buffer, error));
            }
        }
    }

    fn record_ending(&self, block: usize, ending: Ending) {
        if ending != Ending::Clean {
            self.outcome().endings.push((block, ending));
        }
    }

    /// Writes the files of a block, or their chunks in it.
    fn distribute(&self, task: &Task<'_>, content: &[u8]) {
        task.runs.iter().for_each(|&run| self.chunk(run, task.block, content));
        for slice in task.slices {
            if self.is_stopped() {
                return;
            }
            self.complete_file(slice.file as usize, &content[slice.from..slice.from + slice.len]);
        }
    }

    /// Writes a file of a damaged block if it lies in the part that was decoded before the damage.
    /// The hash of the file shows whether it does, whatever the rest of the buffer contains. If
    /// hashes are not checked, the file fails.
    fn recover(&self, slice: &Slice, buffer: &[u8], error: Error) {
        let number = slice.file as usize;
        let bytes = buffer.get(slice.from..slice.from + slice.len);
        let is_intact =
            |bytes: &&[u8]| self.archive.hash_kind().hash_bytes(bytes) == self.files[number].entry().hash;
        match bytes.filter(|bytes| self.run.verify && error.kind == Kind::Corrupt && is_intact(bytes)) {
            Some(bytes) => self.complete_file(number, bytes),
            None => self.fail(number, error.into()),
        }
    }

    /// Checks and writes a file that is empty or lies in one block.
    fn complete_file(&self, number: usize, bytes: &[u8]) {
        let file = &self.files[number];
        let result = match self.destination.skips(number) {
            Ok(true) => return self.skip(number),
            Ok(false) if self.run.verify => {
                file.check_hash(self.archive.hash_kind().hash_bytes(bytes)).map_err(FileError::from)
            }
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        match result.and_then(|()| self.destination.write_file(number, bytes)) {
            Ok(()) => self.count(1, bytes.len()),
            Err(error) => self.fail(number, error),
        }
    }

    /// Writes and hashes one chunk of a chunked file.
    fn chunk(&self, run: u32, block: usize, content: &[u8]) {
        let blocks = self.run.queue.runs()[run as usize];
        let (number, index) = (blocks.file as usize, block as u32 - blocks.first);
        let size = self.files[number].size();
        let chunk = self.archive.header().chunk.bytes();
        let offset = u64::from(index) * chunk;
        let bytes = &content[..(size - offset).min(chunk) as usize];
        // The file may have ended while the block was decoded. It may still end while the range is
        // written.
        if self.run.hashes[run as usize].lock().ended {
            return;
        }
        if let Err(error) = self.destination.write_range(number, offset, bytes) {
            return self.end_run(run, Err(error));
        }
        let hash = &self.run.hashes[run as usize];
        let mut state = hash.lock();
        // There is no deadlock: the block before was taken earlier, and its thread waits only for
        // still earlier blocks.
        while self.run.verify && !state.ended && state.done != index {
            let waited = hash.changed.wait_timeout(state, Duration::from_millis(100));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if self.is_stopped() && state.done != index {
                return;
            }
        }
        if state.ended {
            return;
        }
        if self.run.verify {
            state.hasher.update(bytes);
        }
        state.done += 1;
        hash.changed.notify_all();
        let last = state.done == blocks.end - blocks.first;
        let hash = (last && self.run.verify).then(|| state.hasher.finish());
        drop(state);
        self.count(0, bytes.len());
        if last {
            let checked = hash.map_or(Ok(()), |hash| self.files[number].check_hash(hash));
            self.end_run(
                run,
                checked.map_err(FileError::from).and_then(|()| self.destination.commit(number)),
            );
        }
    }

    /// Marks a chunked file as ended. Returns false if it had ended already.
    fn mark_ended(&self, run: u32) -> bool {
        let hash = &self.run.hashes[run as usize];
        let was = core::mem::replace(&mut hash.lock().ended, true);
        hash.changed.notify_all();
        !was
    }

    /// Discards the chunked files for which the destination was asked and that have not ended.
    fn discard_runs(&self) {
        for run in 0..self.run.hashes.len() as u32 {
            let was_begun = self.run.hashes[run as usize].lock().asked;
            if was_begun && self.mark_ended(run) {
                self.destination.discard(self.run.queue.runs()[run as usize].file as usize);
            }
        }
    }

    /// Ends a chunked file: counts it, or discards it and records its error. Does nothing if it has
    /// ended already.
    fn end_run(&self, run: u32, result: core::result::Result<(), FileError>) {
        if !self.mark_ended(run) {
            return;
        }
        let number = self.run.queue.runs()[run as usize].file as usize;
        match result {
            Ok(()) => self.count(1, 0),
            Err(error) => {
                self.destination.discard(number);
                self.fail(number, error);
            }
        }
    }

    fn fail(&self, number: usize, error: FileError) {
        if matches!(&error, FileError::Output(e) if is_full(e)) {
            // Every other file would fail too.
            self.run.stop.store(true, Ordering::Relaxed);
        }
        let mut outcome = self.outcome();
        outcome.failed.push((number, error));
        outcome.done.files += 1;
    }

    fn skip(&self, number: usize) {
        let mut outcome = self.outcome();
        outcome.skipped.push(number);
        outcome.done.files += 1;
    }

    fn count(&self, files: u64, bytes: usize) {
        let mut outcome = self.outcome();
        outcome.done.files += files;
        outcome.done.bytes += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::FileSource;

    /// A destination that counts calls. After `capacity` writes, writing fails as on a full disk.
    struct Counter {
        capacity: AtomicUsize,
        finished: AtomicUsize,
        discarded: AtomicUsize,
        skipped: Option<usize>,
    }

    impl Counter {
        fn new(capacity: usize) -> Counter {
            let none = || AtomicUsize::new(0);
            Counter {
                capacity: AtomicUsize::new(capacity),
                finished: none(),
                discarded: none(),
                skipped: None,
            }
        }

        #[allow(deprecated, reason = "`try_update`, the new name, is younger than Rust 1.89")]
        fn take(&self) -> core::result::Result<(), FileError> {
            let left = self.capacity.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            left.map(|_| ()).map_err(|_| io::Error::from(io::ErrorKind::StorageFull).into())
        }
    }

    impl Destination for Counter {
        fn write_file(&self, file: usize, _bytes: &[u8]) -> core::result::Result<(), FileError> {
            assert_ne!(Some(file), self.skipped);
            self.take()?;
            self.finished.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        fn write_range(
            &self,
            file: usize,
            _offset: u64,
            _bytes: &[u8],
        ) -> core::result::Result<(), FileError> {
            assert_ne!(Some(file), self.skipped);
            self.take()
        }
        fn commit(&self, _file: usize) -> core::result::Result<(), FileError> {
            self.finished.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        fn discard(&self, _file: usize) {
            self.discarded.fetch_add(1, Ordering::Relaxed);
        }
        fn skips(&self, file: usize) -> core::result::Result<bool, FileError> {
            Ok(Some(file) == self.skipped)
        }
    }

    /// A destination that counts for each file how often it is asked whether to skip it.
    struct Asked {
        counts: Vec<AtomicUsize>,
        skips: bool,
    }

    impl Destination for Asked {
        fn write_file(&self, _file: usize, _bytes: &[u8]) -> core::result::Result<(), FileError> {
            Ok(())
        }
        fn write_range(
            &self,
            _file: usize,
            _offset: u64,
            _bytes: &[u8],
        ) -> core::result::Result<(), FileError> {
            Ok(())
        }
        fn skips(&self, file: usize) -> core::result::Result<bool, FileError> {
            self.counts[file].fetch_add(1, Ordering::Relaxed);
            Ok(self.skips)
        }
    }

    fn archive() -> Archive<FileSource> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/nx/edges-32k.nx");
        Archive::open(FileSource::open(path).unwrap()).unwrap()
    }

    fn go(archive: &Archive<FileSource>, counter: &Counter, threads: usize) -> Outcome {
        let files: Vec<_> = archive.files().collect();
        read_files(archive, &files, counter, &ReadOptions { threads, ..ReadOptions::default() }).unwrap()
    }

    #[test]
    fn every_file_is_finished_once_with_any_number_of_threads() {
        let archive = archive();
        for threads in [1, 2, 5] {
            let counter = Counter::new(usize::MAX);
            let outcome = go(&archive, &counter, threads);
            assert_eq!(counter.finished.into_inner(), archive.len());
            assert_eq!(counter.discarded.into_inner(), 0);
            assert!(outcome.failed.is_empty() && !outcome.stopped);
            assert_eq!(outcome.done.files, archive.len() as u64);
            assert_eq!(outcome.done.bytes, outcome.done.total_bytes);
        }
    }

    #[test]
    fn full_disk_stops_the_work_and_discards_incomplete_files() {
        let archive = archive();
        for capacity in [0, 1, 7, 20] {
            let counter = Counter::new(capacity);
            let outcome = go(&archive, &counter, 3);
            assert!(outcome.stopped);
            assert!(!outcome.failed.is_empty() && outcome.failed.len() <= 3 + archive.len() / 2);
            assert!(outcome.failed.iter().all(|(_, error)| error.to_string().contains("disk is full")));
            assert!(counter.finished.into_inner() < archive.len());
            assert!(capacity > 0 || counter.discarded.into_inner() > 0);
        }
    }

    #[test]
    fn skipped_files_are_not_written() {
        let archive = archive();
        // An empty file, one in a single block, and one in several blocks.
        let chunk = archive.header().chunk.bytes();
        for wanted in [0..1, 1..chunk, chunk + 1..u64::MAX] {
            let file = archive.files().find(|file| wanted.contains(&file.size())).unwrap();
            let counter = Counter { skipped: Some(file.index()), ..Counter::new(usize::MAX) };
            let outcome = go(&archive, &counter, 2);
            assert_eq!(outcome.skipped, [file.index()]);
            assert_eq!(counter.finished.into_inner(), archive.len() - 1);
            assert_eq!(outcome.done.files, archive.len() as u64);
        }
    }

    #[test]
    fn destination_is_asked_twice_only_for_the_first_wanted_file_of_a_block() {
        let archive = archive();
        let files: Vec<_> = archive.files().collect();
        for (skips, threads) in [(false, 1), (false, 3), (true, 1), (true, 3)] {
            let asked = Asked { counts: files.iter().map(|_| AtomicUsize::new(0)).collect(), skips };
            let options = ReadOptions { threads, ..ReadOptions::default() };
            let outcome = read_files(&archive, &files, &asked, &options).unwrap();
            assert_eq!(outcome.skipped.len(), if skips { files.len() } else { 0 });
            let mut blocks = std::collections::HashSet::new();
            let mut sorted: Vec<&File<'_>> = files.iter().collect();
            sorted.sort_by_key(|file| (file.blocks().start, file.entry().block_offset, file.index()));
            for file in sorted {
                let is_small = file.size() > 0 && !file.is_chunked();
                let expected = if is_small && !skips && blocks.insert(file.blocks().start) { 2 } else { 1 };
                let count = asked.counts[file.index()].load(Ordering::Relaxed);
                assert_eq!(count, expected, "{}, {threads} threads", file.path());
            }
        }
    }

    #[test]
    fn skipping_reports_progress_and_can_be_stopped() {
        let archive = archive();
        let files: Vec<_> = archive.files().collect();
        let asked = Asked { counts: files.iter().map(|_| AtomicUsize::new(0)).collect(), skips: true };
        let reported = Mutex::new(Vec::new());
        let run = |stop_at: usize| {
            let on_progress = |progress: &Progress| {
                let mut reported = lock(&reported);
                reported.push(progress.files);
                reported.len() < stop_at
            };
            let on_progress: OnProgress<'_> = Box::new(on_progress);
            let options = ReadOptions { on_progress: Some(on_progress), ..ReadOptions::default() };
            let outcome = read_files(&archive, &files, &asked, &options).unwrap();
            (outcome, core::mem::take(&mut *lock(&reported)))
        };
        let (outcome, reported) = run(usize::MAX);
        let with_content = files.iter().filter(|file| file.size() > 0).count();
        assert!(!outcome.stopped && reported.is_sorted());
        assert_eq!(reported.last(), Some(&(with_content as u64)));
        let (outcome, reported) = run(1);
        assert!(outcome.stopped && reported.len() == 1);
        assert!(outcome.skipped.len() < with_content);
    }

    #[test]
    fn threads_are_at_least_one_and_at_most_one_per_block() {
        let archive = archive();
        let files: Vec<File<'_>> = archive.files().collect();
        let run = |wanted| Run::new(&archive, &files, &Counter::new(usize::MAX), true, wanted).unwrap();
        let fit = |wanted| run(wanted).threads;
        assert_eq!((fit(4), fit(0), fit(1_000_000)), (4, 1, run(1).queue.len()));
    }
}

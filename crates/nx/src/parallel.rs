//! Many files at once: threads take blocks from one queue, decode each once into a buffer of their
//! own, hash it there, and hand the files in it to a destination.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use linerate_core::{Error, Kind, Result};

use crate::ReadAt;
use crate::archive::{Archive, File};
use crate::block::{BlockReader, Room};
use crate::decode::Ending;
use crate::error::{FileError, is_full};
use crate::hash::ContentHasher;
use crate::queue::{Hand, Queue, Slice, Work};

/// Where files go. Files are numbered by their place in the job.
pub(crate) trait Destination: Sync {
    /// Takes a file whole.
    fn whole(&self, file: usize, bytes: &[u8]) -> core::result::Result<(), FileError>;

    /// Takes a part of a larger file. Parts come from several threads and in any order.
    fn part(&self, file: usize, offset: u64, bytes: &[u8]) -> core::result::Result<(), FileError>;

    /// All parts of the file have come and are right.
    fn finish(&self, file: usize) -> core::result::Result<(), FileError>;

    /// The file failed: no more of it will come.
    fn abandon(&self, file: usize);

    /// Whether the file is not wanted after all.
    fn declines(&self, file: usize) -> core::result::Result<bool, FileError>;
}

/// How far the work is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files that are done, failed ones included.
    pub files: u64,
    /// Bytes of content that are done.
    pub bytes: u64,
    /// Files there are.
    pub total_files: u64,
    /// Bytes there are.
    pub total_bytes: u64,
}

/// Told of progress after each block, by the thread that did it. `false` stops the work.
pub(crate) type ProgressFn<'w> = &'w (dyn Fn(&Progress) -> bool + Sync);

/// What the caller decides.
#[derive(Clone, Copy)]
pub(crate) struct RunOptions<'w> {
    pub(crate) threads: usize,
    pub(crate) verifies: bool,
    pub(crate) on_progress: Option<ProgressFn<'w>>,
}

/// What became of the work.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Files that failed, by number.
    pub(crate) failed: Vec<(usize, FileError)>,
    /// Files that the destination declined.
    pub(crate) declined: Vec<usize>,
    /// Blocks that ended otherwise than cleanly.
    pub(crate) endings: Vec<(usize, Ending)>,
    pub(crate) done: Progress,
    /// Whether the on_progress or a full disk stopped it.
    pub(crate) stopped: bool,
}

/// Checks that the archive's limits admit that many bytes of content.
pub(crate) fn admit<S: ReadAt>(archive: &Archive<S>, files: &[File<'_>]) -> Result<u64> {
    let limits = archive.limits();
    let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let large = |what| Error::new(Kind::Limit, 0, what);
    if let Some(file) = files.iter().find(|file| file.size() > limits.file) {
        return Err(Error::new(Kind::Limit, file.at(), "a file larger than the limit"));
    }
    if total > limits.total {
        return Err(large("the files are larger together than the limit"));
    }
    if total > limits.ratio_from && total / archive.source().len().max(1) >= limits.ratio {
        return Err(large("the files are larger than the archive by more than the limit"));
    }
    Ok(total)
}

/// Reads all `files` into `destination`.
pub(crate) fn run<S: ReadAt>(
    archive: &Archive<S>,
    files: &[File<'_>],
    destination: &dyn Destination,
    terms: RunOptions<'_>,
) -> Result<Outcome> {
    let total_bytes = admit(archive, files)?;
    let terms = RunOptions { verifies: terms.verifies && archive.has_hashes(), ..terms };
    // Where reading costs, nothing is read for a file that is not wanted.
    let costs = archive.source().coalesce_limit() > 0;
    let unwanted = |&number: &usize| {
        costs && files[number].size() > 0 && destination.declines(number).is_ok_and(|declines| declines)
    };
    let (declined, wanted): (Vec<usize>, Vec<usize>) = (0..files.len()).partition(unwanted);
    let queue = Queue::new(archive, wanted.iter().map(|&number| (number, files[number])));
    let room = room(archive, &queue);
    let threads = threads(archive, &queue, room, terms.threads);
    let turns = queue.runs().iter().map(|_| Turn::new(archive)).collect();
    let (files_done, total_files) = (declined.len() as u64, files.len() as u64);
    let done = Progress { files: files_done, total_files, total_bytes, ..Progress::default() };
    let job = Job {
        archive,
        files,
        destination,
        terms,
        queue: &queue,
        turns,
        outcome: Mutex::new(Outcome { done, declined, ..Outcome::default() }),
        stop: AtomicBool::new(false),
        next_empty: AtomicU64::new(0),
    };
    let mut workers = Vec::with_capacity(threads);
    for _ in 0..threads {
        workers.push(BlockReader::with_room(archive, room)?);
    }
    job.decline_runs();
    std::thread::scope(|scope| {
        let first = workers.pop();
        for worker in workers {
            scope.spawn(|| job.work(worker));
        }
        // The caller's thread is one of them.
        first.into_iter().for_each(|worker| job.work(worker));
    });
    job.abandon_runs();
    let mut outcome = job.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcome.stopped = job.stop.into_inner();
    outcome.failed.sort_unstable_by_key(|(file, _)| *file);
    outcome.declined.sort_unstable();
    outcome.endings.sort_unstable_by_key(|(block, _)| *block);
    Ok(outcome)
}

/// What the largest blocks take.
fn room<S: ReadAt>(archive: &Archive<S>, queue: &Queue) -> Room {
    let content = queue.blocks().map(|block| archive.layout().content(block)).max().unwrap_or(0);
    let packed = queue.blocks().map(|block| archive.toc().blocks[block].compressed).max().unwrap_or(0);
    Room { content, packed: u64::from(packed).max(archive.source().coalesce_limit()) }
}

/// As many threads as asked for, unless blocks are few or their buffers exceed the memory.
fn threads<S: ReadAt>(archive: &Archive<S>, queue: &Queue, room: Room, wanted: usize) -> usize {
    let each = room.content.saturating_add(room.packed).max(1);
    let fit = usize::try_from(archive.limits().memory / each).unwrap_or(usize::MAX);
    wanted.min(queue.len()).min(fit).max(1)
}

/// How far a file of several blocks is. Its blocks are hashed in turn.
struct Turn {
    state: Mutex<TurnState>,
    moved: Condvar,
}

struct TurnState {
    /// Blocks that are done, which without hashing come in any order.
    done: u32,
    hasher: ContentHasher,
    ended: bool,
}

impl Turn {
    fn new<S: ReadAt>(archive: &Archive<S>) -> Turn {
        let hasher = archive.hash_kind().hasher();
        Turn { state: Mutex::new(TurnState { done: 0, hasher, ended: false }), moved: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Job<'j, S> {
    archive: &'j Archive<S>,
    files: &'j [File<'j>],
    destination: &'j dyn Destination,
    terms: RunOptions<'j>,
    queue: &'j Queue,
    /// By the number of the run.
    turns: Vec<Turn>,
    outcome: Mutex<Outcome>,
    stop: AtomicBool,
    next_empty: AtomicU64,
}

/// Ends the work of all when one thread panics, since others may wait for its block.
struct StopOnPanic<'s>(&'s AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl<S: ReadAt> Job<'_, S> {
    fn work(&self, mut blocks: BlockReader<'_, S>) {
        let _guard = StopOnPanic(&self.stop);
        let (mut hot, mut hand, mut batch) = (Vec::new(), Hand::default(), Vec::new());
        while !self.is_stopped() && self.queue.take(&mut hand, &mut batch) {
            batch.retain_mut(|work| self.is_wanted(work));
            let until = batch.last().map_or(0, |work| work.block);
            for work in batch.drain(..) {
                if self.is_stopped() {
                    break;
                }
                self.block(&mut blocks, &mut hot, &work, until);
                self.tell();
            }
        }
        self.empty_files();
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        let Some(on_progress) = self.terms.on_progress else { return };
        let done = self.outcome().done;
        if !on_progress(&done) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Files without content, which no block stands for. Each thread takes the next one.
    fn empty_files(&self) {
        while !self.is_stopped() {
            let next = self.next_empty.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(file) = self.files.get(next) else { return };
            if file.size() == 0 {
                self.small(next, &[]);
            }
        }
    }

    /// Whether any file still needs the block. Those that do not are forgotten.
    fn is_wanted(&self, work: &mut Work<'_>) -> bool {
        work.runs.retain(|&run| !self.turn(run).lock().ended);
        !(work.slices.is_empty() && work.runs.is_empty())
    }

    /// Reads a block, and with it its neighbours up to `until` where that is worth it.
    fn block(&self, blocks: &mut BlockReader<'_, S>, hot: &mut Vec<u8>, work: &Work<'_>, until: usize) {
        let runs = &work.runs;
        if let Some((content, ending)) = blocks.stored_view(work.block) {
            self.note(work.block, ending);
            return self.content(work, runs, content);
        }
        let decoded = blocks.prepare(work.block, hot).and_then(|()| blocks.whole(work.block, hot, until));
        match decoded {
            Ok(ending) => {
                self.note(work.block, ending);
                self.content(work, runs, hot);
            }
            Err(error) => {
                runs.iter().for_each(|&run| self.end_run(run, Err(error.into())));
                work.slices.iter().for_each(|slice| self.salvage(slice, hot, error));
            }
        }
    }

    fn note(&self, block: usize, ending: Ending) {
        if ending != Ending::Clean {
            self.outcome().endings.push((block, ending));
        }
    }

    /// Hands on what a block holds.
    fn content(&self, work: &Work<'_>, runs: &[u32], content: &[u8]) {
        runs.iter().for_each(|&run| self.chunk(run, work.block, content));
        for slice in work.slices {
            if self.is_stopped() {
                return;
            }
            self.small(slice.file as usize, &content[slice.from..slice.from + slice.len]);
        }
    }

    /// A file of a damaged block, of which the start may have been decoded: its hash tells, whatever
    /// else is in the buffer.
    fn salvage(&self, slice: &Slice, hot: &[u8], error: Error) {
        let number = slice.file as usize;
        let bytes = hot.get(slice.from..slice.from + slice.len);
        let is_right =
            |bytes: &&[u8]| self.archive.hash_kind().hash_bytes(bytes) == self.files[number].entry().hash;
        match bytes.filter(|bytes| self.terms.verifies && error.kind == Kind::Corrupt && is_right(bytes)) {
            Some(bytes) => self.small(number, bytes),
            None => self.fail(number, error.into()),
        }
    }

    /// A file that is here whole.
    fn small(&self, number: usize, bytes: &[u8]) {
        let file = &self.files[number];
        let result = match self.destination.declines(number) {
            Ok(true) => return self.decline(number),
            Ok(false) if self.terms.verifies => {
                file.check(self.archive.hash_kind().hash_bytes(bytes)).map_err(FileError::from)
            }
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        match result.and_then(|()| self.destination.whole(number, bytes)) {
            Ok(()) => self.count(1, bytes.len()),
            Err(error) => self.fail(number, error),
        }
    }

    fn turn(&self, run: u32) -> &Turn {
        &self.turns[run as usize]
    }

    /// A chunk of a larger file.
    fn chunk(&self, run: u32, block: usize, hot: &[u8]) {
        let span = self.queue.runs()[run as usize];
        let (number, index) = (span.file as usize, block as u32 - span.first);
        let size = self.files[number].size();
        let chunk = self.archive.header().chunk.bytes();
        let offset = u64::from(index) * chunk;
        let bytes = &hot[..(size - offset).min(chunk) as usize];
        if let Err(error) = self.destination.part(number, offset, bytes) {
            return self.end_run(run, Err(error));
        }
        let turn = self.turn(run);
        let mut state = turn.lock();
        // Whoever has the block before took it earlier and waits for nobody but its own predecessor.
        while self.terms.verifies && !state.ended && state.done != index {
            let waited = turn.moved.wait_timeout(state, Duration::from_millis(100));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if self.is_stopped() && state.done != index {
                return;
            }
        }
        if state.ended {
            return;
        }
        if self.terms.verifies {
            state.hasher.update(bytes);
        }
        state.done += 1;
        turn.moved.notify_all();
        let last = state.done == span.end - span.first;
        let hash = (last && self.terms.verifies).then(|| state.hasher.finish());
        drop(state);
        self.count(0, bytes.len());
        if last {
            let checked = hash.map_or(Ok(()), |hash| self.files[number].check(hash));
            self.end_run(
                run,
                checked.map_err(FileError::from).and_then(|()| self.destination.finish(number)),
            );
        }
    }

    /// Marks a large file as done with. Whether it was not yet.
    fn mark(&self, run: u32) -> bool {
        let turn = self.turn(run);
        let was = core::mem::replace(&mut turn.lock().ended, true);
        turn.moved.notify_all();
        !was
    }

    /// Passes over the large files that the destination does not want.
    fn decline_runs(&self) {
        for run in 0..self.turns.len() as u32 {
            let number = self.queue.runs()[run as usize].file as usize;
            match self.destination.declines(number) {
                Ok(true) => {
                    self.mark(run);
                    self.decline(number);
                }
                Ok(false) => {}
                Err(error) => self.end_run(run, Err(error)),
            }
        }
    }

    /// Gives up the large files that a stop left unfinished.
    fn abandon_runs(&self) {
        for run in 0..self.turns.len() as u32 {
            if self.mark(run) {
                self.destination.abandon(self.queue.runs()[run as usize].file as usize);
            }
        }
    }

    fn end_run(&self, run: u32, result: core::result::Result<(), FileError>) {
        if !self.mark(run) {
            return;
        }
        let number = self.queue.runs()[run as usize].file as usize;
        match result {
            Ok(()) => self.count(1, 0),
            Err(error) => {
                self.destination.abandon(number);
                self.fail(number, error);
            }
        }
    }

    fn fail(&self, number: usize, error: FileError) {
        if matches!(&error, FileError::Output(e) if is_full(e)) {
            // Every other file would fail in the same way.
            self.stop.store(true, Ordering::Relaxed);
        }
        let mut outcome = self.outcome();
        outcome.failed.push((number, error));
        outcome.done.files += 1;
    }

    fn decline(&self, number: usize) {
        let mut outcome = self.outcome();
        outcome.declined.push(number);
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

    /// Counts what it is told, and fails when it has taken so many parts and files.
    struct Counter {
        room: AtomicUsize,
        finished: AtomicUsize,
        abandoned: AtomicUsize,
        unwanted: Option<usize>,
    }

    impl Counter {
        fn new(room: usize) -> Counter {
            let none = || AtomicUsize::new(0);
            Counter { room: AtomicUsize::new(room), finished: none(), abandoned: none(), unwanted: None }
        }

        #[allow(deprecated, reason = "`try_update`, the new name, is younger than Rust 1.89")]
        fn take(&self) -> core::result::Result<(), FileError> {
            let left = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            left.map(|_| ()).map_err(|_| io::Error::from(io::ErrorKind::StorageFull).into())
        }
    }

    impl Destination for Counter {
        fn whole(&self, file: usize, _bytes: &[u8]) -> core::result::Result<(), FileError> {
            assert_ne!(Some(file), self.unwanted);
            self.take()?;
            self.finished.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        fn part(&self, file: usize, _offset: u64, _bytes: &[u8]) -> core::result::Result<(), FileError> {
            assert_ne!(Some(file), self.unwanted);
            self.take()
        }
        fn finish(&self, _file: usize) -> core::result::Result<(), FileError> {
            self.finished.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        fn abandon(&self, _file: usize) {
            self.abandoned.fetch_add(1, Ordering::Relaxed);
        }
        fn declines(&self, file: usize) -> core::result::Result<bool, FileError> {
            Ok(Some(file) == self.unwanted)
        }
    }

    fn archive() -> Archive<FileSource> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/nx/edges-32k.nx");
        Archive::open(FileSource::open(path).unwrap()).unwrap()
    }

    fn go(archive: &Archive<FileSource>, counter: &Counter, threads: usize) -> Outcome {
        let files: Vec<_> = archive.files().collect();
        run(archive, &files, counter, RunOptions { threads, verifies: true, on_progress: None }).unwrap()
    }

    #[test]
    fn every_file_is_finished_once() {
        let archive = archive();
        for threads in [1, 2, 5] {
            let counter = Counter::new(usize::MAX);
            let outcome = go(&archive, &counter, threads);
            assert_eq!(counter.finished.into_inner(), archive.len());
            assert_eq!(counter.abandoned.into_inner(), 0);
            assert!(outcome.failed.is_empty() && !outcome.stopped);
            assert_eq!(outcome.done.files, archive.len() as u64);
            assert_eq!(outcome.done.bytes, outcome.done.total_bytes);
        }
    }

    #[test]
    fn a_full_disk_stops_the_work_and_leaves_nothing_open() {
        let archive = archive();
        for room in [0, 1, 7, 20] {
            let counter = Counter::new(room);
            let outcome = go(&archive, &counter, 3);
            assert!(outcome.stopped);
            assert!(!outcome.failed.is_empty() && outcome.failed.len() <= 3 + archive.len() / 2);
            assert!(outcome.failed.iter().all(|(_, error)| error.to_string().contains("disk is full")));
            assert!(counter.finished.into_inner() < archive.len());
            assert!(room > 0 || counter.abandoned.into_inner() > 0);
        }
    }

    #[test]
    fn what_is_declined_is_passed_over() {
        let archive = archive();
        // One of each kind: empty, in one block, in several.
        let chunk = archive.header().chunk.bytes();
        for wanted in [0..1, 1..chunk, chunk + 1..u64::MAX] {
            let file = archive.files().find(|file| wanted.contains(&file.size())).unwrap();
            let counter = Counter { unwanted: Some(file.index()), ..Counter::new(usize::MAX) };
            let outcome = go(&archive, &counter, 2);
            assert_eq!(outcome.declined, [file.index()]);
            assert_eq!(counter.finished.into_inner(), archive.len() - 1);
            assert_eq!(outcome.done.files, archive.len() as u64);
        }
    }

    #[test]
    fn memory_bounds_the_threads() {
        let archive = archive();
        let queue = Queue::new(&archive, archive.files().enumerate());
        let fit = |wanted| threads(&archive, &queue, room(&archive, &queue), wanted);
        assert_eq!((fit(4), fit(0)), (4, 1));
        assert_eq!(fit(1_000_000), queue.len().min(1_000_000));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/nx/over-4-gib.nx");
        let large = Archive::open(FileSource::open(path).unwrap()).unwrap();
        let queue = Queue::new(&large, large.files().enumerate());
        let fit = threads(&large, &queue, room(&large, &queue), 100);
        assert_eq!(fit, 7, "of 256 MiB each, within 2 GiB");
    }
}

//! Encodes blocks in parallel and writes them in order.
//!
//! The offset of a block is known once all blocks before it are encoded; until then the block
//! waits. Threads run ahead by at most a window of two blocks per thread. This bounds memory to an
//! input buffer and two output buffers per thread, and the buffers of filters.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use linerate_core::{Kind, lock};

use super::codec::Encoder;
use super::content::{Item, mismatch};
use super::error::{PackError, PackResult};
use super::existing::SourceArchive;
use super::file_hash::OrderedHashes;
use super::filters::Filters;
use super::options::{Coding, PackOptions};
use super::plan::{Block, Plan, left_over};
use super::progress::{Progress, Stage};
use super::sink::Sink;
use super::textures::{self, BlockFilter, Span};
use crate::block::memory::grow;
use crate::format::hash::HashKind;
use crate::format::header::PAGE;
use crate::format::toc;

/// The input of [`write`].
pub(super) struct Job<'a> {
    pub(super) items: &'a [Item],
    pub(super) archives: &'a [Arc<dyn SourceArchive>],
    pub(super) options: &'a PackOptions,
    pub(super) plan: &'a Plan,
    pub(super) sink: &'a dyn Sink,
    pub(super) progress: &'a (dyn Fn(&Progress) + Sync),
}

/// The result of [`write`], from which the header is made.
pub(super) struct Written {
    pub(super) blocks: Vec<toc::Block>,
    /// The hash of each item, from the plan or computed when its content was read. Known for each
    /// item that is its own [`Plan::same`].
    pub(super) hashes: Vec<Option<u64>>,
    /// The end offset of the last block, including its padding.
    pub(super) end: u64,
}

/// An encoded block, and the hashes of the files that it completes.
struct EncodedBlock {
    data: Vec<u8>,
    codec: toc::Codec,
    filtered: bool,
    /// Bytes of its input that progress does not include yet.
    uncounted: u64,
    hashes: Vec<(usize, u64)>,
}

/// Working memory of one thread.
struct Worker {
    encoder: Encoder,
    filter: BlockFilter,
    /// The content of the block that the thread encodes.
    input: Vec<u8>,
}

struct WriteState {
    /// The number of the next block to encode.
    next: usize,
    /// The offset in the archive of the next block to place, in bytes.
    offset: u64,
    /// Encoded blocks that wait for an earlier block.
    waiting: BTreeMap<usize, EncodedBlock>,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
    /// The blocks that have an offset, in order.
    placed: Vec<toc::Block>,
    /// Number of blocks written.
    written: usize,
    hashes: Vec<Option<u64>>,
    progress: Progress,
    failure: Option<PackError>,
    stopped: bool,
}

struct Shared<'a> {
    job: &'a Job<'a>,
    /// Maximum number of blocks that are started but not written.
    window: usize,
    hashes: OrderedHashes,
    state: Mutex<WriteState>,
    changed: Condvar,
}

/// Encodes all blocks of the plan and writes them, the first at offset `start`.
pub(super) fn write(job: &Job<'_>, start: u64) -> PackResult<Written> {
    job.options.cancel.begin(Stage::Packing);
    let count = job.plan.blocks.len();
    let threads = job.options.threads.clamp(1, count.max(1));
    let shared = Shared {
        job,
        window: 2 * threads,
        hashes: OrderedHashes::default(),
        state: Mutex::new(WriteState {
            next: 0,
            offset: start,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
            placed: Vec::with_capacity(count),
            written: 0,
            hashes: job.plan.hashes.clone(),
            progress: Progress {
                blocks_total: count as u64,
                bytes_in_total: job.plan.blocks.iter().map(|block| bytes_in(job, block)).sum(),
                ..Progress::default()
            },
            failure: None,
            stopped: false,
        }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        // If a thread cannot be started, fewer threads write the same bytes.
        for _ in 1..threads {
            if thread::Builder::new().spawn_scoped(scope, || shared.run_worker()).is_err() {
                break;
            }
        }
        shared.run_worker();
    });
    let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.failure {
        Some(error) => Err(error),
        None => Ok(Written { blocks: state.placed, hashes: state.hashes, end: state.offset }),
    }
}

/// Returns the bytes that a block adds to [`Progress::bytes_in`].
fn bytes_in(job: &Job<'_>, block: &Block) -> u64 {
    match block {
        Block::Empty => 0,
        Block::Solid { len, .. } | Block::Chunk { len, .. } => *len as u64,
        Block::Reused { archive, block, .. } => job.archives[*archive].block(*block).compressed.into(),
    }
}

impl Shared<'_> {
    fn lock(&self) -> MutexGuard<'_, WriteState> {
        lock(&self.state)
    }

    /// Runs the loop of one thread.
    fn run_worker(&self) {
        let guard = StopOnPanic(self);
        if let Err(error) = self.work() {
            self.lock().failure.get_or_insert(error);
            self.stop();
        }
        drop(guard);
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
        self.hashes.stop();
    }

    fn work(&self) -> PackResult<()> {
        let encoder = Encoder::new(self.job.options.fit_search)?;
        let mut worker = Worker { encoder, filter: BlockFilter::default(), input: Vec::new() };
        while let Some((number, output)) = self.take() {
            self.job.options.cancel.step()?;
            let block = self.encode(number, &mut worker, output);
            let block = block.map_err(|error| self.with_file(number, error))?;
            self.write_in_order(number, block)?;
        }
        Ok(())
    }

    /// Adds a file of the block to the error, unless it names one.
    fn with_file(&self, number: usize, error: PackError) -> PackError {
        match self.job.plan.blocks[number].file() {
            Some(file) => error.at(self.job.items[file].name.as_str()),
            None => error,
        }
    }

    /// Takes the next block and a buffer; waits while the window is full. `None` if no block is
    /// left or the work is stopped.
    fn take(&self) -> Option<(usize, Vec<u8>)> {
        let mut state = self.lock();
        loop {
            if state.stopped || state.next == self.job.plan.blocks.len() {
                return None;
            }
            if state.next - state.written < self.window {
                state.next += 1;
                return Some((state.next - 1, state.spare.pop().unwrap_or_default()));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn encode(&self, number: usize, worker: &mut Worker, mut output: Vec<u8>) -> PackResult<EncodedBlock> {
        let Worker { encoder, filter, input } = worker;
        let mut hashes = Vec::new();
        let coding = match &self.job.plan.blocks[number] {
            Block::Empty => {
                input.clear();
                Coding::Copy
            }
            Block::Reused { archive, block, .. } => return self.copy_block(*archive, *block, output),
            Block::Solid { files, len, coding } => {
                grow(input, *len, 0)?;
                self.read_solid(files, input, &mut hashes)?;
                *coding
            }
            Block::Chunk { file, number, len, coding, .. } => {
                grow(input, *len, 0)?;
                self.read_chunk(*file, *number, input, &mut hashes)?;
                *coding
            }
        };
        let mut uncounted = input.len() as u64;
        let codec = encoder.encode(coding, input, &mut output, &mut |bytes| {
            uncounted -= bytes;
            self.count(bytes)
        })?;
        let filters = self.filters(number);
        let spans = self.textures(number, coding, filters, input);
        let choice = (coding, filters);
        if let Some(codec) = filter.encode(encoder, choice, (input, &spans), codec, &mut output)? {
            return Ok(EncodedBlock { data: output, codec, filtered: true, uncounted, hashes });
        }
        if codec == toc::Codec::Copy {
            std::mem::swap(input, &mut output);
        }
        Ok(EncodedBlock { data: output, codec, filtered: false, uncounted, hashes })
    }

    /// Counts bytes of a block that is being encoded, and reports them. Fails if the work is
    /// cancelled.
    fn count(&self, bytes: u64) -> PackResult<()> {
        self.job.options.cancel.check()?;
        let mut state = self.lock();
        state.progress.bytes_in += bytes;
        let progress = state.progress;
        drop(state);
        (self.job.progress)(&progress);
        Ok(())
    }

    /// Returns the filters to try on a block.
    fn filters(&self, number: usize) -> Filters {
        let keeps_filters =
            |file: &usize| left_over(&self.job.items[*file]).is_some_and(|of| of.keeps_filters);
        match &self.job.plan.blocks[number] {
            Block::Solid { files, .. } if files.iter().any(keeps_filters) => Filters::all(),
            _ => self.job.options.filters,
        }
    }

    /// Returns the textures of a block on which filters are tried.
    fn textures(&self, number: usize, coding: Coding, filters: Filters, content: &[u8]) -> Vec<Span> {
        let PackOptions { guess_textures, chunk, .. } = *self.job.options;
        match &self.job.plan.blocks[number] {
            _ if filters.is_empty() || coding == Coding::Copy => Vec::new(),
            Block::Solid { files, .. } => {
                let items = files.iter().map(|&file| &self.job.items[file]);
                let files = items.map(|item| (item.size as usize, item.file_options));
                textures::in_files(content, files, guess_textures)
            }
            Block::Chunk { number, texture, .. } => {
                textures::in_chunk(*texture, number * chunk, content, guess_textures)
            }
            Block::Reused { .. } | Block::Empty => Vec::new(),
        }
    }

    fn copy_block(&self, archive: usize, block: usize, mut output: Vec<u8>) -> PackResult<EncodedBlock> {
        let archive = &self.job.archives[archive];
        archive.read_block(block, &mut output)?;
        let toc::Block { codec, filtered, .. } = archive.block(block);
        let uncounted = output.len() as u64;
        Ok(EncodedBlock { data: output, codec, filtered, uncounted, hashes: Vec::new() })
    }

    fn read_solid(
        &self,
        files: &[usize],
        input: &mut [u8],
        hashes: &mut Vec<(usize, u64)>,
    ) -> PackResult<()> {
        let mut rest = input;
        for &file in files {
            let item = &self.job.items[file];
            let (part, after) = rest.split_at_mut(item.size as usize);
            item.read_at(0, part)?;
            hashes.push((file, HashKind::Xxh3.hash_bytes(part)));
            rest = after;
        }
        self.check(hashes)
    }

    fn read_chunk(
        &self,
        file: usize,
        number: u64,
        input: &mut [u8],
        hashes: &mut Vec<(usize, u64)>,
    ) -> PackResult<()> {
        let (item, chunk) = (&self.job.items[file], self.job.options.chunk);
        item.read_at(number * chunk, input)?;
        let hash = match item.size.div_ceil(chunk) {
            1 => Some(HashKind::Xxh3.hash_bytes(input)),
            count => self.hashes.update(file, number, count, input)?,
        };
        hashes.extend(hash.map(|hash| (file, hash)));
        self.check(hashes)
    }

    /// Checks that the files with a known hash have not changed since the plan was made.
    fn check(&self, hashes: &[(usize, u64)]) -> PackResult<()> {
        for &(file, hash) in hashes {
            if self.job.plan.hashes[file].is_some_and(|known| known != hash) {
                return Err(mismatch(&self.job.items[file]));
            }
        }
        Ok(())
    }

    /// Writes this block and the blocks that waited for it, or leaves it waiting for an earlier
    /// block.
    fn write_in_order(&self, number: usize, block: EncodedBlock) -> PackResult<()> {
        let mut ready = Vec::new();
        {
            let mut state = self.lock();
            state.waiting.insert(number, block);
            loop {
                let next = state.placed.len();
                let Some(block) = state.waiting.remove(&next) else { break };
                ready.push(state.place(block)?);
            }
        }
        for (offset, block) in ready {
            self.job.sink.write_at(offset, &block.data).map_err(PackError::writing)?;
            let mut state = self.lock();
            state.written += 1;
            state.progress.blocks += 1;
            state.progress.bytes_in += block.uncounted;
            state.progress.bytes_out += block.data.len() as u64;
            state.spare.push(block.data);
            let progress = state.progress;
            drop(state);
            self.changed.notify_all();
            (self.job.progress)(&progress);
        }
        Ok(())
    }
}

impl WriteState {
    /// Assigns the next offset to a block.
    fn place(&mut self, encoded: EncodedBlock) -> PackResult<(u64, EncodedBlock)> {
        let compressed = u32::try_from(encoded.data.len()).ok().filter(|&len| len <= toc::MAX_COMPRESSED);
        let too_large = || PackError::rule(Kind::Limit, "the format holds blocks of 512 MiB - 1");
        let EncodedBlock { codec, filtered, .. } = encoded;
        let block = toc::Block { compressed: compressed.ok_or_else(too_large)?, codec, filtered };
        self.placed.push(block);
        for &(file, hash) in &encoded.hashes {
            self.hashes[file] = Some(hash);
        }
        let offset = self.offset;
        self.offset += (encoded.data.len() as u64).next_multiple_of(PAGE);
        Ok((offset, encoded))
    }
}

/// Stops all threads when one panics, so that the panic reaches the caller.
struct StopOnPanic<'a>(&'a Shared<'a>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::pack::cancel::CancelToken;
    use crate::pack::content::Content;
    use crate::pack::existing::ExistingEntry;
    use crate::pack::options::FileOptions;
    use crate::pack::sink::Memory;

    const START: u64 = 4096;
    const BLOCKS: usize = 100;

    fn items() -> Vec<Item> {
        let item = |i: usize| Item {
            name: format!("file {i:03}"),
            size: 600,
            content: Content::Bytes(
                format!("{i} and the same again, ").into_bytes().repeat(40)[..600].to_vec(),
            ),
            file_options: FileOptions::default(),
        };
        (0..BLOCKS).map(item).collect()
    }

    /// Writes one block per item.
    fn write_all(
        items: &[Item],
        threads: usize,
        sink: &dyn Sink,
        progress: &(dyn Fn(&Progress) + Sync),
    ) -> PackResult<Written> {
        let mut options = PackOptions { threads, dedup_chunked: false, ..PackOptions::default() };
        (options.chunk, options.solid_limit) = (1024, 0);
        let plan = Plan::new(items, &options)?;
        assert_eq!(plan.blocks.len(), BLOCKS);
        write(&Job { items, archives: &[], options: &options, plan: &plan, sink, progress }, START)
    }

    /// Fails at write number `at`.
    struct Full {
        at: u64,
        writes: AtomicU64,
    }

    impl Sink for Full {
        fn write_at(&self, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
            match self.writes.fetch_add(1, Ordering::SeqCst) == self.at {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => Ok(()),
            }
        }

        fn set_len(&self, _len: u64) -> io::Result<()> {
            Ok(())
        }
    }

    /// An archive of small files, one of which is slow to read.
    struct Slow {
        slow: usize,
        begun: AtomicUsize,
        /// Number of files that were begun before the slow one was read.
        meanwhile: AtomicUsize,
    }

    impl SourceArchive for Slow {
        fn place(&self, _entry: usize) -> (usize, u32) {
            unreachable!("no block is reused")
        }

        fn block(&self, _block: usize) -> toc::Block {
            unreachable!("no block is reused")
        }

        fn read_block(&self, _block: usize, _out: &mut Vec<u8>) -> PackResult<()> {
            unreachable!("no block is reused")
        }

        fn stored_hash(&self, _entry: usize) -> Option<u64> {
            None
        }

        fn verify(&self, _entries: &[usize], _cancel: &CancelToken) -> PackResult<Vec<u64>> {
            unreachable!("the plan does not verify")
        }

        fn read_at(&self, entry: usize, _offset: u64, out: &mut [u8]) -> PackResult<()> {
            self.begun.fetch_add(1, Ordering::SeqCst);
            if entry == self.slow {
                thread::sleep(Duration::from_millis(200));
                self.meanwhile.store(self.begun.load(Ordering::SeqCst), Ordering::SeqCst);
            }
            out.fill(entry as u8);
            Ok(())
        }
    }

    #[test]
    fn blocks_are_in_order_and_page_aligned() {
        for threads in [1, 2, 5] {
            let memory = Memory::default();
            let reports = AtomicU64::new(0);
            let count = |progress: &Progress| {
                assert_eq!(progress.blocks_total, BLOCKS as u64);
                reports.fetch_add(1, Ordering::SeqCst);
            };
            let written = write_all(&items(), threads, &memory, &count).expect("writable");
            assert_eq!(reports.into_inner(), BLOCKS as u64);
            assert_eq!(written.end, START + 4096 * BLOCKS as u64);
            let bytes = memory.into_bytes();
            for (i, (block, item)) in written.blocks.iter().zip(items()).enumerate() {
                let at = START as usize + 4096 * i;
                let mut plain = Vec::with_capacity(600);
                zstd_safe::decompress(&mut plain, &bytes[at..at + block.compressed as usize])
                    .expect("a frame");
                assert_eq!(written.hashes[i], Some(HashKind::Xxh3.hash_bytes(&plain)));
                let mut expected = vec![0; 600];
                item.read_at(0, &mut expected).expect("in memory");
                assert!(plain == expected);
            }
        }
    }

    #[test]
    fn full_disk_is_an_error_and_ends_all_threads() {
        for threads in [1, 2, 5] {
            for at in [0, 1, 50, BLOCKS as u64 - 1] {
                let full = Full { at, writes: AtomicU64::new(0) };
                let error = write_all(&items(), threads, &full, &|_| {}).err().expect("full");
                assert_eq!(error.to_string(), "the disk is full");
            }
        }
    }

    #[test]
    fn panic_of_a_thread_reaches_the_caller() {
        for threads in [1, 2, 5] {
            let panics = |progress: &Progress| assert!(progress.blocks < 20, "on purpose");
            let result =
                catch_unwind(AssertUnwindSafe(|| write_all(&items(), threads, &Memory::default(), &panics)));
            assert!(result.is_err(), "{threads} threads");
        }
    }

    #[test]
    fn threads_run_ahead_by_at_most_the_window() {
        let slow = Arc::new(Slow { slow: 10, begun: AtomicUsize::new(0), meanwhile: AtomicUsize::new(0) });
        let mut items = items();
        for (entry, item) in items.iter_mut().enumerate() {
            let archive = slow.clone();
            item.content = Content::Existing(ExistingEntry {
                archive,
                number: 0,
                entry,
                reused: false,
                is_left_over: false,
                keeps_filters: false,
                hash: None,
                is_verified: false,
            });
        }
        write_all(&items, 4, &Memory::default(), &|_| {}).expect("writable");
        // Ten files are done, and the slow file is the first of the window of eight.
        let meanwhile = slow.meanwhile.load(Ordering::SeqCst);
        assert!((11..=18).contains(&meanwhile), "{meanwhile} files");
    }
}

//! Hands out the blocks of the wanted files to threads, each block with its files. Chooses which
//! blocks are announced to the source before they are read, so that the source can fetch them
//! meanwhile.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use linerate_core::lock;

use crate::format::header::PAGE;
use crate::format::toc::Codec;
use crate::read::archive::{Archive, File};
use crate::read::block_reader::block_end;

/// A file that lies within one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    /// The number of the file in the list of files to read.
    pub(crate) file: u32,
    block: u32,
    /// Offset in the decoded block, in bytes.
    pub(crate) from: usize,
    pub(crate) len: usize,
}

/// The blocks of a chunked file, one for each chunk: `first..end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRun {
    /// The number of the file in the list of files to read.
    pub(crate) file: u32,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// A block to decode, and the files in it.
#[derive(Debug)]
pub(crate) struct Task<'q> {
    pub(crate) block: usize,
    pub(crate) slices: &'q [Slice],
    /// The chunked files with a chunk in this block, as indices into [`Queue::runs`].
    pub(crate) runs: Vec<u32>,
}

/// Minimum size of the window of announced blocks, in compressed bytes. Keeps a drive busy while
/// all threads decode, also if some blocks take longer to read and others longer to decode.
const MIN_WINDOW: u64 = 16 << 20;

/// Number of compressed bytes after which a thread stops announcing, and goes on to read its own
/// block.
const ANNOUNCED_AT_ONCE: u64 = 4 << 20;

/// How many times faster a stored block is assumed to be read than a compressed one of the same
/// length.
const STORED: u64 = 8;

/// The queue of blocks: the blocks of chunked files in order, and the *solid* blocks slowest first.
///
/// Both kinds advance in proportion to their content. If one kind compresses much better than the
/// other, and all of it came first, either the threads would first wait for the drive and the drive
/// later for the threads, or the other way round.
///
/// A chunked file is hashed from its start, so its blocks are taken in order. Two threads in one
/// file wait for each other, so each thread stays with its own chunked file while there are other
/// blocks.
///
/// If the source coalesces reads, all blocks are taken in the order of the archive.
///
/// The source is told of blocks in the order in which threads will probably take them, up to a
/// window of bytes.
#[derive(Debug)]
pub(crate) struct Queue {
    slices: Vec<Slice>,
    runs: Vec<BlockRun>,
    /// All blocks: first those of the spans, one span after the other, then the solid blocks.
    order: Vec<u32>,
    spans: Vec<Span>,
    /// For each index in `order`, how many blocks from there on one read may cover. Empty if the
    /// source does not coalesce reads.
    coalesced: Vec<u32>,
    /// The size of each block of `order`.
    sizes: Vec<BlockSize>,
    /// Bytes of content in spans, and in solid blocks.
    content: [u64; 2],
    /// Indices into `order`, in the order in which threads will take them if they decode equally
    /// fast.
    expected: Vec<u32>,
    /// Maximum number of compressed bytes that are announced and not taken yet.
    window: u64,
    state: Mutex<QueueState>,
}

/// Sizes of a block in bytes.
#[derive(Clone, Copy, Debug)]
struct BlockSize {
    content: u64,
    compressed: u32,
}

/// Blocks that are taken in order: those of one run, of several runs that overlap, or all blocks if
/// the source coalesces reads.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The span has the blocks `start..end` of [`Queue::order`].
    start: usize,
    end: usize,
    /// The index of the span's first run in [`Queue::runs`]. The first run of the next span follows
    /// the last run of this span.
    runs: u32,
}

/// A span from which threads take blocks.
#[derive(Debug)]
struct ActiveSpan {
    /// The index of the span in [`Queue::spans`].
    span: usize,
    /// The index in [`Queue::order`] of the next block to take.
    next: usize,
    /// The index in [`Queue::runs`] of the next run to begin.
    next_run: u32,
    /// The runs that contain the block that was taken last.
    open: Vec<u32>,
}

/// The blocks that have been taken so far.
#[derive(Debug, Default)]
struct Position {
    next_span: usize,
    /// The index in [`Queue::order`] of the next solid block.
    next_solid: usize,
    /// Bytes of content in the spans that have been started, and in the solid blocks that have been
    /// taken.
    begun: [u64; 2],
    /// Started spans with blocks left, at most as many as threads.
    active: Vec<ActiveSpan>,
}

/// The blocks that have been announced to the source so far.
#[derive(Debug, Default)]
struct Announced {
    /// The index in [`Queue::expected`] of the next block to announce.
    next: usize,
    /// Compressed bytes that are announced and not taken yet.
    bytes: u64,
    /// For each index in [`Queue::order`], whether the block has been announced or taken.
    done: Vec<bool>,
}

#[derive(Debug, Default)]
struct QueueState {
    position: Position,
    announced: Announced,
}

/// The state of one thread.
#[derive(Debug, Default)]
pub(crate) struct WorkerState {
    /// The span from which the thread took a block last, as an index into [`Queue::spans`].
    span: Option<usize>,
}

/// The next block of a thread.
enum Next {
    /// The next block of a span, which is given by its index in [`Position::active`].
    Active(usize),
    /// A solid block, given by its index in [`Queue::order`].
    Solid(usize),
}

impl Queue {
    /// Creates a queue of the blocks of `files`, which come with their numbers. Empty files have no
    /// blocks.
    pub(crate) fn new<'f, S>(archive: &Archive<S>, files: impl Iterator<Item = (usize, File<'f>)>) -> Queue
    where
        S: linerate_io::ReadAt,
    {
        let (mut slices, mut runs) = (Vec::new(), Vec::new());
        for (i, file) in files.filter(|(_, file)| file.size() > 0) {
            // There are fewer than 2^20 files and 2^18 blocks.
            let (number, blocks) = (i as u32, file.blocks());
            let (first, end) = (blocks.start as u32, blocks.end as u32);
            match file.is_chunked() {
                true => runs.push(BlockRun { file: number, first, end }),
                // A slice is no longer than a chunk.
                false => slices.push(Slice {
                    file: number,
                    block: first,
                    from: file.entry().block_offset as usize,
                    len: file.size() as usize,
                }),
            }
        }
        slices.sort_unstable_by_key(|slice| (slice.block, slice.from, slice.file));
        runs.sort_unstable_by_key(|run| (run.first, run.file));
        let (mut order, mut spans) = spans(&runs);
        let mut solid: Vec<u32> = slices.iter().map(|slice| slice.block).collect();
        solid.dedup();
        // `order` is still sorted.
        solid.retain(|block| order.binary_search(block).is_err());
        // The slowest blocks come first, so that no thread begins one when the others are about to
        // end. Sorted by powers of two, so that blocks that take about as long are read in the order
        // of the archive.
        let cost = |block: usize| match archive.toc().blocks[block].codec {
            Codec::Copy => archive.layout().content(block) / STORED,
            Codec::Zstd | Codec::Lz4 => archive.layout().content(block),
        };
        solid.sort_by_key(|&block| Reverse(cost(block as usize).checked_ilog2()));
        order.extend(solid);
        let mut coalesced = Vec::new();
        if archive.source().coalesce_limit() > 0 {
            order.sort_unstable();
            spans = vec![Span { start: 0, end: order.len(), runs: 0 }];
            spans.retain(|span| span.start < span.end);
            coalesced = coalesced_counts(archive, &order);
        }
        let size = |&block: &u32| BlockSize {
            content: archive.layout().content(block as usize),
            compressed: archive.toc().blocks[block as usize].compressed,
        };
        let sizes = order.iter().map(size).collect();
        Queue::of(slices, runs, (order, spans), coalesced, sizes)
    }

    fn of(
        slices: Vec<Slice>,
        runs: Vec<BlockRun>,
        (order, spans): (Vec<u32>, Vec<Span>),
        coalesced: Vec<u32>,
        sizes: Vec<BlockSize>,
    ) -> Queue {
        let next_solid = spans.last().map_or(0, |span| span.end);
        let (in_spans, others) = sizes.split_at(next_solid);
        let content = [in_spans, others].map(content_of);
        let state = Mutex::new(QueueState {
            position: Position { next_solid, ..Position::default() },
            announced: Announced { done: vec![false; order.len()], ..Announced::default() },
        });
        let (expected, window) = (Vec::new(), 0);
        Queue { slices, runs, order, spans, coalesced, sizes, content, expected, window, state }
    }

    /// Makes [`take`](Self::take) announce blocks to the source well before they are taken, in the
    /// order in which `threads` threads will take them. Without this call, a block is announced
    /// only when it is taken.
    pub(crate) fn announced_for(mut self, threads: usize) -> Queue {
        let largest = self.sizes.iter().map(|size| size.compressed).max().unwrap_or(0);
        self.window = MIN_WINDOW.max(2 * threads as u64 * u64::from(largest));
        self.expected = self.expected(threads);
        self
    }

    /// Returns the order in which `threads` threads take blocks if each byte of content takes the
    /// same time.
    fn expected(&self, threads: usize) -> Vec<u32> {
        let next_solid = self.spans.last().map_or(0, |span| span.end);
        let mut position = Position { next_solid, ..Position::default() };
        let mut workers: Vec<WorkerState> = Vec::new();
        workers.resize_with(threads, WorkerState::default);
        // The bytes of content that each thread has decoded so far. The thread with the fewest is
        // next.
        let mut clocks: BinaryHeap<Reverse<(u64, usize)>> = (0..threads).map(|i| Reverse((0, i))).collect();
        let mut expected = Vec::with_capacity(self.order.len());
        while let Some(Reverse((clock, worker))) = clocks.pop() {
            let at = match self.choose(&mut position, &mut workers[worker]) {
                None => continue,
                Some(Next::Solid(at)) => at,
                Some(Next::Active(active)) => {
                    let at = position.active[active].next;
                    position.active[active].next += 1;
                    self.end_span(&mut position, active);
                    at
                }
            };
            expected.push(at as u32);
            clocks.push(Reverse((clock.saturating_add(self.sizes[at].content), worker)));
        }
        expected
    }

    /// Returns the number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&block| block as usize)
    }

    /// The chunked files.
    pub(crate) fn runs(&self) -> &[BlockRun] {
        &self.runs
    }

    /// Takes the next block for a thread and adds it to `batch`, together with the blocks that are
    /// read in the same request. Adds to `ahead` the blocks to announce before the batch is read.
    /// Returns false if no block is left.
    ///
    /// The thread must process the whole batch in its order, because other threads may wait for it.
    pub(crate) fn take<'q>(
        &'q self,
        worker: &mut WorkerState,
        batch: &mut Vec<Task<'q>>,
        ahead: &mut Vec<usize>,
    ) -> bool {
        let mut state = self.state();
        let QueueState { position, announced } = &mut *state;
        let taken = match self.choose(position, worker) {
            None => return false,
            Some(Next::Solid(at)) => {
                batch.push(self.task(at, Vec::new()));
                at..at + 1
            }
            Some(Next::Active(at)) => {
                let active = &mut position.active[at];
                let (start, end) = (active.next, self.spans[active.span].end);
                let mut count = self.coalesced.get(start).copied().unwrap_or(1);
                while count > 0 && active.next < end {
                    let task = self.advance(active);
                    // Bounds the memory of a batch if very many files share blocks.
                    count = if task.runs.len() > MAX_BATCHED_RUNS { 0 } else { count - 1 };
                    batch.push(task);
                }
                let taken = start..active.next;
                self.end_span(position, at);
                taken
            }
        };
        self.announce(announced, taken, ahead);
        true
    }

    /// Chooses the next block of a thread: of its own span; else of a new span or a solid block,
    /// whichever kind is behind; else of the span of another thread.
    fn choose(&self, position: &mut Position, worker: &mut WorkerState) -> Option<Next> {
        let own = worker.span.and_then(|span| position.active.iter().position(|active| active.span == span));
        let has_solid = position.next_solid < self.order.len();
        // Spans are behind if a smaller share of their content than of solid blocks has been begun.
        let [spans, solid] = position.begun.map(u128::from);
        let spans_are_behind = spans * u128::from(self.content[1]) <= solid * u128::from(self.content[0]);
        let new_span = |position: &mut Position| match has_solid && !spans_are_behind {
            true => None,
            false => self.start_span(position),
        };
        let at = match own.or_else(|| new_span(position)) {
            Some(at) => at,
            None if has_solid => {
                let at = position.next_solid;
                position.next_solid += 1;
                position.begun[1] += self.sizes[at].content;
                return Some(Next::Solid(at));
            }
            None => {
                // Helps with the span that has the most blocks left.
                let left = |active: &ActiveSpan| self.spans[active.span].end - active.next;
                (0..position.active.len()).max_by_key(|&i| left(&position.active[i]))?
            }
        };
        worker.span = Some(position.active[at].span);
        Some(Next::Active(at))
    }

    /// Starts the next span, if there is one, and returns its index in [`Position::active`].
    fn start_span(&self, position: &mut Position) -> Option<usize> {
        let span = position.next_span;
        let Span { start, end, runs } = *self.spans.get(span)?;
        position.next_span += 1;
        position.begun[0] += content_of(&self.sizes[start..end]);
        position.active.push(ActiveSpan { span, next: start, next_run: runs, open: Vec::new() });
        Some(position.active.len() - 1)
    }

    /// Removes a span from the active ones if all of its blocks are taken.
    fn end_span(&self, position: &mut Position, active: usize) {
        let ActiveSpan { span, next, .. } = position.active[active];
        if next == self.spans[span].end {
            position.active.swap_remove(active);
        }
    }

    /// Adds to `ahead` the blocks to announce when the blocks at `taken` in [`Queue::order`] are
    /// taken: those of them that were not announced yet, then the next expected ones, as long as
    /// they fit the window and [`ANNOUNCED_AT_ONCE`] is not reached.
    fn announce(&self, announced: &mut Announced, taken: Range<usize>, ahead: &mut Vec<usize>) {
        let Announced { next, bytes, done } = announced;
        let len = |at: usize| u64::from(self.sizes[at].compressed);
        for at in taken {
            match core::mem::replace(&mut done[at], true) {
                true => *bytes -= len(at),
                false => ahead.push(self.order[at] as usize),
            }
        }
        let mut at_once = 0;
        while let Some(&at) = self.expected.get(*next) {
            let at = at as usize;
            if !done[at] {
                if at_once >= ANNOUNCED_AT_ONCE || *bytes + len(at) > self.window {
                    return;
                }
                done[at] = true;
                at_once += len(at);
                *bytes += len(at);
                ahead.push(self.order[at] as usize);
            }
            *next += 1;
        }
    }

    /// Takes the next block of a span, with the runs that contain it.
    fn advance(&self, active: &mut ActiveSpan) -> Task<'_> {
        let block = self.order[active.next];
        active.next += 1;
        active.open.retain(|&run| self.runs[run as usize].end > block);
        while self.runs.get(active.next_run as usize).is_some_and(|run| run.first == block) {
            active.open.push(active.next_run);
            active.next_run += 1;
        }
        self.task(active.next - 1, active.open.clone())
    }

    /// Returns the block at an index of `order`, with its slices and the given runs.
    fn task(&self, at: usize, runs: Vec<u32>) -> Task<'_> {
        let block = self.order[at];
        let start = self.slices.partition_point(|slice| slice.block < block);
        let end = self.slices.partition_point(|slice| slice.block <= block);
        Task { block: block as usize, slices: &self.slices[start..end], runs }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        lock(&self.state)
    }
}

/// Returns the bytes of content in all of these blocks.
fn content_of(sizes: &[BlockSize]) -> u64 {
    sizes.iter().fold(0, |sum, size| size.content.saturating_add(sum))
}

/// Maximum number of runs in a block that is batched with the next block.
const MAX_BATCHED_RUNS: usize = 64;

/// Returns, for each index in `order`, how many blocks from there on one read may cover. A gap of
/// unneeded bytes between two of them is at most 1/64 of the source's limit or a page, whichever is
/// larger.
fn coalesced_counts<S: linerate_io::ReadAt>(archive: &Archive<S>, order: &[u32]) -> Vec<u32> {
    let (layout, limit) = (archive.layout(), archive.source().coalesce_limit());
    let gap = limit / 64;
    let joins = |start: u32, end: usize| {
        let (Some(&block), Some(&next)) = (order.get(end - 1), order.get(end)) else { return false };
        let [start, block, next] = [start, block, next].map(|block| block as usize);
        layout.offset(next).saturating_sub(block_end(archive, block)) <= gap.max(PAGE)
            && block_end(archive, next) <= layout.offset(start).saturating_add(limit)
    };
    let mut end = 0;
    let count = |(i, &block): (usize, &u32)| {
        end = end.max(i + 1);
        while joins(block, end) {
            end += 1;
        }
        // There are fewer than 2^18 blocks.
        (end - i) as u32
    };
    order.iter().enumerate().map(count).collect()
}

/// Returns the blocks of `runs` in order, and their spans. `runs` are sorted by first block.
fn spans(runs: &[BlockRun]) -> (Vec<u32>, Vec<Span>) {
    let (mut order, mut spans): (Vec<u32>, Vec<Span>) = (Vec::new(), Vec::new());
    for (i, run) in runs.iter().enumerate() {
        // The end of the blocks of all runs before.
        let reached = order.last().map_or(0, |last| last + 1);
        order.extend(run.first.max(reached)..run.end);
        match spans.last_mut().filter(|_| run.first < reached) {
            Some(span) => span.end = order.len(),
            // There are fewer than 2^20 files.
            None => spans.push(Span {
                start: order.len() - (run.end - run.first) as usize,
                end: order.len(),
                runs: i as u32,
            }),
        }
    }
    (order, spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(runs: &[(u32, u32)], slices: &[u32], solid: &[u32]) -> Queue {
        let runs: Vec<BlockRun> =
            (0..).zip(runs).map(|(file, &(first, end))| BlockRun { file, first, end }).collect();
        let slices = slices.iter().map(|&block| Slice { file: 99, block, from: 0, len: 1 }).collect();
        let (mut order, spans) = spans(&runs);
        order.extend(solid);
        let sizes = vec![BlockSize { content: 1 << 20, compressed: 1 << 19 }; order.len()];
        Queue::of(slices, runs, (order, spans), Vec::new(), sizes)
    }

    fn take(queue: &Queue, worker: &mut WorkerState) -> Option<(usize, Vec<u32>)> {
        let mut batch = Vec::new();
        queue
            .take(worker, &mut batch, &mut Vec::new())
            .then(|| batch.remove(0))
            .map(|task| (task.block, task.runs))
    }

    #[test]
    fn each_thread_takes_its_own_chunked_file_and_helps_when_no_other_block_is_left() {
        let queue = queue(&[(0, 4), (4, 6), (6, 8)], &[9], &[9]);
        assert_eq!(queue.len(), 9);
        let (mut a, mut b) = (WorkerState::default(), WorkerState::default());
        assert_eq!(take(&queue, &mut a), Some((0, vec![0])));
        assert_eq!(take(&queue, &mut b), Some((9, vec![])), "a block outside of all runs");
        assert_eq!(take(&queue, &mut b), Some((4, vec![1])));
        assert_eq!(take(&queue, &mut b), Some((5, vec![1])));
        assert_eq!(take(&queue, &mut b), Some((6, vec![2])));
        assert_eq!(take(&queue, &mut a), Some((1, vec![0])));
        assert_eq!(take(&queue, &mut b), Some((7, vec![2])));
        assert_eq!(take(&queue, &mut b), Some((2, vec![0])), "nothing else is left");
        assert_eq!(take(&queue, &mut a), Some((3, vec![0])));
        assert_eq!(take(&queue, &mut a), None);
        assert_eq!(take(&queue, &mut b), None);
    }

    #[cfg(feature = "pack")]
    #[test]
    fn stored_blocks_come_after_compressed_ones_of_their_length() {
        use crate::pack::{Builder, FileOptions, PackOptions};
        let mut builder = Builder::new(PackOptions::default()).unwrap();
        let noise = |seed| linerate_testkit::data::Noise::new(seed).bytes(100_000);
        for (name, content) in [("a", noise(1)), ("b", vec![7; 100_000]), ("c", noise(2))] {
            builder.add_bytes_with(name, content, FileOptions::new().alone(true)).unwrap();
        }
        let archive = Archive::open(builder.to_bytes().unwrap().0).unwrap();
        let codecs = |queue: Queue| -> Vec<Codec> {
            queue.order.iter().map(|&block| archive.toc().blocks[block as usize].codec).collect()
        };
        let queue = Queue::new(&archive, archive.files().enumerate());
        assert_eq!(codecs(queue), [Codec::Zstd, Codec::Copy, Codec::Copy]);
    }

    #[test]
    fn both_kinds_of_blocks_advance_in_proportion() {
        let runs: Vec<(u32, u32)> = (0..20).map(|i| (2 * i, 2 * i + 2)).collect();
        let solid: Vec<u32> = (40..60).collect();
        let queue = queue(&runs, &solid, &solid);
        let mut worker = WorkerState::default();
        let order: Vec<usize> =
            std::iter::from_fn(|| take(&queue, &mut worker)).map(|taken| taken.0).collect();
        assert_eq!(order.len(), 60);
        for (i, part) in order.chunks(6).enumerate() {
            let chunks = part.iter().filter(|&&block| block < 40).count();
            assert_eq!(chunks, 4, "two thirds of blocks {} to {}: {part:?}", 6 * i, 6 * i + 5);
        }
    }

    /// Takes all blocks with threads that take turns. Checks that each block is announced exactly
    /// once, before it is taken. Returns the most bytes that were announced and not taken.
    fn announce_all(queue: Queue, threads: usize) -> u64 {
        let queue = queue.announced_for(threads);
        let mut workers: Vec<WorkerState> = (0..threads).map(|_| WorkerState::default()).collect();
        let (mut announced, mut pending, mut most) = (std::collections::HashSet::new(), 0, 0);
        for i in 0.. {
            let (mut batch, mut ahead) = (Vec::new(), Vec::new());
            if !queue.take(&mut workers[i % threads], &mut batch, &mut ahead) {
                break;
            }
            let block = batch[0].block;
            assert!(i == 0 || announced.contains(&block), "block {block} was not announced before");
            for block in ahead {
                assert!(announced.insert(block), "block {block} was announced twice");
                pending += 1 << 19;
            }
            pending -= 1 << 19;
            most = pending.max(most);
        }
        assert_eq!(announced.len(), queue.len());
        most
    }

    #[test]
    fn each_block_is_announced_once_before_it_is_taken_and_within_the_window() {
        for threads in [1, 2, 5] {
            let solid: Vec<u32> = (400..500).collect();
            // Most of the files are longer than the window, so each thread is in a file of its own.
            let queue = queue(&[(0, 90), (90, 200), (200, 210), (210, 400)], &solid, &solid);
            let most = announce_all(queue, threads);
            assert!((MIN_WINDOW - (1 << 19)..=MIN_WINDOW).contains(&most), "{threads} threads: {most}");
        }
        // With 40 threads the window has two blocks for each thread, which is more.
        let most = announce_all(queue(&[(0, 200), (200, 400)], &[], &[]), 40);
        assert!((39 << 20..=40 << 20).contains(&most), "{most}");
    }

    #[test]
    fn overlapping_runs_are_one_span_and_each_block_is_taken_once() {
        // The first contains the second and overlaps the third; the last is separate.
        let queue = queue(&[(0, 4), (1, 3), (3, 6), (6, 7)], &[2, 4], &[]);
        let mut workers = [WorkerState::default(), WorkerState::default()];
        let expected: [(usize, &[u32], usize); 7] = [
            (0, &[0], 0),
            (6, &[3], 1),
            (1, &[0, 1], 0),
            (2, &[0, 1], 1),
            (3, &[0, 2], 0),
            (4, &[2], 1),
            (5, &[2], 0),
        ];
        for (block, runs, worker) in expected {
            let mut batch = Vec::new();
            assert!(queue.take(&mut workers[worker], &mut batch, &mut Vec::new()));
            assert_eq!((batch[0].block, &batch[0].runs[..]), (block, runs));
            assert_eq!(batch[0].slices.len(), usize::from([2, 4].contains(&block)));
        }
        assert!(workers.iter_mut().all(|worker| take(&queue, worker).is_none()));
    }
}

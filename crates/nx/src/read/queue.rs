//! The order in which blocks are decoded, and the files that each of them holds.

use std::sync::{Mutex, MutexGuard};

use linerate_core::lock;

use crate::format::header::PAGE;
use crate::read::archive::{Archive, File};
use crate::read::block_reader::block_end;

/// A file within one block: its number in the list to read, and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    pub(crate) file: u32,
    block: u32,
    pub(crate) from: usize,
    pub(crate) len: usize,
}

/// A chunked file: its run of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRun {
    pub(crate) file: u32,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// A block to decode, and the files in it.
#[derive(Debug)]
pub(crate) struct Task<'q> {
    pub(crate) block: usize,
    pub(crate) slices: &'q [Slice],
    /// Indices into [`Queue::runs`].
    pub(crate) runs: Vec<u32>,
    /// The block that is [`READ_AHEAD`] further in the queue.
    pub(crate) ahead: Option<usize>,
}

/// Blocks that the source is told of before they are read: enough for a drive to work while all threads decode.
pub(crate) const READ_AHEAD: usize = 16;

/// The queue of blocks: first those of chunked files, then all others, largest first.
///
/// A chunked file is hashed from its start, so its blocks are taken in order. While there are other
/// blocks, each thread stays with its own chunked file: two threads on one file wait for each other.
/// If the source coalesces reads, all blocks are in the order of the archive.
#[derive(Debug)]
pub(crate) struct Queue {
    slices: Vec<Slice>,
    runs: Vec<BlockRun>,
    /// All blocks: those of the spans, one span after the other, then the others.
    order: Vec<u32>,
    spans: Vec<Span>,
    /// For each index in `order`, how many blocks from there one read may span. Empty without coalescing.
    coalesced: Vec<u32>,
    state: Mutex<QueueState>,
}

/// Blocks that are taken in order: those of one run, or of overlapping runs.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The range of its blocks in [`Queue::order`].
    start: usize,
    end: usize,
    /// Its first run; the runs of the next span follow its own.
    runs: u32,
}

/// A span that threads work on.
#[derive(Debug)]
struct ActiveSpan {
    /// Its index in [`Queue::spans`].
    span: usize,
    /// The index of its next block in [`Queue::order`].
    next: usize,
    next_run: u32,
    /// Runs that contain the block before: the only state, however many files share blocks.
    open: Vec<u32>,
}

#[derive(Debug, Default)]
struct QueueState {
    next_span: usize,
    /// The index in [`Queue::order`] of the next block outside of all spans.
    next_solid: usize,
    /// At most one per thread.
    active: Vec<ActiveSpan>,
}

/// The state of one thread: the span that it works on.
#[derive(Debug, Default)]
pub(crate) struct WorkerState {
    span: Option<usize>,
}

impl Queue {
    /// The blocks of the given files with their numbers. Empty files have none.
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
        solid.sort_by_key(|&block| core::cmp::Reverse(archive.layout().content(block as usize)));
        order.extend(solid);
        let mut coalesced = Vec::new();
        if archive.source().coalesce_limit() > 0 {
            order.sort_unstable();
            spans = vec![Span { start: 0, end: order.len(), runs: 0 }];
            spans.retain(|span| span.start < span.end);
            coalesced = coalesced_counts(archive, &order);
        }
        let next_solid = spans.last().map_or(0, |span| span.end);
        let state = Mutex::new(QueueState { next_solid, ..QueueState::default() });
        Queue { slices, runs, order, spans, coalesced, state }
    }

    /// The number of blocks.
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

    /// Adds the next block for a thread to `batch`, with those to read along. Returns false if there is
    /// none. The thread must process all of them, in this order: others may wait for them.
    pub(crate) fn take<'q>(&'q self, worker: &mut WorkerState, batch: &mut Vec<Task<'q>>) -> bool {
        let mut state = self.state();
        let own = worker.span.and_then(|span| state.active.iter().position(|active| active.span == span));
        let at = match own.or_else(|| self.start_span(&mut state)) {
            Some(at) => at,
            None => {
                if state.next_solid < self.order.len() {
                    state.next_solid += 1;
                    batch.push(self.task(state.next_solid - 1, Vec::new()));
                    return true;
                }
                // Help with the span that has most blocks left.
                let left = |active: &ActiveSpan| self.spans[active.span].end - active.next;
                let longest = (0..state.active.len()).max_by_key(|&i| left(&state.active[i]));
                let Some(at) = longest else { return false };
                at
            }
        };
        let active = &mut state.active[at];
        worker.span = Some(active.span);
        let end = self.spans[active.span].end;
        let mut count = self.coalesced.get(active.next).copied().unwrap_or(1);
        while count > 0 && active.next < end {
            let task = self.advance(active);
            // Bounds the memory of a batch where very many files share blocks.
            count = if task.runs.len() > MAX_BATCHED_RUNS { 0 } else { count - 1 };
            batch.push(task);
        }
        if active.next == end {
            state.active.swap_remove(at);
        }
        true
    }

    /// Starts the next span, if there is one, and returns its index in [`QueueState::active`].
    fn start_span(&self, state: &mut QueueState) -> Option<usize> {
        let span = state.next_span;
        let Span { start, runs, .. } = *self.spans.get(span)?;
        state.next_span += 1;
        state.active.push(ActiveSpan { span, next: start, next_run: runs, open: Vec::new() });
        Some(state.active.len() - 1)
    }

    /// Takes the next block of a span.
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

    /// The block at an index of `order`.
    fn task(&self, at: usize, runs: Vec<u32>) -> Task<'_> {
        let block = self.order[at];
        let start = self.slices.partition_point(|slice| slice.block < block);
        let end = self.slices.partition_point(|slice| slice.block <= block);
        let ahead = self.order.get(at + READ_AHEAD).map(|&block| block as usize);
        Task { block: block as usize, slices: &self.slices[start..end], runs, ahead }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        lock(&self.state)
    }
}

/// Most runs of a block that is batched with the next.
const MAX_BATCHED_RUNS: usize = 64;

/// For each index in `order`, how many blocks from there one read may span. Unneeded bytes in between are
/// read along if they are at most a 64th of the reach, or a page.
fn coalesced_counts<S: linerate_io::ReadAt>(archive: &Archive<S>, order: &[u32]) -> Vec<u32> {
    let (layout, reach) = (archive.layout(), archive.source().coalesce_limit());
    let gap = reach / 64;
    let joins = |start: u32, end: usize| {
        let (Some(&block), Some(&next)) = (order.get(end - 1), order.get(end)) else { return false };
        let [start, block, next] = [start, block, next].map(|block| block as usize);
        layout.offset(next).saturating_sub(block_end(archive, block)) <= gap.max(PAGE)
            && block_end(archive, next) <= layout.offset(start).saturating_add(reach)
    };
    let mut end = 0;
    let count = |(i, &block): (usize, &u32)| {
        end = end.max(i + 1);
        while joins(block, end) {
            end += 1;
        }
        // Fewer than 2^18.
        (end - i) as u32
    };
    order.iter().enumerate().map(count).collect()
}

/// The blocks of `runs`, which are sorted by first block, and their spans.
fn spans(runs: &[BlockRun]) -> (Vec<u32>, Vec<Span>) {
    let (mut order, mut spans): (Vec<u32>, Vec<Span>) = (Vec::new(), Vec::new());
    for (i, run) in runs.iter().enumerate() {
        // The end of the span before.
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
        let state = Mutex::new(QueueState { next_solid: order.len(), ..QueueState::default() });
        order.extend(solid);
        Queue { slices, runs, order, spans, coalesced: Vec::new(), state }
    }

    fn take(queue: &Queue, worker: &mut WorkerState) -> Option<(usize, Vec<u32>)> {
        let mut batch = Vec::new();
        queue.take(worker, &mut batch).then(|| batch.remove(0)).map(|task| (task.block, task.runs))
    }

    #[test]
    fn each_thread_takes_its_own_chunked_file_and_helps_when_no_other_block_is_left() {
        let queue = queue(&[(0, 4), (4, 6), (6, 8)], &[9], &[9]);
        assert_eq!(queue.len(), 9);
        let (mut a, mut b) = (WorkerState::default(), WorkerState::default());
        assert_eq!(take(&queue, &mut a), Some((0, vec![0])));
        assert_eq!(take(&queue, &mut b), Some((4, vec![1])));
        assert_eq!(take(&queue, &mut b), Some((5, vec![1])));
        assert_eq!(take(&queue, &mut b), Some((6, vec![2])));
        assert_eq!(take(&queue, &mut a), Some((1, vec![0])));
        assert_eq!(take(&queue, &mut b), Some((7, vec![2])));
        assert_eq!(take(&queue, &mut b), Some((9, vec![])), "a block outside of all runs");
        assert_eq!(take(&queue, &mut b), Some((2, vec![0])), "nothing else is left");
        assert_eq!(take(&queue, &mut a), Some((3, vec![0])));
        assert_eq!(take(&queue, &mut a), None);
        assert_eq!(take(&queue, &mut b), None);
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
            assert!(queue.take(&mut workers[worker], &mut batch));
            assert_eq!((batch[0].block, &batch[0].runs[..]), (block, runs));
            assert_eq!(batch[0].slices.len(), usize::from([2, 4].contains(&block)));
        }
        assert!(workers.iter_mut().all(|worker| take(&queue, worker).is_none()));
    }
}

//! The order in which blocks are decoded, and which files each of them is for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::archive::{Archive, File};
use crate::block::ends;
use crate::header::PAGE;

/// A file that is a slice of one block: its number in the job, and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    pub(crate) file: u32,
    block: u32,
    pub(crate) from: usize,
    pub(crate) len: usize,
}

/// A file of several blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) file: u32,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// A block to decode, and what it is for.
#[derive(Debug)]
pub(crate) struct Work<'q> {
    pub(crate) block: usize,
    pub(crate) slices: &'q [Slice],
    /// Numbers of runs.
    pub(crate) runs: Vec<u32>,
}

/// One queue of blocks: those of large files, then all others, largest first.
///
/// A large file is hashed from its start, so its blocks are taken in order, and as long as there are
/// others each thread keeps to one of its own: who helps with another's waits for its blocks.
/// Where neighbours are worth reading at once, all blocks are in the order of the archive.
#[derive(Debug)]
pub(crate) struct Queue {
    slices: Vec<Slice>,
    runs: Vec<Run>,
    /// Those of the spans, one after the other, and all others.
    order: Vec<u32>,
    spans: Vec<Span>,
    /// How many of `order`, from each on, one read may span. Empty if each is read by itself.
    together: Vec<u32>,
    state: Mutex<State>,
}

/// Blocks that are taken in order: of one run, or of runs that have blocks in common.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Where its blocks begin and end in the order of all.
    start: usize,
    end: usize,
    /// Its first run. Those of the next span follow its own.
    runs: u32,
}

/// A span that has been begun, and is not taken to its end.
#[derive(Debug)]
struct Begun {
    /// Its number, by which the threads that are at it know it.
    span: usize,
    /// The place of its next block in the order of all.
    next: usize,
    next_run: u32,
    /// Runs that the block before was of. However many files share blocks, this is all that is
    /// kept of it.
    open: Vec<u32>,
}

#[derive(Debug, Default)]
struct State {
    next_span: usize,
    next_alone: usize,
    /// No more than there are threads.
    begun: Vec<Begun>,
}

/// What a thread is at.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    span: Option<usize>,
}

impl Queue {
    /// The blocks of these files, which come with their numbers. Empty ones have none.
    pub(crate) fn new<'f, S>(archive: &Archive<S>, files: impl Iterator<Item = (usize, File<'f>)>) -> Queue
    where
        S: crate::ReadAt,
    {
        let (mut slices, mut runs) = (Vec::new(), Vec::new());
        for (i, file) in files.filter(|(_, file)| file.size() > 0) {
            // There are fewer than 2^20 files and 2^18 blocks.
            let (number, blocks) = (i as u32, file.blocks());
            let (first, end) = (blocks.start as u32, blocks.end as u32);
            match file.is_chunked() {
                true => runs.push(Run { file: number, first, end }),
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
        let mut alone: Vec<u32> = slices.iter().map(|slice| slice.block).collect();
        alone.dedup();
        // So far the order is that of the archive.
        alone.retain(|block| order.binary_search(block).is_err());
        alone.sort_by_key(|&block| core::cmp::Reverse(archive.layout().content(block as usize)));
        order.extend(alone);
        let mut together = Vec::new();
        if archive.source().coalesce_limit() > 0 {
            order.sort_unstable();
            spans = vec![Span { start: 0, end: order.len(), runs: 0 }];
            spans.retain(|span| span.start < span.end);
            together = neighbours(archive, &order);
        }
        let next_alone = spans.last().map_or(0, |span| span.end);
        let state = Mutex::new(State { next_alone, ..State::default() });
        Queue { slices, runs, order, spans, together, state }
    }

    /// The number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&block| block as usize)
    }

    /// Files of several blocks.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Puts the next block for a thread into `batch`, and with it those that are worth reading at
    /// once. Whether there was one. What is taken must be worked on, in this order: others may wait
    /// for it.
    pub(crate) fn take<'q>(&'q self, hand: &mut Hand, batch: &mut Vec<Work<'q>>) -> bool {
        let mut state = self.state();
        let own = hand.span.and_then(|span| state.begun.iter().position(|begun| begun.span == span));
        let at = match own.or_else(|| self.begin(&mut state)) {
            Some(at) => at,
            None => {
                if let Some(&block) = self.order.get(state.next_alone) {
                    state.next_alone += 1;
                    batch.push(self.work(block, Vec::new()));
                    return true;
                }
                let left = |begun: &Begun| self.spans[begun.span].end - begun.next;
                let most = (0..state.begun.len()).max_by_key(|&i| left(&state.begun[i]));
                let Some(at) = most else { return false };
                at
            }
        };
        let begun = &mut state.begun[at];
        hand.span = Some(begun.span);
        let end = self.spans[begun.span].end;
        let mut count = self.together.get(begun.next).copied().unwrap_or(1);
        while count > 0 && begun.next < end {
            let work = self.advance(begun);
            // What is kept of each is small, unless very many files share it.
            count = if work.runs.len() > FEW { 0 } else { count - 1 };
            batch.push(work);
        }
        if begun.next == end {
            state.begun.swap_remove(at);
        }
        true
    }

    /// Begins the next span, if there is one.
    fn begin(&self, state: &mut State) -> Option<usize> {
        let span = state.next_span;
        let Span { start, runs, .. } = *self.spans.get(span)?;
        state.next_span += 1;
        state.begun.push(Begun { span, next: start, next_run: runs, open: Vec::new() });
        Some(state.begun.len() - 1)
    }

    /// The next block of a span.
    fn advance(&self, begun: &mut Begun) -> Work<'_> {
        let block = self.order[begun.next];
        begun.next += 1;
        begun.open.retain(|&run| self.runs[run as usize].end > block);
        while self.runs.get(begun.next_run as usize).is_some_and(|run| run.first == block) {
            begun.open.push(begun.next_run);
            begun.next_run += 1;
        }
        self.work(block, begun.open.clone())
    }

    fn work(&self, block: u32, runs: Vec<u32>) -> Work<'_> {
        let start = self.slices.partition_point(|slice| slice.block < block);
        let end = self.slices.partition_point(|slice| slice.block <= block);
        Work { block: block as usize, slices: &self.slices[start..end], runs }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Large files that share a block which is taken with others.
const FEW: usize = 64;

/// How many of these blocks one read may span, from each of them on. What nobody wants is read over
/// if it is short beside what one read may span.
fn neighbours<S: crate::ReadAt>(archive: &Archive<S>, order: &[u32]) -> Vec<u32> {
    let (layout, reach) = (archive.layout(), archive.source().coalesce_limit());
    let gap = reach / 64;
    let joins = |start: u32, end: usize| {
        let (Some(&block), Some(&next)) = (order.get(end - 1), order.get(end)) else { return false };
        let [start, block, next] = [start, block, next].map(|block| block as usize);
        layout.offset(next).saturating_sub(ends(archive, block)) <= gap.max(PAGE)
            && ends(archive, next) <= layout.offset(start).saturating_add(reach)
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

/// The blocks of runs that are sorted by their first block, and the spans of them.
fn spans(runs: &[Run]) -> (Vec<u32>, Vec<Span>) {
    let (mut order, mut spans): (Vec<u32>, Vec<Span>) = (Vec::new(), Vec::new());
    for (i, run) in runs.iter().enumerate() {
        // The block after the last of the span before.
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

    fn queue(runs: &[(u32, u32)], slices: &[u32], alone: &[u32]) -> Queue {
        let runs: Vec<Run> = (0..).zip(runs).map(|(file, &(first, end))| Run { file, first, end }).collect();
        let slices = slices.iter().map(|&block| Slice { file: 99, block, from: 0, len: 1 }).collect();
        let (mut order, spans) = spans(&runs);
        let state = Mutex::new(State { next_alone: order.len(), ..State::default() });
        order.extend(alone);
        Queue { slices, runs, order, spans, together: Vec::new(), state }
    }

    fn take(queue: &Queue, hand: &mut Hand) -> Option<(usize, Vec<u32>)> {
        let mut batch = Vec::new();
        queue.take(hand, &mut batch).then(|| batch.remove(0)).map(|work| (work.block, work.runs))
    }

    #[test]
    fn threads_keep_to_large_files_of_their_own_and_help_at_the_end() {
        let queue = queue(&[(0, 4), (4, 6), (6, 8)], &[9], &[9]);
        assert_eq!(queue.len(), 9);
        let (mut a, mut b) = (Hand::default(), Hand::default());
        assert_eq!(take(&queue, &mut a), Some((0, vec![0])));
        assert_eq!(take(&queue, &mut b), Some((4, vec![1])));
        assert_eq!(take(&queue, &mut b), Some((5, vec![1])));
        assert_eq!(take(&queue, &mut b), Some((6, vec![2])));
        assert_eq!(take(&queue, &mut a), Some((1, vec![0])));
        assert_eq!(take(&queue, &mut b), Some((7, vec![2])));
        assert_eq!(take(&queue, &mut b), Some((9, vec![])), "a block that nobody waits for");
        assert_eq!(take(&queue, &mut b), Some((2, vec![0])), "nothing else is left");
        assert_eq!(take(&queue, &mut a), Some((3, vec![0])));
        assert_eq!(take(&queue, &mut a), None);
        assert_eq!(take(&queue, &mut b), None);
    }

    #[test]
    fn runs_with_blocks_in_common_are_one_span_and_each_block_is_taken_once() {
        // The first holds the second and ends within the third; the last is on its own.
        let queue = queue(&[(0, 4), (1, 3), (3, 6), (6, 7)], &[2, 4], &[]);
        let mut hands = [Hand::default(), Hand::default()];
        let expected: [(usize, &[u32], usize); 7] = [
            (0, &[0], 0),
            (6, &[3], 1),
            (1, &[0, 1], 0),
            (2, &[0, 1], 1),
            (3, &[0, 2], 0),
            (4, &[2], 1),
            (5, &[2], 0),
        ];
        for (block, runs, hand) in expected {
            let mut batch = Vec::new();
            assert!(queue.take(&mut hands[hand], &mut batch));
            assert_eq!((batch[0].block, &batch[0].runs[..]), (block, runs));
            assert_eq!(batch[0].slices.len(), usize::from([2, 4].contains(&block)));
        }
        assert!(hands.iter_mut().all(|hand| take(&queue, hand).is_none()));
    }
}

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

/// One queue of blocks. Those of large files come first, in their order, so that a file is hashed
/// from its start and its threads wait only for the block before; then all others, largest first.
/// Where neighbours are worth reading at once, all are in the order of the archive.
#[derive(Debug)]
pub(crate) struct Queue {
    slices: Vec<Slice>,
    runs: Vec<Run>,
    order: Vec<u32>,
    /// How many of `order` are of large files.
    ordered: usize,
    /// How many of `order`, from each on, one read may span. Empty if each is read by itself.
    together: Vec<u32>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: usize,
    next_run: usize,
    /// Runs that the block before was of. However many files share blocks, this is all that is
    /// kept of it.
    open: Vec<u32>,
}

impl Queue {
    /// The blocks of these files, of which empty ones have none.
    pub(crate) fn new<'f, S>(archive: &Archive<S>, files: impl Iterator<Item = File<'f>>) -> Queue
    where
        S: crate::Source,
    {
        let (mut slices, mut runs) = (Vec::new(), Vec::new());
        for (i, file) in files.enumerate().filter(|(_, file)| file.size() > 0) {
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
        let covered = covered(&runs, archive.layout().len());
        let mut order: Vec<u32> =
            (0..archive.layout().len() as u32).filter(|&b| covered[b as usize]).collect();
        let mut ordered = order.len();
        let mut alone: Vec<u32> = slices.iter().map(|slice| slice.block).collect();
        alone.dedup();
        alone.retain(|&block| !covered[block as usize]);
        alone.sort_by_key(|&block| core::cmp::Reverse(archive.layout().content(block as usize)));
        order.extend(alone);
        let mut together = Vec::new();
        if archive.source().reach() > 0 {
            order.sort_unstable();
            ordered = order.len();
            together = neighbours(archive, &order);
        }
        Queue { slices, runs, order, ordered, together, state: Mutex::default() }
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

    /// Puts the next block into `batch`, and with it those that are worth reading at once. Whether
    /// there was one. What is taken must be worked on, in this order: others may wait for it.
    pub(crate) fn take<'q>(&'q self, batch: &mut Vec<Work<'q>>) -> bool {
        let mut state = self.state();
        let mut count = self.together.get(state.next).copied().unwrap_or(1);
        while count > 0
            && let Some(work) = self.next(&mut state)
        {
            // What is kept of each is small, unless very many files share it.
            count = if work.runs.len() > FEW { 0 } else { count - 1 };
            batch.push(work);
        }
        !batch.is_empty()
    }

    fn next(&self, state: &mut State) -> Option<Work<'_>> {
        let block = *self.order.get(state.next)?;
        let mut runs = Vec::new();
        if state.next < self.ordered {
            state.open.retain(|&run| self.runs[run as usize].end > block);
            while self.runs.get(state.next_run).is_some_and(|run| run.first == block) {
                let run = state.next_run as u32;
                state.open.push(run);
                state.next_run += 1;
            }
            runs.clone_from(&state.open);
        }
        state.next += 1;
        let start = self.slices.partition_point(|slice| slice.block < block);
        let end = self.slices.partition_point(|slice| slice.block <= block);
        Some(Work { block: block as usize, slices: &self.slices[start..end], runs })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Large files that share a block which is taken with others.
const FEW: usize = 64;

/// How many of these blocks one read may span, from each of them on. What nobody wants is read over
/// if it is short beside what one read may span.
fn neighbours<S: crate::Source>(archive: &Archive<S>, order: &[u32]) -> Vec<u32> {
    let (layout, reach) = (archive.layout(), archive.source().reach());
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

/// Which blocks any of the runs covers.
fn covered(runs: &[Run], blocks: usize) -> Vec<bool> {
    let mut covered = vec![false; blocks];
    // Runs are sorted by their first block, so each block is visited once.
    let mut reached = 0;
    for run in runs {
        let (first, end) = (run.first as usize, run.end as usize);
        covered[first.max(reached).min(end)..end].fill(true);
        reached = reached.max(end);
    }
    covered
}

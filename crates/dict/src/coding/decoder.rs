//! [`Decoder`]: decodes single blocks and batches.

use linerate_core::Result;
use linerate_zstd::PrefetchQueue;

use crate::coding::job::{Job, Order};
use crate::coding::pipeline::Pipeline;
use crate::coding::worker::{Ready, Worker};
use crate::id::Id;
use crate::prefetch::prefetch;
use crate::stats::Counters;
use crate::store::Store;

/// Maximum number of bytes of a single block that are prefetched. In a larger block the CPU's own
/// prefetcher reads on.
const PREFETCHED: usize = 4 << 10;

/// Decodes blocks with the dictionaries of a store. Each thread needs one, of about 290 KiB, and 4
/// bytes for each job of the largest batch.
///
/// A block is one zstd frame. If the frame's header has a Dictionary_ID, it must be that of the
/// given dictionary. If a wrong dictionary has the same Dictionary_ID, or the frame has none, only
/// a checksum in the frame is certain to detect it.
pub struct Decoder {
    store: Store,
    worker: Worker,
    order: Vec<u32>,
}

impl Decoder {
    /// Creates a decoder for the dictionaries of `store`.
    pub fn new(store: &Store) -> Self {
        Decoder { store: store.clone(), worker: Worker::new(), order: Vec::new() }
    }

    /// Returns the store.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the counts of what this decoder did so far.
    pub fn counters(&self) -> Counters {
        self.worker.counters
    }

    /// Decodes one block into `dst`, and returns the length of the block's content in bytes.
    /// Several blocks are faster in a [batch](Self::decode_batch).
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`](crate::Kind::BadArgument) for an unknown ID, or a block with
    /// another Dictionary_ID; [`Truncated`](crate::Kind::Truncated) or
    /// [`Corrupt`](crate::Kind::Corrupt) unless the block is exactly one frame;
    /// [`OutputTooSmall`](crate::Kind::OutputTooSmall) if the content does not fit `dst`; and, at
    /// the first use of a registered dictionary, the errors of [`Store::bytes`]. After an error the
    /// content of `dst` is unspecified.
    pub fn decode(&mut self, id: Id, block: &[u8], dst: &mut [u8]) -> Result<usize> {
        let Decoder { store, worker, .. } = self;
        // A locked instruction pins the dictionary's slot, and later loads wait until the line of
        // that slot has arrived. The block is therefore prefetched first.
        prefetch(&block[..block.len().min(PREFETCHED)]);
        let result = worker.open(store.shared(), id, block).and_then(|mut ready| {
            ready.read_ahead();
            worker.decode(&ready, block, dst, &mut PrefetchQueue::new())
        });
        worker.count(&result);
        result
    }

    /// Decodes all jobs, and prefetches the memory of each while the previous one is decoded. Each
    /// job's `result` has the length of its content, or an error of [`decode`](Self::decode), which
    /// does not affect other jobs.
    pub fn decode_batch(&mut self, jobs: &mut [Job<'_>], order: Order) {
        order.arrange(jobs, &mut self.order);
        let Decoder { store, worker, order } = self;
        let shared = store.shared();
        let mut prefetch = PrefetchQueue::new();
        let job_at = |position: usize| order.get(position).map(|&index| index as usize);
        let mut next_ready: Option<Result<Ready<'_>>> = None;
        for position in 0..order.len() {
            let Some(index) = job_at(position) else { break };
            prefetch.clear();
            let ready = next_ready.take().unwrap_or_else(|| {
                let mut first = worker.open(shared, jobs[index].id, jobs[index].block)?;
                first.read_ahead();
                Ok(first)
            });
            if let Some(second) = job_at(position + 2) {
                shared.prefetch_slot(jobs[second].id);
                prefetch.enqueue(jobs[second].block);
            }
            next_ready = job_at(position + 1).map(|next| {
                let mut next = worker.open(shared, jobs[next].id, jobs[next].block)?;
                next.enqueue_prefetch(&mut prefetch);
                Ok(next)
            });
            let job = &mut jobs[index];
            job.result = ready.and_then(|ready| worker.decode(&ready, job.block, job.dst, &mut prefetch));
            worker.count(&job.result);
        }
    }

    /// Returns a pipeline for jobs that arrive one by one.
    pub fn pipeline<'j>(&mut self) -> Pipeline<'_, 'j> {
        Pipeline::new(self.store.shared(), &mut self.worker)
    }
}

//! Blocks decoded one by one or in batches.

use linerate_core::Result;
use linerate_zstd::Prefetch;

use crate::id::Id;
use crate::job::{Job, Order};
use crate::pipeline::Pipeline;
use crate::stats::Tally;
use crate::store::Store;
use crate::worker::{Worker, hurry, list};

/// Decodes blocks with the dictionaries of a store. Each thread needs one of its own, of about
/// 330 KiB, and 4 bytes for each job of its largest batch.
///
/// A block is one zstd frame. If it names a dictionary by the 32-bit number of its format, that must
/// be the number of the one it is decoded with; only a checksum in the frame tells a wrong dictionary
/// of the same number.
pub struct Decoder {
    store: Store,
    worker: Worker,
    order: Vec<u32>,
    /// The dictionary of the last single block, whose tables are likely to be in the cache.
    last: Id,
}

impl Decoder {
    /// A decoder for the dictionaries of `store`.
    pub fn new(store: &Store) -> Self {
        Decoder { store: store.clone(), worker: Worker::new(), order: Vec::new(), last: Id::NONE }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What it has done.
    pub fn tally(&self) -> Tally {
        self.worker.tally
    }

    /// Decodes one block into `dst` and returns how many bytes that is. Several blocks are faster in
    /// a [batch](Self::decode_batch).
    ///
    /// # Errors
    /// [`Kind::BadArgument`](crate::Kind::BadArgument) for an unknown number, and for a block that
    /// names another dictionary; [`Truncated`](crate::Kind::Truncated) and
    /// [`Corrupt`](crate::Kind::Corrupt) for what is no frame, or more than one;
    /// [`OutputTooSmall`](crate::Kind::OutputTooSmall). What `dst` holds then is unspecified.
    pub fn decode(&mut self, id: Id, block: &[u8], dst: &mut [u8]) -> Result<usize> {
        let result = self.store.shared().open(id).and_then(|pin| {
            if let Some(pin) = &pin
                && id != self.last
            {
                hurry(pin);
            }
            self.worker.decode(pin.as_ref(), block, dst, &mut Prefetch::new())
        });
        self.last = id;
        self.worker.count(&result);
        result
    }

    /// Decodes all jobs, fetching the memory of each while the one before it is decoded. What became
    /// of a job is in its `result`, with the errors of [`decode`](Self::decode); no job is disturbed
    /// by another.
    pub fn decode_batch(&mut self, jobs: &mut [Job<'_>], order: Order) {
        order.arrange(jobs, &mut self.order);
        let shared = self.store.shared();
        let mut lines = Prefetch::new();
        let mut coming = self.order.first().map(|&first| shared.open(jobs[first as usize].id));
        for (turn, &index) in self.order.iter().enumerate() {
            let Some(pin) = coming.take() else { break };
            if let Some(&second) = self.order.get(turn + 2) {
                shared.announce(jobs[second as usize].id);
            }
            lines.clear();
            if let Some(&next) = self.order.get(turn + 1) {
                let next = &jobs[next as usize];
                let opened = shared.open(next.id);
                // Tables that are in use are at hand already.
                let new = opened.as_ref().ok().and_then(Option::as_ref);
                list(&mut lines, new.filter(|_| next.id != jobs[index as usize].id), next.block);
                coming = Some(opened);
            }
            let job = &mut jobs[index as usize];
            job.result = pin.and_then(|pin| self.worker.decode(pin.as_ref(), job.block, job.dst, &mut lines));
            self.worker.count(&job.result);
        }
        self.last = self.order.last().map_or(self.last, |&last| jobs[last as usize].id);
    }

    /// For jobs that come one by one.
    pub fn pipeline<'j>(&mut self) -> Pipeline<'_, 'j> {
        Pipeline::new(self.store.shared(), &mut self.worker)
    }
}

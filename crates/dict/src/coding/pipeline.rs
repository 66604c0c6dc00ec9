//! [`Pipeline`]: decodes jobs that arrive one by one.

use std::collections::VecDeque;

use linerate_core::Result;
use linerate_zstd::PrefetchQueue;

use crate::coding::job::Job;
use crate::coding::worker::{Ready, Worker};
use crate::store::shared::Shared;

/// Accepts jobs one by one. [`push`](Self::push) decodes the job before, and prefetches the memory of
/// the new one meanwhile. [`finish`](Self::finish) decodes the last job.
///
#[cfg_attr(feature = "encode", doc = "```")]
#[cfg_attr(not(feature = "encode"), doc = "```ignore")]
/// # use linerate_dict::{Decoder, Encoder, Job, Store};
/// # let store = Store::new();
/// # let id = store.insert(b"a dictionary")?;
/// # let mut block = vec![0; Encoder::bound(5)];
/// # let n = Encoder::new(&store).encode(id, b"a row", &mut block)?;
/// # block.truncate(n);
/// # let requests = [(id, &block[..])];
/// let mut buffers = vec![[0; 100]; requests.len()];
/// let mut decoder = Decoder::new(&store);
/// let mut pipeline = decoder.pipeline();
/// for ((id, block), dst) in requests.into_iter().zip(&mut buffers) {
///     pipeline.push(Job::new(id, block, dst));
///     while let Some(job) = pipeline.poll() {
///         println!("{:?}", job.content());
///     }
/// }
/// pipeline.finish();
/// assert_eq!(pipeline.poll().unwrap().content(), Some(&b"a row"[..]));
/// # Ok::<(), linerate_dict::Error>(())
/// ```
pub struct Pipeline<'a, 'j> {
    shared: &'a Shared,
    worker: &'a mut Worker,
    waiting: Option<(Job<'j>, Result<Ready<'a>>)>,
    done: VecDeque<Job<'j>>,
}

impl<'a, 'j> Pipeline<'a, 'j> {
    pub(crate) fn new(shared: &'a Shared, worker: &'a mut Worker) -> Self {
        Pipeline { shared, worker, waiting: None, done: VecDeque::new() }
    }

    /// Accepts a job, and decodes the previous one.
    pub fn push(&mut self, job: Job<'j>) {
        let mut ready = self.worker.open(self.shared, job.id, job.block);
        let mut lines = PrefetchQueue::new();
        lines.enqueue(job.block);
        if let Ok(ready) = &mut ready {
            ready.enqueue_prefetch(&mut lines);
        }
        self.decode(&mut lines);
        self.waiting = Some((job, ready));
    }

    /// Decodes the last job.
    pub fn finish(&mut self) {
        self.decode(&mut PrefetchQueue::new());
    }

    /// Returns a decoded job, in the order of arrival. Returns `None` if there are no more jobs, or
    /// the next one waits for another push, or for [`finish`](Self::finish).
    pub fn poll(&mut self) -> Option<Job<'j>> {
        self.done.pop_front()
    }

    /// Returns the number of jobs pushed and not yet polled.
    pub fn len(&self) -> usize {
        self.done.len() + usize::from(self.waiting.is_some())
    }

    /// Returns whether all jobs were polled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn decode(&mut self, lines: &mut PrefetchQueue) {
        let Some((mut job, ready)) = self.waiting.take() else { return };
        job.result = ready.and_then(|ready| self.worker.decode(&ready, job.block, job.dst, lines));
        self.worker.count(&job.result);
        self.done.push_back(job);
    }
}

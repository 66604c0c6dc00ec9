//! Jobs that come one by one.

use std::collections::VecDeque;

use linerate_core::Result;
use linerate_zstd::PrefetchQueue;

use crate::job::Job;
use crate::store::Shared;
use crate::worker::{Ready, Worker};

/// Takes jobs one by one, and decodes each when the next has come, whose memory is fetched meanwhile.
///
/// ```
/// # use linerate_dict::{Decoder, Encoder, Job, Store};
/// # let store = Store::new();
/// # let id = store.insert(b"a dictionary")?;
/// # let mut block = vec![0; Encoder::bound(5)];
/// # let n = Encoder::new(&store).encode(id, b"a row", &mut block)?;
/// # block.truncate(n);
/// # let requests = [(id, &block[..])];
/// let mut rooms = vec![[0; 100]; requests.len()];
/// let mut decoder = Decoder::new(&store);
/// let mut pipeline = decoder.pipeline();
/// for ((id, block), dst) in requests.into_iter().zip(&mut rooms) {
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

    /// Takes a job, and decodes the one before it.
    pub fn push(&mut self, job: Job<'j>) {
        let mut ready = self.worker.open(self.shared, job.id, job.block);
        let mut lines = PrefetchQueue::new();
        lines.enqueue(job.block);
        if let Ok(ready) = &mut ready {
            ready.list(&mut lines);
        }
        self.decode(&mut lines);
        self.waiting = Some((job, ready));
    }

    /// Decodes the job that is left.
    pub fn finish(&mut self) {
        self.decode(&mut PrefetchQueue::new());
    }

    /// A job that is done, in the order in which they came. None if the next one still waits for the
    /// one behind it, or for [`finish`](Self::finish).
    pub fn poll(&mut self) -> Option<Job<'j>> {
        self.done.pop_front()
    }

    /// Jobs that are taken and not yet polled.
    pub fn len(&self) -> usize {
        self.done.len() + usize::from(self.waiting.is_some())
    }

    /// Whether all jobs were polled.
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

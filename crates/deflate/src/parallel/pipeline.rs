//! The jobs of parallel compression. They are read in order, compressed by any free thread, and
//! written in order.
//!
//! The calling thread reads and writes; workers only turn a [`Job`]'s input into its output. How
//! the input is divided into jobs depends on [`JobSizes`] alone, so the output does not depend on
//! the number of threads.

use std::cell::RefCell;
use std::io::{self, ErrorKind, Read};

use linerate_core::ordered;

use super::content;
use crate::{Result, Scratch};

/// Sizes of jobs in bytes, and the number of workers.
pub(super) struct JobSizes {
    pub(super) threads: usize,
    /// Number of jobs that exist besides one for each worker. These jobs are read and waiting, or
    /// compressed and not written yet.
    pub(super) ahead: usize,
    /// Maximum input of a job. The last job may have less, and with `rsyncable` any job.
    pub(super) input: usize,
    /// Number of bytes before a job that the job may refer to.
    pub(super) history: usize,
    /// Maximum output of a job.
    pub(super) output: usize,
    /// Size of a block, or with `rsyncable` its maximum size. At most `input`, which is a multiple
    /// of it.
    pub(super) block_size: usize,
    /// Whether the content decides where blocks end.
    pub(super) rsyncable: bool,
}

impl JobSizes {
    /// Returns [`ahead`](Self::ahead) for jobs of `input` bytes: two, or as many as make 2 MiB of
    /// input if that is more. With only two short jobs the workers would wait until the calling
    /// thread wakes.
    pub(super) const fn ahead_of(input: usize) -> usize {
        let jobs = (2 << 20) / input;
        if jobs > 2 { jobs } else { 2 }
    }

    /// Returns the length of the first block of `bytes`, or `None` if the block does not end within
    /// `bytes`.
    fn block_len(&self, bytes: &[u8]) -> Option<usize> {
        if self.rsyncable {
            content::block_len(bytes, self.block_size)
        } else {
            (bytes.len() >= self.block_size).then_some(self.block_size)
        }
    }
}

/// One piece of the input and its compressed output. Jobs are reused; at most `threads` + `ahead`
/// exist.
pub(super) struct Job {
    /// History, input, and the first bytes of the next job, whose absence shows the end of the
    /// input.
    buffer: Vec<u8>,
    history: usize,
    filled: usize,
    /// Where the blocks of input end, as offsets in `buffer`.
    ends: Vec<usize>,
    /// Whether the input ends with this job.
    pub(super) last: bool,
    /// Output buffer. Bytes after `used` are stale.
    pub(super) output: Vec<u8>,
    pub(super) used: usize,
    /// Checksum of the input, set by the worker.
    pub(super) check: u32,
}

impl Job {
    fn new(sizes: &JobSizes) -> Self {
        Job {
            buffer: vec![0; sizes.history + sizes.input + 1],
            history: 0,
            filled: 0,
            ends: Vec::new(),
            last: false,
            output: vec![0; sizes.output],
            used: 0,
            check: 0,
        }
    }

    /// Returns history and input, and the offset of the input.
    pub(super) fn with_history(&self) -> (&[u8], usize) {
        (&self.buffer[..self.filled], self.history)
    }

    pub(super) fn input(&self) -> &[u8] {
        &self.buffer[self.history..self.filled]
    }

    /// Returns where the blocks end, as offsets in the buffer of
    /// [`with_history`](Self::with_history). The last one is the end of the input.
    pub(super) fn block_ends(&self) -> &[usize] {
        &self.ends
    }

    pub(super) fn output(&self) -> &[u8] {
        &self.output[..self.used]
    }
}

/// Divides the input of a reader into jobs.
struct JobReader<'p, R> {
    sizes: &'p JobSizes,
    reader: R,
    /// The last `sizes.history` bytes of the previous job.
    tail: Vec<u8>,
    /// The first bytes of the next job, which were read with the previous one.
    carried: Vec<u8>,
}

impl<R: Read> JobReader<'_, R> {
    fn fill(&mut self, job: &mut Job) -> io::Result<()> {
        let start = self.tail.len();
        let end = start + self.sizes.input;
        job.buffer[..start].copy_from_slice(&self.tail);
        let mut filled = start + self.carried.len();
        job.buffer[start..filled].copy_from_slice(&self.carried);
        while filled <= end {
            match self.reader.read(&mut job.buffer[filled..=end]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        job.last = filled <= end;
        let cut = self.cut(job, start, filled.min(end));
        self.carried.clear();
        self.carried.extend_from_slice(&job.buffer[cut..filled]);
        (job.history, job.filled, job.used) = (start, cut, 0);
        self.tail.clear();
        self.tail.extend_from_slice(&job.buffer[cut.saturating_sub(self.sizes.history)..cut]);
        Ok(())
    }

    /// Finds the blocks of a job in `start..end` of its buffer, and returns where the last one
    /// ends.
    fn cut(&self, job: &mut Job, start: usize, end: usize) -> usize {
        job.ends.clear();
        let mut at = start;
        while at < end {
            at += match self.sizes.block_len(&job.buffer[at..end]) {
                Some(len) => len,
                None if job.last => end - at,
                None => break,
            };
            job.ends.push(at);
        }
        at
    }
}

/// Runs `work` on every job of `reader`, and `sink` on the jobs in order.
///
/// A panic in `work` propagates to the caller after the other threads have ended.
pub(super) fn run<R, W, S>(sizes: &JobSizes, reader: R, work: W, mut sink: S) -> io::Result<()>
where
    R: Read,
    W: Fn(&mut Scratch, &mut Job) -> Result<()> + Sync,
    S: FnMut(&Job) -> io::Result<()>,
{
    let mut job_reader = JobReader { sizes, reader, tail: Vec::new(), carried: Vec::new() };
    let mut first = Job::new(sizes);
    job_reader.fill(&mut first)?;
    // A single job needs no other thread.
    let threads = if first.last { 1 } else { sizes.threads };
    let mut is_last = first.last;
    let mut first = Some(first);
    let free = RefCell::new(Vec::new());
    let next = || {
        if let Some(job) = first.take() {
            return Ok(Some(job));
        }
        if is_last {
            return Ok(None);
        }
        let mut job = free.borrow_mut().pop().unwrap_or_else(|| Job::new(sizes));
        job_reader.fill(&mut job)?;
        is_last = job.last;
        Ok(Some(job))
    };
    let worker = || {
        let mut scratch = Scratch::boxed();
        let work = &work;
        move |mut job: Job| {
            let result = work(&mut scratch, &mut job);
            (job, result)
        }
    };
    ordered((threads, sizes.ahead), next, worker, |(job, result)| {
        result?;
        sink(&job)?;
        free.borrow_mut().push(job);
        Ok(())
    })
}

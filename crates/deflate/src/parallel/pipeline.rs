//! The thread pool of parallel compression: jobs are read in order, compressed by any free worker, written in
//! order.
//!
//! The calling thread reads and writes; workers only turn a [`Job`]'s input into its output. The content of
//! a job depends on [`JobSizes`] alone, so the output does not depend on the number of threads.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;

use linerate_core::lock;

use super::content;
use crate::{Result, Scratch};

/// Sizes in bytes, and the number of workers.
pub(super) struct JobSizes {
    pub(super) threads: usize,
    /// Jobs besides those of the workers: read and waiting, or done and not written yet.
    pub(super) ahead: usize,
    /// Input of one job; the last may have less.
    pub(super) input: usize,
    /// History before the job that it may refer to.
    pub(super) history: usize,
    /// Most output of one job.
    pub(super) output: usize,
    /// Size of a block, or with `rsyncable` the most of one; at most `input`, which holds whole ones.
    pub(super) block_size: usize,
    /// Whether the content decides where blocks end.
    pub(super) rsyncable: bool,
}

impl JobSizes {
    /// Two jobs, or 2 MiB of input if that is more: with only two jobs of 128 KiB workers wait for the calling thread
    /// to be woken, and two are hardly faster than one.
    pub(super) const fn ahead_of(input: usize) -> usize {
        let jobs = (2 << 20) / input;
        if jobs > 2 { jobs } else { 2 }
    }

    /// Length of the first block of `bytes`; `None` if it does not end in them.
    fn block_len(&self, bytes: &[u8]) -> Option<usize> {
        if self.rsyncable {
            content::block_len(bytes, self.block_size)
        } else {
            (bytes.len() >= self.block_size).then_some(self.block_size)
        }
    }
}

/// One piece of the input and its compressed output. Jobs are reused: at most `threads` + `ahead` exist.
pub(super) struct Job {
    /// History, input, and at least one byte of the next job, to detect the end of the input.
    buffer: Vec<u8>,
    history: usize,
    filled: usize,
    /// Offsets in the buffer of the ends of the blocks.
    ends: Vec<usize>,
    /// Whether the input ends with this job.
    pub(super) last: bool,
    /// Output buffer; bytes after `used` are stale.
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

    /// History and input, and the offset of the input.
    pub(super) fn with_history(&self) -> (&[u8], usize) {
        (&self.buffer[..self.filled], self.history)
    }

    pub(super) fn input(&self) -> &[u8] {
        &self.buffer[self.history..self.filled]
    }

    /// Offsets, in what [`with_history`](Self::with_history) returns, of the ends of the blocks. The last is the end of the
    /// input.
    pub(super) fn block_ends(&self) -> &[usize] {
        &self.ends
    }

    pub(super) fn output(&self) -> &[u8] {
        &self.output[..self.used]
    }
}

/// Cuts the input of a reader into jobs.
struct JobReader<'p, R> {
    sizes: &'p JobSizes,
    reader: R,
    /// The last `sizes.history` bytes of the job before.
    tail: Vec<u8>,
    /// The first bytes of the next job, read with the one before.
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

    /// Finds the blocks of a job in `start..end` of its buffer; returns where the last one ends.
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

/// Runs `work` on every job of `reader`, and `sink` on the results in order.
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
    if sizes.threads > 1 && !first.last {
        return run_threads(job_reader, first, &work, sink);
    }
    let mut scratch = Scratch::boxed();
    loop {
        work(&mut scratch, &mut first)?;
        sink(&first)?;
        if first.last {
            return Ok(());
        }
        job_reader.fill(&mut first)?;
    }
}

type Done = (Job, Result<()>);
type Task = (Job, Sender<Done>);

fn run_threads<R, W, S>(mut job_reader: JobReader<'_, R>, first: Job, work: &W, mut sink: S) -> io::Result<()>
where
    R: Read,
    W: Fn(&mut Scratch, &mut Job) -> Result<()> + Sync,
    S: FnMut(&Job) -> io::Result<()>,
{
    let sizes = job_reader.sizes;
    let max_jobs = sizes.threads.saturating_add(sizes.ahead);
    let (task_sender, task_receiver) = mpsc::channel::<Task>();
    let task_receiver = &Mutex::new(task_receiver);
    thread::scope(|scope| {
        // Owned here, so that every exit of this closure, also a panic, ends the workers.
        let task_sender = task_sender;
        let mut waiting: VecDeque<Receiver<Done>> = VecDeque::new();
        let mut free: Vec<Job> = Vec::new();
        let (mut next, mut made) = (Some(first), 1);
        let (mut wanted, mut spawned) = (sizes.threads, 0);
        while let Some(job) = next.take() {
            let last = job.last;
            let (done, result) = mpsc::channel();
            task_sender.send((job, done)).map_err(|_| lost())?;
            waiting.push_back(result);
            if spawned < wanted {
                match thread::Builder::new().spawn_scoped(scope, || run_worker(task_receiver, work)) {
                    Ok(_) => spawned += 1,
                    Err(e) if spawned == 0 => return Err(e),
                    // Fewer threads produce the same bytes.
                    Err(_) => wanted = spawned,
                }
            }
            if last {
                break;
            }
            collect_ready(&mut waiting, &mut free, &mut sink)?;
            let mut job = match free.pop() {
                Some(job) => job,
                None if made < max_jobs => {
                    made += 1;
                    Job::new(sizes)
                }
                None => collect(&mut waiting, &mut sink)?,
            };
            job_reader.fill(&mut job)?;
            next = Some(job);
        }
        while !waiting.is_empty() {
            collect(&mut waiting, &mut sink)?;
        }
        Ok(())
    })
}

/// A worker: runs tasks until the sender is dropped.
fn run_worker<W>(task_receiver: &Mutex<Receiver<Task>>, work: &W)
where
    W: Fn(&mut Scratch, &mut Job) -> Result<()>,
{
    let mut scratch = Scratch::boxed();
    loop {
        // Nothing but `recv` runs under the lock, so a poisoned one guards a sound receiver.
        let task = lock(task_receiver).recv();
        let Ok((mut job, done)) = task else { return };
        let result = work(&mut scratch, &mut job);
        if done.send((job, result)).is_err() {
            return;
        }
    }
}

/// Waits for the oldest job. It has been taken before any younger one, so if no worker is left
/// its sender is gone, and this ends.
fn collect(
    waiting: &mut VecDeque<Receiver<Done>>,
    sink: &mut impl FnMut(&Job) -> io::Result<()>,
) -> io::Result<Job> {
    let oldest = waiting.pop_front().ok_or_else(lost)?;
    let (job, result) = oldest.recv().map_err(|_| lost())?;
    result?;
    sink(&job)?;
    Ok(job)
}

/// Writes the jobs that are done already, as far as they are the oldest.
fn collect_ready(
    waiting: &mut VecDeque<Receiver<Done>>,
    free: &mut Vec<Job>,
    sink: &mut impl FnMut(&Job) -> io::Result<()>,
) -> io::Result<()> {
    while let Some(oldest) = waiting.front() {
        match oldest.try_recv() {
            Ok((job, result)) => {
                waiting.pop_front();
                result?;
                sink(&job)?;
                free.push(job);
            }
            Err(TryRecvError::Empty) => break,
            Err(TryRecvError::Disconnected) => return Err(lost()),
        }
    }
    Ok(())
}

fn lost() -> io::Error {
    io::Error::other("a compressing thread ended early")
}

//! Jobs through threads: read in order, worked on by whoever is free, written in order.
//!
//! The calling thread reads and writes; the others only turn a [`Job`]'s input into its output.
//! What a job holds depends on the sizes of the [`Plan`] alone, so the number of threads cannot
//! show in the output.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::{Result, Scratch};

/// Sizes, in bytes, and the number of threads that work.
pub(super) struct Plan {
    pub(super) threads: usize,
    /// Input of one job; the last may have less.
    pub(super) input: usize,
    /// Input before the job that it may refer to.
    pub(super) history: usize,
    /// Most output of one job.
    pub(super) output: usize,
}

/// One piece of the input and what became of it. Jobs are reused: at most `threads` + 2 exist.
pub(super) struct Job {
    /// History, input, and one byte more, by which the end of the input is seen in time.
    buffer: Vec<u8>,
    history: usize,
    filled: usize,
    /// Whether the input ends with this job.
    pub(super) last: bool,
    /// Room for the output; what `used` does not cover is of earlier jobs.
    pub(super) output: Vec<u8>,
    pub(super) used: usize,
    /// Checksum of the input, for the worker to set.
    pub(super) check: u32,
}

impl Job {
    fn new(plan: &Plan) -> Self {
        Job {
            buffer: vec![0; plan.history + plan.input + 1],
            history: 0,
            filled: 0,
            last: false,
            output: vec![0; plan.output],
            used: 0,
            check: 0,
        }
    }

    /// The input with its history before it, and where the one ends and the other begins.
    pub(super) fn with_history(&self) -> (&[u8], usize) {
        (&self.buffer[..self.filled], self.history)
    }

    pub(super) fn input(&self) -> &[u8] {
        &self.buffer[self.history..self.filled]
    }

    pub(super) fn output(&self) -> &[u8] {
        &self.output[..self.used]
    }
}

/// Cuts what a reader gives into jobs.
struct Feeder<'p, R> {
    plan: &'p Plan,
    reader: R,
    /// The last `plan.history` bytes of the job before.
    tail: Vec<u8>,
    /// The first byte of the next job, read with the one before.
    carried: Option<u8>,
}

impl<R: Read> Feeder<'_, R> {
    fn fill(&mut self, job: &mut Job) -> io::Result<()> {
        let start = self.tail.len();
        let end = start + self.plan.input;
        job.buffer[..start].copy_from_slice(&self.tail);
        let mut filled = start;
        if let Some(byte) = self.carried.take() {
            job.buffer[filled] = byte;
            filled += 1;
        }
        while filled <= end {
            match self.reader.read(&mut job.buffer[filled..=end]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        job.last = filled <= end;
        if !job.last {
            self.carried = Some(job.buffer[end]);
            filled = end;
        }
        (job.history, job.filled, job.used) = (start, filled, 0);
        self.tail.clear();
        self.tail.extend_from_slice(&job.buffer[filled.saturating_sub(self.plan.history)..filled]);
        Ok(())
    }
}

/// Runs `work` on every piece of `reader` and `sink` on the results, these in order.
///
/// A panic in `work` is passed on to the caller once the other threads have ended.
pub(super) fn run<R, W, S>(plan: &Plan, reader: R, work: W, mut sink: S) -> io::Result<()>
where
    R: Read,
    W: Fn(&mut Scratch, &mut Job) -> Result<()> + Sync,
    S: FnMut(&Job) -> io::Result<()>,
{
    let mut feeder = Feeder { plan, reader, tail: Vec::new(), carried: None };
    let mut first = Job::new(plan);
    feeder.fill(&mut first)?;
    if plan.threads > 1 && !first.last {
        return run_threads(feeder, first, &work, sink);
    }
    let mut scratch = Scratch::boxed();
    loop {
        work(&mut scratch, &mut first)?;
        sink(&first)?;
        if first.last {
            return Ok(());
        }
        feeder.fill(&mut first)?;
    }
}

type Done = (Job, Result<()>);
type Task = (Job, Sender<Done>);

fn run_threads<R, W, S>(mut feeder: Feeder<'_, R>, first: Job, work: &W, mut sink: S) -> io::Result<()>
where
    R: Read,
    W: Fn(&mut Scratch, &mut Job) -> Result<()> + Sync,
    S: FnMut(&Job) -> io::Result<()>,
{
    let plan = feeder.plan;
    let most = plan.threads.saturating_add(2);
    let (give, take) = mpsc::channel::<Task>();
    let take = &Mutex::new(take);
    thread::scope(|scope| {
        // Owned here, so that every way out of this closure, a panic too, ends the workers.
        let give = give;
        let mut waiting: VecDeque<Receiver<Done>> = VecDeque::new();
        let mut free: Vec<Job> = Vec::new();
        let (mut next, mut made) = (Some(first), 1);
        let (mut wanted, mut spawned) = (plan.threads, 0);
        while let Some(job) = next.take() {
            let last = job.last;
            let (done, result) = mpsc::channel();
            give.send((job, done)).map_err(|_| lost())?;
            waiting.push_back(result);
            if spawned < wanted {
                match thread::Builder::new().spawn_scoped(scope, || serve(take, work)) {
                    Ok(_) => spawned += 1,
                    Err(e) if spawned == 0 => return Err(e),
                    // Fewer threads give the same bytes.
                    Err(_) => wanted = spawned,
                }
            }
            if last {
                break;
            }
            collect_ready(&mut waiting, &mut free, &mut sink)?;
            let mut job = match free.pop() {
                Some(job) => job,
                None if made < most => {
                    made += 1;
                    Job::new(plan)
                }
                None => collect(&mut waiting, &mut sink)?,
            };
            feeder.fill(&mut job)?;
            next = Some(job);
        }
        while !waiting.is_empty() {
            collect(&mut waiting, &mut sink)?;
        }
        Ok(())
    })
}

/// A worker: takes tasks until there are no more givers.
fn serve<W>(take: &Mutex<Receiver<Task>>, work: &W)
where
    W: Fn(&mut Scratch, &mut Job) -> Result<()>,
{
    let mut scratch = Scratch::boxed();
    loop {
        // Nothing but `recv` runs under the lock, so a poisoned one guards a sound receiver.
        let task = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
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

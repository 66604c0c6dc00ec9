//! The recorder: takes records from all connections, counts them and writes logs, in a thread of its own.

use std::collections::HashMap;
use std::io;
use std::mem;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use linerate_core::lock;

use super::clock::{Clock, since};
use super::connection::ConnectionRecorder;
use super::log::LogEntry;
use super::log_files::{LogFiles, LogOptions};
use super::record::MessageRecord;
use super::ring::{Buffer, Lease, Writer};
use super::sample::Sample;
use super::totals::Stats;
use crate::recent::now;
use crate::transport::Transport;

/// Longest time that records stay in the buffer.
const TICK: Duration = Duration::from_millis(50);

/// Options of a recorder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatsOptions {
    /// Where logs are written. Default: nowhere.
    pub log: Option<LogOptions>,
    /// Clock of decoding times. Default: [`Clock::Monotonic`].
    pub clock: Clock,
    /// Records that may wait until they are counted and written, 32 bytes each; those beyond are dropped and
    /// counted. Twice this many have room: half of it is divided among threads. Default: 16,384.
    pub capacity: usize,
    /// Connections with statistics of their own, some 2 KiB each; later ones are counted among all only.
    /// Default: 10,000.
    pub max_connections: usize,
}

impl StatsOptions {
    /// The defaults.
    pub fn new() -> Self {
        StatsOptions { log: None, clock: Clock::default(), capacity: 1 << 14, max_connections: 10_000 }
    }

    /// Writes logs.
    #[must_use]
    pub fn log(self, log: LogOptions) -> Self {
        StatsOptions { log: Some(log), ..self }
    }

    /// Sets the clock of decoding times.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        StatsOptions { clock, ..self }
    }

    /// Sets how many records may wait.
    #[must_use]
    pub fn capacity(self, records: usize) -> Self {
        StatsOptions { capacity: records, ..self }
    }

    /// Sets how many connections have statistics of their own.
    #[must_use]
    pub fn max_connections(self, connections: usize) -> Self {
        StatsOptions { max_connections: connections, ..self }
    }
}

impl Default for StatsOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What connections and the collecting thread share.
pub(super) struct Shared {
    buffer: Buffer,
    clock: Clock,
    base: Instant,
    stopped: AtomicBool,
    connections: AtomicU32,
    max_connections: usize,
    /// The process that has the collecting thread: a fork of it has none.
    process: u32,
    collector: Mutex<Option<Thread>>,
    state: Mutex<Collected>,
}

/// What the collecting thread counted.
struct Collected {
    /// By [`Transport::ALL`].
    transports: [Stats; Transport::ALL.len()],
    connections: HashMap<u32, Stats<u32>>,
}

impl Shared {
    /// Now, by the clock of decoding times.
    pub(super) fn now(&self) -> u64 {
        self.clock.now(self.base)
    }

    /// When a message arrived whose decoding began at `begun`: nanoseconds since the base.
    pub(super) fn arrival(&self, begun: u64) -> u64 {
        match self.clock {
            Clock::Monotonic => begun,
            Clock::ThreadCpu => since(self.base),
        }
    }

    pub(super) fn writer(&self, lease: &mut Option<Lease>) -> Writer {
        self.buffer.writer(lease)
    }

    pub(super) fn push(&self, writer: Writer, sample: Sample) {
        if self.buffer.push(writer, &sample.to_item()) {
            self.wake();
        }
    }

    /// Wakes the collecting thread, unless another thread is doing so.
    fn wake(&self) {
        if let Ok(collector) = self.collector.try_lock()
            && let Some(collector) = &*collector
        {
            collector.unpark();
        }
    }

    /// Forgets the statistics of a connection.
    pub(super) fn close(&self, connection: u32) {
        if let Some(mut state) = self.state() {
            state.connections.remove(&connection);
        }
    }

    /// For the collecting thread and its process.
    fn counted(&self) -> MutexGuard<'_, Collected> {
        lock(&self.state)
    }

    fn is_forked(&self) -> bool {
        process::id() != self.process
    }

    /// `None` in a forked process if the collecting thread was counting at that time: the lock stays taken there.
    fn state(&self) -> Option<MutexGuard<'_, Collected>> {
        if !self.is_forked() {
            return Some(self.counted());
        }
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Records statistics of all connections that it is given to. Clones of nothing: share it by reference or [`Arc`].
///
/// A process that was forked has no collecting thread: there the recorder counts nothing more, and stopping or dropping
/// it does nothing.
pub struct StatsRecorder {
    shared: Arc<Shared>,
    /// Held while the thread is joined, so that a second call returns when it has ended, too.
    collector: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl StatsRecorder {
    /// Begins a log, if one is asked for, and starts the thread that collects.
    ///
    /// # Errors
    /// Those of making the log, and of starting a thread.
    pub fn start(options: StatsOptions) -> io::Result<Self> {
        let clock = options.clock.available();
        let files = options.log.map(|log| LogFiles::create(log, clock, now())).transpose()?;
        let state =
            Collected { transports: std::array::from_fn(|_| Stats::new()), connections: HashMap::new() };
        let shared = Arc::new(Shared {
            buffer: Buffer::new(options.capacity),
            clock,
            base: Instant::now(),
            stopped: AtomicBool::new(false),
            connections: AtomicU32::new(0),
            max_connections: options.max_connections,
            process: process::id(),
            collector: Mutex::new(None),
            state: Mutex::new(state),
        });
        let collector = Collector { shared: Arc::clone(&shared), files, told: 0, error: None, last: 0 };
        let collector = thread::Builder::new().name("gateway-stats".into()).spawn(|| collector.run())?;
        *lock(&shared.collector) = Some(collector.thread().clone());
        Ok(StatsRecorder { shared, collector: Mutex::new(Some(collector)) })
    }

    /// The recorder of a new connection.
    pub fn connection(&self) -> ConnectionRecorder {
        let number = self.shared.connections.fetch_add(1, Ordering::Relaxed);
        if let Some(mut state) = self.shared.state()
            && state.connections.len() < self.shared.max_connections
        {
            state.connections.insert(number, Stats::of_connection());
        }
        ConnectionRecorder::new(Arc::clone(&self.shared), number)
    }

    /// Statistics of all messages until at most 50 milliseconds ago.
    pub fn stats(&self) -> Stats {
        let mut all = Stats::new();
        self.by_transport().iter().for_each(|stats| all.merge(stats));
        all.add_dropped(self.shared.buffer.dropped());
        all
    }

    /// Statistics of each transport, in the order of [`Transport::ALL`], without lost records, whose transport is
    /// unknown.
    pub fn by_transport(&self) -> [Stats; Transport::ALL.len()] {
        let state = self.shared.state();
        state.map_or_else(|| std::array::from_fn(|_| Stats::new()), |state| state.transports.clone())
    }

    /// Statistics of streams, and of other transports that had messages.
    pub(super) fn by_name(&self) -> Vec<(Transport, Stats)> {
        let all = Transport::ALL.into_iter().zip(self.by_transport());
        all.filter(|(way, stats)| way.is_stream() || stats.messages() + stats.errors() > 0).collect()
    }

    /// Statistics of a connection that was not dropped.
    pub fn connection_stats(&self, number: u32) -> Option<Stats<u32>> {
        self.shared.state()?.connections.get(&number).cloned()
    }

    /// Connections that have statistics of their own.
    pub fn connections(&self) -> usize {
        self.shared.state().map_or(0, |state| state.connections.len())
    }

    /// Records dropped until now.
    pub fn dropped(&self) -> u64 {
        self.shared.buffer.dropped()
    }

    /// Stops: counts and writes what waits, and returns the statistics of all. Connections may go on to call it; their
    /// records are dropped when the buffer is full.
    ///
    /// # Errors
    /// The first error of writing the log. Statistics and later records are not lost by it.
    pub fn finish(self) -> io::Result<Stats> {
        self.stop()?;
        Ok(self.stats())
    }

    /// [`finish`](Self::finish), after which the statistics can still be read. A second call does nothing.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn stop(&self) -> io::Result<()> {
        // In a fork the lock may stay taken.
        if self.shared.is_forked() {
            return Ok(());
        }
        let mut collector = lock(&self.collector);
        let Some(collector) = collector.take() else { return Ok(()) };
        self.shared.stopped.store(true, Ordering::Release);
        collector.thread().unpark();
        collector.join().unwrap_or_else(|_| Err(io::Error::other("the collecting thread panicked")))
    }
}

impl Drop for StatsRecorder {
    fn drop(&mut self) {
        if self.shared.is_forked() {
            // There is no thread to join or to detach.
            mem::forget(self.collector.get_mut().map_or(None, Option::take));
        }
        // Nobody is left to take the error.
        let _ = self.stop();
    }
}

/// The collecting thread.
struct Collector {
    shared: Arc<Shared>,
    files: Option<LogFiles>,
    /// Dropped records that the log knows of.
    told: u64,
    /// The first error of the log.
    error: Option<io::Error>,
    /// About when the message before arrived, which is when one that is not timed did: nanoseconds since the base.
    last: u64,
}

impl Collector {
    fn run(mut self) -> io::Result<()> {
        loop {
            let stopped = self.shared.stopped.load(Ordering::Acquire);
            self.collect();
            if stopped {
                return self.error.map_or(Ok(()), Err);
            }
            thread::park_timeout(TICK);
        }
    }

    fn collect(&mut self) {
        let now = now();
        // The wall clock may be set: its distance from the base is taken each time.
        let begun = since(self.shared.base);
        let base = now.saturating_sub(begun as i64);
        let shared = Arc::clone(&self.shared);
        shared.buffer.drain(|item| {
            let Some(sample) = Sample::of_item(item) else { return };
            if let Some(time) = &sample.time {
                self.last = time.arrived;
            }
            let record = MessageRecord {
                time: base.saturating_add(self.last as i64),
                connection: sample.connection,
                transport: sample.transport,
                verdict: sample.verdict,
                compressed: sample.compressed,
                payload: sample.payload,
                decode_ns: sample.time.map(|time| time.decode_ns),
            };
            shared.counted().add(&record);
            self.write(&LogEntry::Message(record), now);
        });
        self.last = begun;
        let dropped = shared.buffer.dropped();
        if dropped > self.told {
            self.write(&LogEntry::Dropped { time: now, records: dropped - self.told }, now);
            self.told = dropped;
        }
        if let Some(files) = &mut self.files
            && let Err(error) = files.flush()
        {
            self.error.get_or_insert(error);
        }
    }

    fn write(&mut self, entry: &LogEntry, now: i64) {
        if let Some(files) = &mut self.files
            && let Err(error) = files.add(entry, now)
        {
            self.error.get_or_insert(error);
        }
    }
}

impl Collected {
    fn add(&mut self, record: &MessageRecord) {
        self.transports[record.transport as usize].add(record);
        if let Some(connection) = self.connections.get_mut(&record.connection) {
            connection.add(record);
        }
    }
}

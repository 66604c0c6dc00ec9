//! The recorder of statistics. Its collecting thread takes the records of all connections, counts
//! them and writes logs.

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

/// Longest pause of the collecting thread before it empties the buffer again.
const TICK: Duration = Duration::from_millis(50);

/// Options of a recorder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatsOptions {
    /// Folder and limits of the logs. Default: no logs are written.
    pub log: Option<LogOptions>,
    /// Clock of decoding times. Default: [`Clock::Monotonic`].
    pub clock: Clock,
    /// Number of records, of 32 bytes each, for which the common buffer has room while they wait to
    /// be counted and written, rounded up to a power of two. Buffers of single threads have room
    /// for at least as many again in total. Records that find no room, or the common buffer locked
    /// for longer than 2 microseconds, are dropped; the recorder counts how many. Default: 16,384.
    pub capacity: usize,
    /// Largest number of connections with statistics of their own, about 2 KiB each. Messages of
    /// further connections are counted only in the statistics of their transport. Default: 10,000.
    pub max_connections: usize,
}

impl StatsOptions {
    /// The defaults.
    pub fn new() -> Self {
        StatsOptions { log: None, clock: Clock::default(), capacity: 1 << 14, max_connections: 10_000 }
    }

    /// Makes the recorder write logs.
    #[must_use]
    pub fn log(self, log: LogOptions) -> Self {
        StatsOptions { log: Some(log), ..self }
    }

    /// Sets the clock of decoding times.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        StatsOptions { clock, ..self }
    }

    /// Sets how many records have room in the common buffer.
    #[must_use]
    pub fn capacity(self, records: usize) -> Self {
        StatsOptions { capacity: records, ..self }
    }

    /// Sets how many connections at most have statistics of their own.
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

/// State that connections and the collecting thread share.
pub(super) struct Shared {
    buffer: Buffer,
    clock: Clock,
    base: Instant,
    stopped: AtomicBool,
    connections: AtomicU32,
    max_connections: usize,
    /// Id of the process that has the collecting thread; a fork of the process has no such thread.
    process: u32,
    collector: Mutex<Option<Thread>>,
    state: Mutex<Collected>,
}

/// Statistics that the collecting thread has counted.
struct Collected {
    /// Statistics of each transport, in the order of [`Transport::ALL`].
    transports: [Stats; Transport::ALL.len()],
    connections: HashMap<u32, Stats<u32>>,
}

impl Shared {
    /// The current time, by the clock of decoding times.
    pub(super) fn now(&self) -> u64 {
        self.clock.now(self.base)
    }

    /// The arrival, in nanoseconds since the base, of a message whose decoding began at `begun`. If
    /// the clock counts CPU time, this is the current time, after decoding.
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

    /// Wakes the collecting thread, unless another thread is doing so or it has not started yet.
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

    /// The statistics, in the process that has the collecting thread.
    fn counted(&self) -> MutexGuard<'_, Collected> {
        lock(&self.state)
    }

    fn is_forked(&self) -> bool {
        process::id() != self.process
    }

    /// The statistics, in any process. Returns `None` in a forked process if another thread held
    /// the lock during the fork: it is never released there.
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

/// Records statistics of any number of connections. It cannot be cloned; share it by reference or
/// [`Arc`].
///
/// A forked process has no collecting thread. In it, the recorder counts nothing more, and stopping
/// or dropping it does nothing.
pub struct StatsRecorder {
    shared: Arc<Shared>,
    /// The collecting thread, until it is stopped. The mutex is locked while the thread is joined,
    /// so that a second call of `stop` also returns only when the thread has ended.
    collector: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl StatsRecorder {
    /// Begins a log, if the options ask for one, and starts the collecting thread.
    ///
    /// # Errors
    /// Returns the errors of creating the log, and of starting a thread.
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

    /// Creates the recorder of a new connection.
    pub fn connection(&self) -> ConnectionRecorder {
        let number = self.shared.connections.fetch_add(1, Ordering::Relaxed);
        if let Some(mut state) = self.shared.state()
            && state.connections.len() < self.shared.max_connections
        {
            state.connections.insert(number, Stats::of_connection());
        }
        ConnectionRecorder::new(Arc::clone(&self.shared), number)
    }

    /// Statistics of all messages; messages of the last 50 milliseconds may be missing.
    pub fn stats(&self) -> Stats {
        let mut all = Stats::new();
        self.by_transport().iter().for_each(|stats| all.merge(stats));
        all.add_dropped(self.shared.buffer.dropped());
        all
    }

    /// Statistics of each transport, in the order of [`Transport::ALL`]. They do not count lost
    /// records, whose transport is unknown.
    pub fn by_transport(&self) -> [Stats; Transport::ALL.len()] {
        let state = self.shared.state();
        state.map_or_else(|| std::array::from_fn(|_| Stats::new()), |state| state.transports.clone())
    }

    /// Statistics of the two stream transports, and of each other transport that had messages.
    pub(super) fn by_name(&self) -> Vec<(Transport, Stats)> {
        let all = Transport::ALL.into_iter().zip(self.by_transport());
        all.filter(|(way, stats)| way.is_stream() || stats.messages() + stats.errors() > 0).collect()
    }

    /// Statistics of a connection, as long as its recorder was not dropped. `None` also for a
    /// connection beyond [`StatsOptions::max_connections`].
    pub fn connection_stats(&self, number: u32) -> Option<Stats<u32>> {
        self.shared.state()?.connections.get(&number).cloned()
    }

    /// Number of connections that have statistics of their own.
    pub fn connections(&self) -> usize {
        self.shared.state().map_or(0, |state| state.connections.len())
    }

    /// Number of records dropped until now.
    pub fn dropped(&self) -> u64 {
        self.shared.buffer.dropped()
    }

    /// Counts and writes the records that wait, and stops the collecting thread. The statistics can
    /// still be read afterwards. Connections may still record; their records stay uncounted, and
    /// are dropped once the buffer is full. A second call does nothing.
    ///
    /// # Errors
    /// Returns the first error of writing the log, or an error if the collecting thread panicked.
    /// Records after an error of the log were counted, and written if that succeeded.
    pub fn stop(&self) -> io::Result<()> {
        // In a forked process the lock may never be released, so it is not taken.
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
            // This process has no thread to join or to detach.
            mem::forget(self.collector.get_mut().map_or(None, Option::take));
        }
        // The error cannot be returned from here.
        let _ = self.stop();
    }
}

/// The collecting thread.
struct Collector {
    shared: Arc<Shared>,
    files: Option<LogFiles>,
    /// Number of dropped records for which an entry was added to the log.
    told: u64,
    /// The first error of writing the log.
    error: Option<io::Error>,
    /// Arrival of the last timed message, or the beginning of the last collection if no message was
    /// timed since, in nanoseconds since the base. Messages that are not timed get this time.
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
        // Somebody may set the wall clock, so its distance from the base is computed anew each
        // time.
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

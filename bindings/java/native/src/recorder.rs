//! A recorder of statistics held by Java.

use std::io;

use linerate_gateway::stats::{ConnectionRecorder, StatsOptions, StatsRecorder, Verdict};

/// Quantiles of decoding times that Java reads; 1.0 is the longest time.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

/// Number of values in a [`Snapshot`].
const NUMBERS: usize = Verdict::ALL.len() + 5 + QUANTILES.len();

/// Statistics as the Java class `Stats` reads them: messages by verdict, compressed and payload
/// bytes, nanoseconds of decoding, lost records, timed messages, quantiles of decoding times in
/// nanoseconds.
pub(crate) type Snapshot = [i64; NUMBERS];

/// Makes a snapshot of statistics. It is a macro, because the histograms of connections and of
/// transports have counters of different types.
macro_rules! snapshot {
    ($stats:expr) => {{
        let stats = $stats;
        let verdicts = Verdict::ALL.map(|verdict| stats.with_verdict(verdict));
        let bytes = [stats.compressed_bytes(), stats.payload_bytes()];
        let sums = bytes.into_iter().chain([stats.decode_ns(), stats.dropped(), stats.timed()]);
        let times = QUANTILES.map(|quantile| stats.quantile_ns(quantile));
        let mut numbers = verdicts.into_iter().chain(sums).chain(times);
        std::array::from_fn(|_| numbers.next().map_or(0, |number| i64::try_from(number).unwrap_or(i64::MAX)))
    }};
}

/// A recorder that connections share with Java.
pub(crate) struct Recorder(StatsRecorder);

impl Recorder {
    pub(crate) fn start(options: StatsOptions) -> io::Result<Self> {
        Ok(Recorder(StatsRecorder::start(options)?))
    }

    pub(crate) fn connection(&self) -> ConnectionRecorder {
        self.0.connection()
    }

    /// Writes the waiting records and ends the log.
    pub(crate) fn stop(&self) -> io::Result<()> {
        self.0.stop()
    }

    /// Statistics of all messages.
    pub(crate) fn all(&self) -> Snapshot {
        snapshot!(self.0.stats())
    }

    /// Statistics of the transport with this number, the ordinal of the Java enum `Transport`.
    pub(crate) fn transport(&self, number: usize) -> Option<Snapshot> {
        self.0.by_transport().get(number).map(|stats| snapshot!(stats))
    }

    /// Statistics of the connection with this number; `None` if it is closed or has none of its
    /// own.
    pub(crate) fn connection_stats(&self, number: u32) -> Option<Snapshot> {
        self.0.connection_stats(number).map(|stats| snapshot!(stats))
    }

    /// Number of connections with separate statistics.
    pub(crate) fn connections(&self) -> usize {
        self.0.connections()
    }

    pub(crate) fn prometheus(&self) -> String {
        self.0.prometheus()
    }
}

//! The Python classes of statistics: messages, bytes and decoding times of any number of
//! decompressors.

use std::path::PathBuf;
use std::time::Duration;

use linerate_core::Kind;
use linerate_gateway::Transport;
use linerate_gateway::stats::{
    Clock, ConnectionRecorder, LogOptions, Stats, StatsOptions, StatsRecorder, Verdict,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The base class of `pylinerate.gateway.StatsRecorder`, which has its native methods.
#[pyclass(frozen, subclass, weakref, module = "pylinerate._pylinerate")]
pub(crate) struct GatewayStatsRecorder(StatsRecorder);

#[pymethods]
impl GatewayStatsRecorder {
    #[new]
    #[pyo3(signature = (
        log=None, *, name=None, max_bytes=268_435_456, max_age=86_400.0, max_files=8, clock="elapsed",
        capacity=16_384, max_connections=10_000
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        log: Option<PathBuf>,
        name: Option<String>,
        max_bytes: u64,
        max_age: f64,
        max_files: usize,
        clock: &str,
        capacity: usize,
        max_connections: usize,
    ) -> PyResult<Self> {
        let mut options =
            StatsOptions::new().clock(clock_of(clock)?).capacity(capacity).max_connections(max_connections);
        if let Some(folder) = log {
            let age = Duration::try_from_secs_f64(max_age)
                .map_err(|e| PyValueError::new_err(format!("max_age is {max_age}: {e}")))?;
            let log = LogOptions::new(folder).max_bytes(max_bytes).max_age(age).max_files(max_files);
            options = options.log(match name {
                Some(name) => log.name(name),
                None => log,
            });
        }
        Ok(GatewayStatsRecorder(StatsRecorder::start(options)?))
    }

    /// Statistics of all messages, except perhaps those of the last 50 milliseconds.
    fn stats(&self, py: Python<'_>) -> GatewayStats {
        GatewayStats(Of::All(Box::new(py.detach(|| self.0.stats()))))
    }

    /// Statistics of each transport that had messages, by the name of the transport.
    fn by_transport<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let stats = py.detach(|| self.0.by_transport());
        for (transport, stats) in Transport::ALL.into_iter().zip(stats) {
            if stats.messages() + stats.errors() > 0 {
                found.set_item(transport.name(), GatewayStats(Of::All(Box::new(stats))))?;
            }
        }
        Ok(found)
    }

    /// Statistics of all messages in Prometheus' text format, version 0.0.4: the answer to a
    /// request for ``/metrics``, whose type is ``text/plain; version=0.0.4``.
    fn prometheus(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.prometheus())
    }

    /// Number of connections that have statistics of their own now. Those of a connection end when
    /// its decompressor is freed.
    #[getter]
    fn connections(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.connections())
    }

    /// Number of messages that are missing in the statistics, because messages came faster than the
    /// recorder counted them.
    #[getter]
    fn dropped(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.0.dropped())
    }

    /// Counts the messages recorded so far, writes them to the log, and stops recording. Statistics
    /// can still be read; later messages are not counted. A second call, and a call in a forked
    /// process, does nothing.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If writing the log has failed since it was opened: the first error. The statistics are
    ///     complete nevertheless.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.0.stop())?)
    }
}

impl GatewayStatsRecorder {
    /// The recorder of a new connection.
    pub(super) fn connection(&self, py: Python<'_>) -> ConnectionRecorder {
        py.detach(|| self.0.connection())
    }

    /// Statistics of the connection with this number. `None` if the recorder already had
    /// `max_connections` connections when this one was created.
    pub(super) fn of_connection(&self, py: Python<'_>, number: u32) -> Option<GatewayStats> {
        let stats = py.detach(|| self.0.connection_stats(number));
        stats.map(|stats| GatewayStats(Of::Connection(Box::new(stats))))
    }
}

/// Counts of messages and bytes, and decoding times, at one moment: those of one connection, of a
/// transport, or of all connections.
#[pyclass(frozen, module = "pylinerate._pylinerate")]
pub(crate) struct GatewayStats(Of);

/// Statistics. Those of a single connection have a histogram with counters of 32 bits.
enum Of {
    /// Statistics of a transport, or of all connections.
    All(Box<Stats>),
    /// Statistics of a single connection.
    Connection(Box<Stats<u32>>),
}

/// Calls the method `$name` of the statistics in `$stats`, whichever type they have.
macro_rules! read {
    ($stats:expr, $name:ident($($argument:expr),*)) => {
        match &$stats.0 {
            Of::All(stats) => stats.$name($($argument),*),
            Of::Connection(stats) => stats.$name($($argument),*),
        }
    };
}

#[pymethods]
impl GatewayStats {
    /// Number of messages that were decoded.
    #[getter]
    fn messages(&self) -> u64 {
        read!(self, messages())
    }

    /// Number of messages that could not be decoded, by the ``kind`` of their `GatewayError`. Kinds
    /// without messages are left out.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let errors = PyDict::new(py);
        for kind in [Kind::Corrupt, Kind::Truncated, Kind::Limit, Kind::Unsupported] {
            let count = read!(self, with_verdict(Verdict::from(kind)));
            if count > 0 {
                errors.set_item(kind.name(), count)?;
            }
        }
        Ok(errors)
    }

    /// Number of compressed bytes of all messages, including those that could not be decoded.
    #[getter]
    fn compressed_bytes(&self) -> u64 {
        read!(self, compressed_bytes())
    }

    /// Number of bytes of the payloads, which only decoded messages have.
    #[getter]
    fn payload_bytes(&self) -> u64 {
        read!(self, payload_bytes())
    }

    /// Payload bytes per compressed byte; 0 without compressed bytes.
    #[getter]
    fn ratio(&self) -> f64 {
        read!(self, ratio())
    }

    /// Number of messages that were decoded and timed. The recorder times the first message of each
    /// connection, and then one in 16.
    #[getter]
    fn timed(&self) -> u64 {
        read!(self, timed())
    }

    /// Nanoseconds that decoding the timed messages took in total.
    #[getter]
    fn decode_ns(&self) -> u64 {
        read!(self, decode_ns())
    }

    /// Number of messages that are missing in the statistics, because messages came faster than the
    /// recorder counted them. Always 0 in the statistics of one connection or transport.
    #[getter]
    fn dropped(&self) -> u64 {
        read!(self, dropped())
    }

    /// The decoding time, in nanoseconds, that the fraction ``quantile`` (from 0 to 1) of the timed
    /// messages did not exceed; 0.5 gives the median. It is exact to 6 % in the statistics of one
    /// connection, and to 0.1 % in others. 0 if no message was timed.
    fn quantile_ns(&self, quantile: f64) -> PyResult<u64> {
        if !(0.0..=1.0).contains(&quantile) {
            return Err(PyValueError::new_err(format!("quantile is {quantile}, but must be 0 to 1")));
        }
        Ok(read!(self, quantile_ns(quantile)))
    }

    fn __repr__(&self) -> String {
        let (messages, ratio) = (read!(self, messages()), read!(self, ratio()));
        let (median, most) = (read!(self, quantile_ns(0.5)), read!(self, quantile_ns(0.99)));
        format!("<Stats: {messages} messages, ratio {ratio:.2}, median {median} ns, 99 % {most} ns>")
    }
}

fn clock_of(name: &str) -> PyResult<Clock> {
    match name {
        "elapsed" => Ok(Clock::Monotonic),
        "cpu" => Ok(Clock::ThreadCpu),
        _ => Err(PyValueError::new_err(format!("clock is {name:?}, but must be \"elapsed\" or \"cpu\""))),
    }
}

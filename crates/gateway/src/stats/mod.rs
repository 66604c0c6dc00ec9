//! Statistics of decoding: what each message cost, without its content.
//!
//! A [`StatsRecorder`] takes one fixed-size [`MessageRecord`] per message from any number of
//! connections, keeps live [`Stats`] of all messages, of each transport and of up to
//! [`StatsOptions::max_connections`] connections, and writes the records to log files on request.
//! It times one message in 16; for the others a decoder only writes the record into a buffer.
//! Decoders do not wait for the collecting thread. No payload, token or address is recorded.
//!
//! ```
//! use linerate_gateway::stats::{StatsOptions, StatsRecorder};
//! use linerate_gateway::{Encoder, Limits, Scratch, Session, Transport};
//!
//! let recorder = StatsRecorder::start(StatsOptions::new())?;
//! let mut session = Session::new(Transport::Zstd, Limits::new()).record_stats(recorder.connection());
//! let mut wire = Vec::new();
//! Encoder::new(Transport::Zstd)?.message(b"{}", &mut wire)?;
//! session.message(&wire, &mut Scratch::new())?;
//! recorder.stop()?;
//! let stats = recorder.stats();
//! assert_eq!((stats.messages(), stats.payload_bytes()), (1, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod connection;
mod log;
mod log_files;
#[cfg(feature = "metrics")]
mod metrics_facade;
mod origin;
mod prometheus;
mod record;
mod recorder;
mod ring;
mod sample;
mod totals;

pub use clock::Clock;
pub use connection::ConnectionRecorder;
pub use log::{LogEntry, LogReader, LogWriter};
pub use log_files::{LogFiles, LogOptions};
pub use origin::{ORIGIN_RECORD, OriginReader, OriginWriter};
pub use record::{MessageRecord, Verdict};
pub use recorder::{StatsOptions, StatsRecorder};
pub(crate) use ring::Lease;
pub use totals::Stats;

//! Decodes a file of connections up to its end or to the first error.

use std::time::{Duration, Instant};

use linerate_core::Kind;
use linerate_gateway::Entry;
use serde_json::json;

use super::decoder::{PayloadDecoder, PayloadError};
use super::session_args::SessionArgs;
use super::wire::Wire;
use crate::ui::error::CliError;
use crate::ui::format::rounded;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;

/// A message of a file.
pub(crate) struct Decoded<'a> {
    /// Index in the file, from 0.
    pub(crate) index: u64,
    /// When the last part of the message arrived, in nanoseconds since 1970; `None` if the file
    /// does not state it.
    pub(crate) time: Option<i64>,
    /// Index of the message's connection in the file, from 0.
    pub(crate) connection: u64,
    /// When the connection began, in nanoseconds since 1970; `None` if the file does not state it.
    pub(crate) connected: Option<i64>,
    /// Number of compressed bytes of the connection before this message.
    pub(crate) begin: u64,
    /// Number of compressed bytes of the message; 0 if the file holds payloads.
    pub(crate) compressed: usize,
    pub(crate) payload: &'a [u8],
    /// Decoding time, including that of earlier parts of the message; `None` if the file holds
    /// payloads.
    pub(crate) spent: Option<Duration>,
}

/// Totals over the messages decoded so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) messages: u64,
    /// Number of websocket messages; more than `messages` if some were fragmented.
    pub(crate) frames: u64,
    pub(crate) connections: u64,
    /// Number of messages that were incomplete when the next connection began.
    pub(crate) broken_off: u64,
    pub(crate) compressed: u64,
    pub(crate) payload: u64,
    pub(crate) spent: Duration,
    /// Maximum memory of a connection, in bytes.
    pub(crate) memory: usize,
    /// Memory of the scratch buffers, in bytes.
    pub(crate) scratch: usize,
}

impl Totals {
    /// Decoding speed in MB/s of payloads.
    pub(crate) fn speed(&self) -> f64 {
        self.payload as f64 / 1e6 / self.spent.as_secs_f64().max(1e-9)
    }

    /// Sets the `--json` keys that `replay`, `stats` and `transcode` share.
    pub(crate) fn describe(&self, summary: &mut RunSummary) {
        summary.set("messages", self.messages);
        summary.set("frames", self.frames);
        summary.set("connections", self.connections);
        summary.set("payload_bytes", self.payload);
        summary.set("compressed_bytes", self.compressed);
        summary.set("ratio", rounded(self.payload, self.compressed));
    }
}

/// Why decoding ended before the end of the file.
pub(crate) enum Ended {
    /// A message failed. `index` counts messages and `connection` connections of the file, from 0.
    Message { index: u64, connection: u64, error: CliError },
    /// Decoding ended for another reason, such as an error of reading the file.
    Otherwise(CliError),
}

impl Ended {
    /// Reports the error; that of a message with the totals up to it.
    pub(crate) fn report(self, file: &str, totals: &Totals, reporter: &mut Reporter) {
        match self {
            Ended::Otherwise(error) => reporter.failed(file, error),
            Ended::Message { index, connection, error } => {
                let more = json!({
                    "message": index,
                    "connection": connection,
                    "frames": totals.frames,
                    "payload_bytes": totals.payload,
                    "compressed_bytes": totals.compressed,
                });
                reporter.failed_with(file, error, more);
            }
        }
    }
}

impl From<CliError> for Ended {
    fn from(error: CliError) -> Ended {
        Ended::Otherwise(error)
    }
}

/// The decoder of a file.
pub(crate) struct Decoding {
    engine: PayloadDecoder,
    pub(crate) totals: Totals,
    /// When the connection began, in nanoseconds since 1970, if the file states it.
    connected: Option<i64>,
    /// Number of compressed bytes of the connection before the current message.
    begin: u64,
    /// Totals over the parts of an incomplete message; `None` between messages.
    waiting: Option<Parts>,
}

/// Compressed bytes and decoding time of the parts of a message that have been decoded so far.
#[derive(Clone, Copy, Default)]
struct Parts {
    compressed: usize,
    spent: Duration,
}

impl Decoding {
    /// Makes a decoding with a [`linerate_gateway::Session`], or one that passes payloads through.
    pub(crate) fn new(args: &SessionArgs, wire: &Wire) -> Result<Decoding, CliError> {
        let engine = match wire.transport {
            Some(transport) => PayloadDecoder::linerate(args.session(transport)?),
            None => PayloadDecoder::Uncompressed,
        };
        Ok(Decoding::with(engine))
    }

    pub(crate) fn with(engine: PayloadDecoder) -> Decoding {
        Decoding {
            engine,
            totals: Totals { connections: 1, ..Totals::default() },
            connected: None,
            begin: 0,
            waiting: None,
        }
    }

    /// Calls `each` with every message. An error of `each` about data counts as an error of the
    /// message. The first error ends the run; `totals` has the messages before it.
    pub(crate) fn run(
        &mut self,
        wire: Wire,
        mut each: impl FnMut(&Decoded<'_>) -> Result<(), CliError>,
    ) -> Result<(), Ended> {
        for entry in wire {
            match entry? {
                Entry::Connection { time } => self.reconnect(time)?,
                Entry::Frame { time, payload, wire } => self.frame(time, payload, &wire, &mut each)?,
            }
        }
        if self.waiting.is_some() {
            return Err(self.message(CliError::data(Kind::Truncated, self.begin, "it is incomplete")));
        }
        Ok(())
    }

    fn reconnect(&mut self, time: i64) -> Result<(), CliError> {
        self.connected = known(time);
        self.begin = 0;
        // The first connection is counted when decoding starts, since its entry is optional.
        if self.totals.frames > 0 {
            self.totals.connections += 1;
        }
        self.totals.broken_off += u64::from(self.waiting.take().is_some());
        self.engine.reset()
    }

    fn frame(
        &mut self,
        time: i64,
        recorded: Option<u32>,
        wire: &[u8],
        each: &mut impl FnMut(&Decoded<'_>) -> Result<(), CliError>,
    ) -> Result<(), Ended> {
        let is_payload = matches!(self.engine, PayloadDecoder::Uncompressed);
        let begun = Instant::now();
        let decoded = self.engine.frame(wire);
        let part = match is_payload {
            true => Parts::default(),
            false => Parts { compressed: wire.len(), spent: begun.elapsed() },
        };
        let before = self.waiting.take().unwrap_or_default();
        let parts =
            Parts { compressed: before.compressed + part.compressed, spent: before.spent + part.spent };
        self.totals.frames += 1;
        let outcome = match decoded {
            Err(PayloadError { kind, offset, message }) => {
                Err(CliError::data(kind, offset.unwrap_or(self.begin), message))
            }
            Ok(None) => {
                self.waiting = Some(parts);
                return Ok(());
            }
            Ok(Some(payload)) => {
                let message = Decoded {
                    index: self.totals.messages,
                    time: known(time),
                    connection: self.totals.connections - 1,
                    connected: self.connected,
                    begin: self.begin,
                    compressed: parts.compressed,
                    payload,
                    spent: (!is_payload).then_some(parts.spent),
                };
                check_recorded_len(recorded, &message).and_then(|()| each(&message)).map(|()| payload.len())
            }
        };
        let payload = outcome.map_err(|error| self.message(error))?;
        self.count(parts, payload);
        Ok(())
    }

    /// Counts a whole message.
    fn count(&mut self, parts: Parts, payload: usize) {
        let (memory, scratch) = self.engine.memory();
        let totals = &mut self.totals;
        totals.messages += 1;
        totals.payload += payload as u64;
        totals.compressed += parts.compressed as u64;
        totals.spent += parts.spent;
        totals.memory = totals.memory.max(memory);
        totals.scratch = scratch;
        self.begin += parts.compressed as u64;
    }

    /// Converts an error of the current message. Only errors about data name the message.
    fn message(&self, error: CliError) -> Ended {
        let (index, connection) = (self.totals.messages, self.totals.connections - 1);
        let error = match error {
            CliError::Data { kind, offset, message } => {
                CliError::data(kind, offset, format!("message {index}: {message}"))
            }
            other => return Ended::Otherwise(other),
        };
        Ended::Message { index, connection, error }
    }
}

/// Returns `None` for a time of 0, which means that it is unknown.
fn known(time: i64) -> Option<i64> {
    Some(time).filter(|&time| time != 0)
}

/// Fails if a payload does not have the recorded length.
fn check_recorded_len(recorded: Option<u32>, message: &Decoded<'_>) -> Result<(), CliError> {
    let len = message.payload.len();
    match recorded {
        Some(recorded) if recorded as usize != len => {
            let what = format!("the payload has {len} bytes, but {recorded} were recorded");
            Err(CliError::data(Kind::Corrupt, message.begin, what))
        }
        _ => Ok(()),
    }
}

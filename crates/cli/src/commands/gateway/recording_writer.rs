//! Writes recordings, from files and from live connections.

use std::io::{self, Write};
use std::time::SystemTime;

use linerate_gateway::{Entry, Recorder, Scratch, Session};

use super::wire::fault;
use crate::ui::error::CliError;

/// Writes a recording, and decodes its messages to count them and to return their payloads.
pub(super) struct RecordingWriter<W> {
    pub(super) recorder: Recorder<W>,
    session: Session,
    scratch: Scratch,
    /// The first error of decoding. After an error, the other messages of the connection are
    /// recorded without being decoded.
    pub(super) fault: Option<CliError>,
    pub(super) messages: u64,
    pub(super) frames: u64,
    pub(super) compressed: u64,
    pub(super) payload: u64,
}

impl<W: Write> RecordingWriter<W> {
    pub(super) fn new(out: W, session: Session) -> io::Result<RecordingWriter<W>> {
        Ok(RecordingWriter {
            recorder: Recorder::new(out, session.transport())?,
            session,
            scratch: Scratch::new(),
            fault: None,
            messages: 0,
            frames: 0,
            compressed: 0,
            payload: 0,
        })
    }

    pub(super) fn reconnected(&mut self, time: i64) -> io::Result<()> {
        self.session.reset();
        self.recorder.add(&Entry::Connection { time })
    }

    /// Takes the error that ended the stream of this connection, after which no message decodes.
    pub(super) fn take_end(&mut self) -> Option<CliError> {
        self.session.error().and_then(|_| self.fault.take())
    }

    /// Adds a websocket message, whether it decodes or not. Returns the payload if it decodes and
    /// ends a message.
    pub(super) fn frame(&mut self, time: i64, wire: Vec<u8>) -> io::Result<Option<&[u8]>> {
        let decoded = match self.session.error() {
            // The decoder cannot continue in this connection; the next connection resets it.
            Some(_) => None,
            None => match self.session.message(&wire, &mut self.scratch) {
                Ok(message) => message.map(|message| message.payload),
                Err(error) => {
                    self.fault.get_or_insert(fault(error));
                    None
                }
            },
        };
        self.frames += 1;
        self.messages += u64::from(decoded.is_some());
        self.compressed += wire.len() as u64;
        self.payload += decoded.map_or(0, <[u8]>::len) as u64;
        let payload = decoded.and_then(|payload| u32::try_from(payload.len()).ok());
        self.recorder.add(&Entry::Frame { time, payload, wire })?;
        Ok(decoded)
    }
}

/// The current time, in nanoseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

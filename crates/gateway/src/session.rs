//! The decompressor of one connection.

use std::sync::Arc;

use linerate_core::{Error, Kind};
use linerate_inflate::Format;

use crate::checks::Checks;
use crate::dictionaries::Dictionaries;
use crate::envelope::Envelope;
use crate::error::{Result, SessionError};
use crate::independent::Independent;
use crate::limits::Limits;
use crate::message::Message;
use crate::payload::Payload;
use crate::recent::Recent;
use crate::scratch::Scratch;
use crate::stats::ConnectionRecorder;
use crate::transport::Transport;
use crate::zlib::Zlib;
use crate::zstd::Zstd;

/// The decompressor of one connection.
///
/// Between messages it keeps only what the format requires: for a zstd stream the window, which
/// grows with the data up to its size, and the tables; for a zlib stream the last 32 KiB of output.
/// All other memory is in the [`Scratch`] of the thread.
///
/// Each message is decoded completely before it is returned, so a caller that reads only part of it
/// loses nothing. After an error in a stream, every call of [`message`](Self::message) returns that
/// error until [`reset`](Self::reset). Where messages are independent, an error affects only its
/// own message.
pub struct Session {
    codec: Codec,
    limits: Limits,
    checks: Checks,
    /// Output of the fragments of an incomplete message.
    partial: Option<Payload>,
    /// Number of compressed bytes of the fragments of an incomplete message.
    partial_compressed: usize,
    /// Number of whole messages on this connection, including independent ones that failed.
    messages: u64,
    /// Number of compressed bytes on this connection.
    consumed: u64,
    /// The last sequence number.
    sequence: Option<u64>,
    recent: Option<Recent>,
    stats: Option<ConnectionRecorder>,
    error: Option<SessionError>,
}

enum Codec {
    Zlib(Box<Zlib>),
    Zstd(Box<Zstd>),
    /// Decodes messages that do not refer to earlier ones.
    Independent(Transport, Independent),
}

/// The place where the output of a websocket message was written.
enum Decoded {
    /// The output is in the scratch; the rest of the message has not arrived.
    Fragment,
    /// The whole payload is in the scratch.
    InScratch,
    /// The whole payload is in the caller's buffer, with this length.
    InPlace(usize),
}

/// Copies a payload to the beginning of `out` if it fits. Returns the copy, or else the original.
fn place<'s>(payload: &'s [u8], out: &'s mut [u8]) -> &'s [u8] {
    match out.get_mut(..payload.len()) {
        Some(out) => {
            out.copy_from_slice(payload);
            out
        }
        None => payload,
    }
}

impl Session {
    /// Creates a session for a new connection. Allocates the state of a stream's decoder, but its
    /// window and tables only when messages need them.
    pub fn new(transport: Transport, limits: Limits) -> Self {
        let codec = match transport {
            Transport::Zlib => Codec::Zlib(Box::default()),
            Transport::Zstd => Codec::Zstd(Box::new(Zstd::new(&limits))),
            Transport::ZstdFrame => Codec::Independent(transport, Independent::Zstd(None)),
            Transport::ZlibMessage => Codec::Independent(transport, Independent::Deflate(Format::Zlib)),
            Transport::Gzip => Codec::Independent(transport, Independent::Deflate(Format::Gzip)),
            Transport::RawDeflate => Codec::Independent(transport, Independent::Deflate(Format::Deflate)),
        };
        Session {
            codec,
            limits,
            checks: Checks::NONE,
            partial: None,
            partial_compressed: 0,
            messages: 0,
            consumed: 0,
            sequence: None,
            recent: None,
            stats: None,
            error: None,
        }
    }

    /// Sets the checks of each payload. Default: none.
    #[must_use]
    pub fn checks(self, checks: Checks) -> Self {
        Session { checks, ..self }
    }

    /// Keeps the last `messages` compressed websocket messages, at most `bytes` bytes in total.
    /// Default: none.
    #[must_use]
    pub fn keep_recent(self, messages: usize, bytes: usize) -> Self {
        Session { recent: Some(Recent::new(messages, bytes)), ..self }
    }

    /// Records the size and verdict of each message, and the decoding time of one in 16. Default:
    /// not recorded.
    #[must_use]
    pub fn record_stats(self, connection: ConnectionRecorder) -> Self {
        Session { stats: Some(connection), ..self }
    }

    /// Takes the recorder of this connection out, for another session of the same connection. Parts
    /// of an incomplete message are not recorded.
    pub fn take_recorder(&mut self) -> Option<ConnectionRecorder> {
        let mut recorder = self.stats.take()?;
        recorder.reset();
        Some(recorder)
    }

    /// The number of this connection in its recorder, if its messages are recorded.
    pub fn stats_number(&self) -> Option<u32> {
        self.stats.as_ref().map(|stats| stats.number())
    }

    /// Sets the dictionaries of [`Transport::ZstdFrame`]; the other transports ignore them.
    /// Default: none.
    #[must_use]
    pub fn dictionaries(mut self, dictionaries: Arc<Dictionaries>) -> Self {
        if let Codec::Independent(_, Independent::Zstd(own)) = &mut self.codec {
            *own = Some(dictionaries);
        }
        self
    }

    /// The transport.
    pub fn transport(&self) -> Transport {
        match self.codec {
            Codec::Independent(transport, _) => transport,
            Codec::Zlib(_) => Transport::Zlib,
            Codec::Zstd(_) => Transport::Zstd,
        }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Number of whole messages on this connection. Independent messages count even if they were
    /// damaged.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Number of compressed bytes on this connection.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The error that ended this connection's stream, if one occurred.
    pub fn error(&self) -> Option<SessionError> {
        self.error
    }

    /// The last compressed messages, if they are kept.
    pub fn recent(&self) -> Option<&Recent> {
        self.recent.as_ref()
    }

    /// The last compressed messages as a file for [`Recording`](crate::Recording), if they are
    /// kept and none is larger than 1 GiB. It begins in the middle of the connection if [messages
    /// are missing](Recent::is_complete), and a stream cannot be replayed then.
    pub fn recording(&self) -> Option<Vec<u8>> {
        let mut file = Vec::new();
        self.recent.as_ref()?.write(self.transport(), &mut file).ok()?;
        Some(file)
    }

    /// Number of bytes held by the session, its history and tables, an incomplete message and the
    /// recent messages.
    pub fn memory(&self) -> usize {
        let codec = match &self.codec {
            Codec::Zlib(zlib) => zlib.memory(),
            Codec::Zstd(zstd) => zstd.memory(),
            // Dictionaries are shared with other sessions, so they do not count.
            Codec::Independent(..) => 0,
        };
        let recent = self.recent.as_ref().map_or(0, Recent::memory);
        let partial = self.partial.as_ref().map_or(0, Payload::memory);
        size_of::<Self>() + codec + partial + recent
    }

    /// Starts a new connection: clears the history, fragments, counters, the last sequence number,
    /// recent messages and the error. Call it before a connection that resumes an old session, too.
    pub fn reset(&mut self) {
        match &mut self.codec {
            Codec::Zlib(zlib) => zlib.reset(),
            Codec::Zstd(zstd) => zstd.reset(&self.limits),
            Codec::Independent(..) => {}
        }
        self.partial = None;
        self.partial_compressed = 0;
        (self.messages, self.consumed) = (0, 0);
        (self.sequence, self.error) = (None, None);
        if let Some(recent) = &mut self.recent {
            recent.clear();
        }
        if let Some(stats) = &mut self.stats {
            stats.reset();
        }
    }

    /// Sets the last sequence number that was received before this connection, when a session is
    /// resumed. Call it after [`reset`](Self::reset).
    pub fn resume_after(&mut self, sequence: u64) {
        self.sequence = Some(sequence);
    }

    /// Decodes the content of one websocket message. Returns `None` if it does not complete a
    /// payload, since zlib streams may send a payload in fragments; the next calls take the rest.
    /// Fragments are decoded when they arrive, so a stream that is damaged or ends is an error even
    /// if no payload is completed.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for a damaged stream, a zlib stream that ends, or a payload that
    /// fails the [`Checks`]; [`Kind::Truncated`] for a zstd message that is empty or cut off, and
    /// for an independent message that is cut off; [`Kind::Limit`] for a payload or window above
    /// the [`Limits`], or if memory runs out; [`Kind::Unsupported`] for a message that needs a
    /// dictionary which this session does not have, or a window of 4 GiB or more.
    pub fn message<'s>(&mut self, frame: &[u8], scratch: &'s mut Scratch) -> Result<Option<Message<'s>>> {
        self.message_into(frame, scratch, &mut [])
    }

    /// Decodes like [`message`](Self::message), but puts the payload at the beginning of `out` if
    /// it fits there, and otherwise into the scratch.
    ///
    /// If `out` and the limit on payloads have at least 64 KiB, messages of zstd streams are
    /// decoded in `out` directly, which saves a copy. Bytes after the payload may therefore change;
    /// after an error, or if the payload does not fit, any byte of `out` may.
    ///
    /// # Errors
    /// Returns the errors of [`message`](Self::message).
    pub fn message_into<'s>(
        &mut self,
        frame: &[u8],
        scratch: &'s mut Scratch,
        out: &'s mut [u8],
    ) -> Result<Option<Message<'s>>> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let Some(stats) = &self.stats else { return self.next_message(frame, scratch, out) };
        let begun = stats.begin(&mut scratch.stats);
        let result = self.next_message(frame, scratch, out);
        let outcome = match &result {
            Ok(message) => Ok(message.map(|message| message.payload.len())),
            Err(error) => Err(error.kind()),
        };
        let transport = self.transport();
        if let Some(stats) = &mut self.stats {
            stats.end(begun, transport, frame.len(), outcome);
        }
        result
    }

    fn next_message<'s>(
        &mut self,
        frame: &[u8],
        scratch: &'s mut Scratch,
        out: &'s mut [u8],
    ) -> Result<Option<Message<'s>>> {
        if let Some(recent) = &mut self.recent {
            recent.push(frame);
        }
        let begin = self.consumed - self.partial_compressed as u64;
        let decoded = self.decode(frame, scratch, out);
        self.consumed += frame.len() as u64;
        let decoded = decoded.map_err(|e| self.fail(e.shifted(begin)))?;
        self.partial_compressed += frame.len();
        let payload = match decoded {
            Decoded::Fragment => {
                self.partial = scratch.payload.suspend();
                return Ok(None);
            }
            Decoded::InPlace(len) => &out[..len],
            Decoded::InScratch => place(scratch.payload.bytes(), out),
        };
        let compressed = std::mem::take(&mut self.partial_compressed);
        let envelope =
            self.check(payload).map_err(|what| self.fail(Error::new(Kind::Corrupt, begin, what)))?;
        if let Some(recent) = &mut self.recent {
            recent.set_payload_len(payload.len());
        }
        let index = self.messages;
        self.messages += 1;
        Ok(Some(Message { payload, index, compressed, envelope }))
    }

    /// Decodes into `out` if the transport allows it and the payload fits there, and otherwise into
    /// the scratch.
    fn decode(&mut self, frame: &[u8], scratch: &mut Scratch, out: &mut [u8]) -> Result<Decoded, Error> {
        match self.partial.take() {
            Some(partial) => scratch.payload.resume(partial),
            None => scratch.payload.begin(),
        }
        let is_whole = match &mut self.codec {
            Codec::Zstd(zstd) => {
                let in_place = zstd.message(frame, self.consumed, scratch, out, &self.limits)?;
                return Ok(in_place.map_or(Decoded::InScratch, Decoded::InPlace));
            }
            Codec::Zlib(zlib) => zlib.fragment(frame, scratch, &self.limits)?,
            Codec::Independent(_, codec) => codec.message(frame, scratch, &self.limits).map(|()| true)?,
        };
        Ok(if is_whole { Decoded::InScratch } else { Decoded::Fragment })
    }

    fn check<'p>(&mut self, payload: &'p [u8]) -> Result<Option<Envelope<'p>>, &'static str> {
        let Some(encoding) = self.checks.encoding else { return Ok(None) };
        let envelope = Envelope::read(payload, encoding)?;
        if self.checks.sequence
            && let Some(sequence) = envelope.sequence
        {
            let last = self.sequence.replace(sequence);
            if last.is_some_and(|last| last.wrapping_add(1) != sequence) {
                return Err("the sequence number is not the next one: messages were lost");
            }
        }
        Ok(Some(envelope))
    }

    fn fail(&mut self, error: Error) -> SessionError {
        let error = SessionError { error, message_index: self.messages };
        if self.transport().is_stream() {
            self.error = Some(error);
        } else {
            self.messages += 1;
        }
        error
    }
}

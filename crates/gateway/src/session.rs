//! One connection.

use linerate_core::{Error, Kind};

use crate::checks::Checks;
use crate::envelope::Envelope;
use crate::fault::{Fault, Result};
use crate::limits::Limits;
use crate::message::Message;
use crate::payload::Payload;
use crate::recent::Recent;
use crate::scratch::Scratch;
use crate::transport::Transport;
use crate::zlib::Zlib;
use crate::zstd::Zstd;

/// The decompressor of one connection.
///
/// It keeps what the format demands from message to message and nothing else: for zstd the window, which
/// grows with what was sent up to its size, and the tables; for zlib the state of the decoder. All else
/// is in the [`Scratch`] of the thread.
///
/// Each message is decoded whole before it is handed over, so a reader who stops in the middle of one
/// leaves nothing behind. After an error every call returns that error until [`reset`](Self::reset).
pub struct Session {
    codec: Codec,
    limits: Limits,
    checks: Checks,
    /// What fragments of a message that is not whole have given so far.
    partial: Option<Payload>,
    /// Their compressed bytes.
    partial_compressed: usize,
    /// Whole messages of the connection.
    messages: u64,
    /// Compressed bytes of the connection.
    consumed: u64,
    /// The last sequence number.
    sequence: Option<u64>,
    recent: Option<Recent>,
    fault: Option<Fault>,
}

enum Codec {
    Zlib(Zlib),
    Zstd(Box<Zstd>),
}

impl Session {
    /// A session at the beginning of a connection. It allocates nothing until the first message.
    pub fn new(transport: Transport, limits: Limits) -> Self {
        let codec = match transport {
            Transport::Zlib => Codec::Zlib(Zlib::default()),
            Transport::Zstd => Codec::Zstd(Box::new(Zstd::new(&limits))),
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
            fault: None,
        }
    }

    /// Looks at each payload.
    #[must_use]
    pub fn with_checks(self, checks: Checks) -> Self {
        Session { checks, ..self }
    }

    /// Keeps the last `messages` compressed messages, as many of them as `bytes` hold.
    #[must_use]
    pub fn with_recent(self, messages: usize, bytes: usize) -> Self {
        Session { recent: Some(Recent::new(messages, bytes)), ..self }
    }

    /// The transport.
    pub fn transport(&self) -> Transport {
        match self.codec {
            Codec::Zlib(_) => Transport::Zlib,
            Codec::Zstd(_) => Transport::Zstd,
        }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whole messages of this connection.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Compressed bytes of this connection.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// What went wrong, if anything did since the beginning of the connection.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// The last compressed messages, if they are kept.
    pub fn recent(&self) -> Option<&Recent> {
        self.recent.as_ref()
    }

    /// The last compressed messages as the bytes of a recording, if they are kept: what
    /// [`Recent::write`] writes.
    pub fn recording(&self) -> Option<Vec<u8>> {
        let mut file = Vec::new();
        self.recent.as_ref()?.write(self.transport(), &mut file).ok()?;
        Some(file)
    }

    /// Bytes held: itself, its history and tables, a part of a message, the recent messages.
    pub fn memory(&self) -> usize {
        let codec = match &self.codec {
            Codec::Zlib(zlib) => zlib.memory(),
            Codec::Zstd(zstd) => zstd.memory(),
        };
        let recent = self.recent.as_ref().map_or(0, Recent::memory);
        let partial = self.partial.as_ref().map_or(0, Payload::memory);
        size_of::<Self>() + codec + partial + recent
    }

    /// Begins a new connection, also one that resumes an old one: history, fragments, counts, recent
    /// messages and the error are forgotten.
    pub fn reset(&mut self) {
        match &mut self.codec {
            Codec::Zlib(zlib) => zlib.reset(),
            Codec::Zstd(zstd) => zstd.reset(&self.limits),
        }
        self.partial = None;
        self.partial_compressed = 0;
        (self.messages, self.consumed) = (0, 0);
        (self.sequence, self.fault) = (None, None);
        if let Some(recent) = &mut self.recent {
            recent.clear();
        }
    }

    /// Tells the last sequence number before this connection, when one is resumed that broke off.
    pub fn resume_after(&mut self, sequence: u64) {
        self.sequence = Some(sequence);
    }

    /// Decodes what one websocket message brought. `None` if it was only a part of a message, which
    /// zlib streams may send; the rest must come in the following calls.
    ///
    /// # Errors
    /// [`Kind::Corrupt`] for what is no such stream, or fails the [`Checks`]; [`Kind::Truncated`] for a
    /// zstd message that ends within a block; [`Kind::Limit`] for a payload or window above the
    /// limits, or no memory; [`Kind::Unsupported`] for a stream that needs a dictionary.
    pub fn message<'s>(&mut self, frame: &[u8], scratch: &'s mut Scratch) -> Result<Option<Message<'s>>> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if let Some(recent) = &mut self.recent {
            recent.push(frame);
        }
        let begin = self.consumed - self.partial_compressed as u64;
        let whole = self.decode(frame, scratch).map_err(|e| self.fail(e.shifted(begin)))?;
        self.consumed += frame.len() as u64;
        self.partial_compressed += frame.len();
        if !whole {
            // The buffer itself moves, so that many small fragments cost no copies. Mostly nothing was
            // decoded yet, and a connection that waits must not keep the thread's buffer for that.
            if scratch.payload.len() > 0 {
                self.partial = Some(std::mem::take(&mut scratch.payload).fitted());
            }
            return Ok(None);
        }
        let compressed = std::mem::take(&mut self.partial_compressed);
        let payload = scratch.payload.bytes();
        let envelope =
            self.check(payload).map_err(|what| self.fail(Error::new(Kind::Corrupt, begin, what)))?;
        if let Some(recent) = &mut self.recent {
            recent.gave(payload.len());
        }
        let index = self.messages;
        self.messages += 1;
        Ok(Some(Message { payload, index, compressed, envelope }))
    }

    /// Decodes into the scratch; returns whether the message is whole.
    fn decode(&mut self, frame: &[u8], scratch: &mut Scratch) -> Result<bool, Error> {
        match self.partial.take() {
            Some(partial) => scratch.payload = partial,
            None => scratch.payload.begin(),
        }
        match &mut self.codec {
            Codec::Zlib(zlib) => zlib.fragment(frame, scratch, &self.limits),
            Codec::Zstd(zstd) => zstd.message(frame, self.consumed, scratch, &self.limits).map(|()| true),
        }
    }

    fn check<'p>(&mut self, payload: &'p [u8]) -> Result<Option<Envelope<'p>>, &'static str> {
        let Some(encoding) = self.checks.encoding else { return Ok(None) };
        let envelope = Envelope::read(payload, encoding)?;
        if self.checks.sequence
            && let Some(sequence) = envelope.sequence
        {
            if self.sequence.is_some_and(|last| last.wrapping_add(1) != sequence) {
                return Err("the sequence number is not the one that comes next: messages were lost");
            }
            self.sequence = Some(sequence);
        }
        Ok(Some(envelope))
    }

    fn fail(&mut self, error: Error) -> Fault {
        let fault = Fault { error, message: self.messages };
        self.fault = Some(fault);
        fault
    }
}

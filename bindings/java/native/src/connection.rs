//! A connection held by Java.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use linerate_gateway::{Dictionaries, Envelope, Error, Kind, Scratch, Session, SessionError};

use crate::options::Options;
use crate::recorder::Recorder;

/// Number of connections that are not freed.
static LIVE: AtomicI64 = AtomicI64::new(0);

const NO_MEMORY: &str = "out of memory for a message";
const TOO_LONG: &str = "the parts of a websocket message are longer than the limit on payloads allows";

/// The decompressor of one connection: a session, the parts of an incomplete websocket message, and
/// the envelope of the last message.
pub(crate) struct Connection {
    options: Options,
    session: Session,
    /// Received parts of an incomplete websocket message.
    parts: Vec<u8>,
    /// A payload that did not fit into the caller's buffer, until it is fetched or the next message
    /// begins.
    unfetched: Option<Vec<u8>>,
    last: LastMessage,
    /// Names of the events whose payloads are not delivered.
    dropped: Vec<Box<str>>,
    /// An error that the session does not know: parts were too long, or memory ran out. It persists
    /// until a reset.
    error: Option<SessionError>,
    /// The error of the last message, even if it affects only this message.
    last_error: Option<SessionError>,
    /// Whether a panic left the session in an unknown state.
    broken: bool,
}

/// The envelope of the last message.
#[derive(Default)]
pub(crate) struct LastMessage {
    pub(crate) op: Option<u64>,
    pub(crate) sequence: Option<u64>,
    has_event: bool,
    event: String,
}

impl Connection {
    pub(crate) fn new(options: Options) -> Self {
        LIVE.fetch_add(1, Ordering::Relaxed);
        let session = options.session();
        Connection {
            options,
            session,
            parts: Vec::new(),
            unfetched: None,
            last: LastMessage::default(),
            dropped: Vec::new(),
            error: None,
            last_error: None,
            broken: false,
        }
    }

    /// Number of connections that are not freed.
    pub(crate) fn live() -> i64 {
        LIVE.load(Ordering::Relaxed)
    }

    /// Decodes a frame. Returns `None` if the message is incomplete, or if its event is dropped.
    /// The payload is at the beginning of `out` if it fits there, otherwise only in the scratch.
    pub(crate) fn message<'s>(
        &mut self,
        frame: &[u8],
        scratch: &'s mut Scratch,
        out: &'s mut [u8],
    ) -> Result<Option<&'s [u8]>, SessionError> {
        (self.unfetched, self.last_error) = (None, None);
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.reads_payloads() {
            let decoded = self.session.message_into(frame, scratch, out);
            let decoded = decoded.inspect_err(|error| self.last_error = Some(*error))?;
            return Ok(decoded.map(|message| message.payload));
        }
        // Payloads that are read must be in the scratch: other threads of Java could write to
        // `out`.
        let decoded =
            self.session.message(frame, scratch).inspect_err(|error| self.last_error = Some(*error));
        let Some(message) = decoded? else { return Ok(None) };
        let envelope = message.envelope.unwrap_or_else(|| {
            // A payload that cannot be read has no event, so it is delivered.
            Envelope::peek(message.payload, self.options.encoding()).unwrap_or_default()
        });
        self.last.set(envelope);
        if envelope.event.is_some_and(|event| self.dropped.iter().any(|name| **name == *event)) {
            return Ok(None);
        }
        if let Some(out) = out.get_mut(..message.payload.len()) {
            out.copy_from_slice(message.payload);
        }
        Ok(Some(message.payload))
    }

    /// Whether checks or dropped events require reading payloads.
    fn reads_payloads(&self) -> bool {
        self.options.checks != 0 || !self.dropped.is_empty()
    }

    /// Sets the events whose payloads are not delivered, as if the message were incomplete.
    pub(crate) fn drop_events<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        self.dropped = names.map(Box::from).collect();
    }

    /// Sets the dictionaries of zstd frames, before the first frame.
    pub(crate) fn set_dictionaries(&mut self, dictionaries: Arc<Dictionaries>) {
        self.options.dictionaries = Some(dictionaries);
        self.session = self.options.session();
    }

    /// Records messages, before the first one. Returns the connection's number in the recorder.
    pub(crate) fn record_stats(&mut self, recorder: Arc<Recorder>) -> Option<u32> {
        self.options.recorder = Some(recorder);
        self.session = self.options.session();
        self.session.stats_number()
    }

    /// Received parts of an incomplete websocket message.
    pub(crate) fn parts(&mut self) -> &mut Vec<u8> {
        &mut self.parts
    }

    /// Reserves `len` more bytes for parts. Fails if the connection has an error, if memory runs
    /// out, or if the parts exceed the compressed bytes that a message within the limits may have.
    /// The last part is not limited, because it is decoded at once.
    pub(crate) fn reserve_part(&mut self, len: usize, last: bool) -> Result<(), SessionError> {
        if let Some(error) = self.error() {
            return Err(error);
        }
        if !last && self.parts.len() + len > self.session.limits().max_compressed() {
            return Err(self.fail(TOO_LONG));
        }
        if self.parts.try_reserve(len).is_err() {
            return Err(self.no_memory());
        }
        Ok(())
    }

    /// Keeps a payload until it is fetched or the next message begins.
    pub(crate) fn keep(&mut self, payload: &[u8]) -> Result<(), SessionError> {
        let mut kept = Vec::new();
        if kept.try_reserve_exact(payload.len()).is_err() {
            return Err(self.no_memory());
        }
        kept.extend_from_slice(payload);
        self.unfetched = Some(kept);
        Ok(())
    }

    /// Takes the payload kept by [`keep`](Self::keep).
    pub(crate) fn fetch(&mut self) -> Option<Vec<u8>> {
        self.unfetched.take()
    }

    /// Length of the kept payload.
    pub(crate) fn pending(&self) -> Option<usize> {
        self.unfetched.as_ref().map(Vec::len)
    }

    /// Sets an error that persists until a reset: memory for a message ran out, so the message is
    /// lost, and later ones may refer to it.
    pub(crate) fn no_memory(&mut self) -> SessionError {
        self.fail(NO_MEMORY)
    }

    fn fail(&mut self, message: &'static str) -> SessionError {
        let error = Error::new(Kind::Limit, self.session.consumed() + self.parts.len() as u64, message);
        self.parts = Vec::new();
        *self.error.get_or_insert(SessionError { error, message_index: self.session.messages() })
    }

    /// The error that persists until a reset.
    pub(crate) fn error(&self) -> Option<SessionError> {
        self.error.or(self.session.error())
    }

    /// The error because of which the last message had no payload.
    pub(crate) fn last_error(&self) -> Option<SessionError> {
        self.error().or(self.last_error)
    }

    /// Marks the connection as unusable after a panic.
    pub(crate) fn set_broken(&mut self) {
        self.broken = true;
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn reset(&mut self) {
        if self.broken {
            self.session = self.options.session();
        } else {
            self.session.reset();
        }
        self.parts = Vec::new();
        (self.unfetched, self.error, self.last_error, self.broken) = (None, None, None, false);
        self.last = LastMessage::default();
    }

    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    pub(crate) fn last(&self) -> &LastMessage {
        &self.last
    }

    /// Bytes that the connection holds.
    pub(crate) fn memory(&self) -> usize {
        let own = size_of::<Self>() - size_of::<Session>();
        let unfetched = self.unfetched.as_ref().map_or(0, Vec::capacity);
        own + self.session.memory() + self.parts.capacity() + unfetched + self.last.event.capacity()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl LastMessage {
    fn set(&mut self, envelope: Envelope<'_>) {
        (self.op, self.sequence) = (envelope.op, envelope.sequence);
        self.has_event = envelope.event.is_some();
        self.event.clear();
        self.event.push_str(envelope.event.unwrap_or(""));
    }

    pub(crate) fn event(&self) -> Option<&str> {
        self.has_event.then_some(&self.event)
    }
}

#[cfg(test)]
mod tests {
    use linerate_gateway::{Encoder, Transport};

    use super::*;

    fn options(checks: i32) -> Options {
        Options {
            transport: 1,
            max_message: 100,
            window_log: 16,
            checks,
            keep_messages: 0,
            keep_bytes: 0,
            dictionaries: None,
            recorder: None,
        }
    }

    fn wire(server: &mut Encoder, text: &[u8]) -> Vec<u8> {
        let mut wire = Vec::new();
        server.message(text, &mut wire).unwrap();
        wire
    }

    #[test]
    fn envelope_of_the_last_message_is_kept() {
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(options(3));
        let text = br#"{"op":0,"s":7,"t":"READY","d":null}"#;
        assert_eq!(connection.message(&wire(&mut server, text), scratch, &mut []).unwrap(), Some(&text[..]));
        let last = connection.last();
        assert_eq!((last.op, last.sequence, last.event()), (Some(0), Some(7), Some("READY")));
        let text = br#"{"op":11,"s":null,"t":null}"#;
        assert_eq!(connection.message(&wire(&mut server, text), scratch, &mut []).unwrap(), Some(&text[..]));
        let last = connection.last();
        assert_eq!((last.op, last.sequence, last.event()), (Some(11), None, None));
    }

    #[test]
    fn dropped_events_are_not_delivered() {
        let scratch = &mut Scratch::new();
        let texts = [
            r#"{"t":"TYPING_START","s":1,"op":0,"d":{}}"#,
            r#"{"t":"READY","s":2,"op":0,"d":{}}"#,
            "no object",
        ];
        for (checks, len) in [(0, 3), (1, 2)] {
            let mut server = Encoder::new(Transport::Zstd).unwrap();
            let mut connection = Connection::new(options(checks));
            connection.drop_events("TYPING_START\nPRESENCE_UPDATE\n".lines());
            for (i, text) in texts[..len].iter().enumerate() {
                let out = &mut [0; 40];
                let wire = wire(&mut server, text.as_bytes());
                let payload = connection.message(&wire, scratch, out).unwrap();
                assert_eq!(payload, (i > 0).then_some(text.as_bytes()));
                // If the payload is not delivered, the buffer is as before.
                assert_eq!(out.starts_with(text.as_bytes()), i > 0);
                let expected = [Some(1), Some(2), None][i];
                assert_eq!(connection.last().sequence, expected);
            }
            connection.reset();
            assert_eq!(connection.dropped.len(), 2);
        }
    }

    #[test]
    fn kept_payload_is_dropped_with_the_next_message() {
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(options(0));
        connection.message(&wire(&mut server, b"one"), scratch, &mut []).unwrap();
        connection.keep(b"one").unwrap();
        assert_eq!(connection.fetch().as_deref(), Some(&b"one"[..]));
        connection.keep(b"one").unwrap();
        connection.message(&wire(&mut server, b"two"), scratch, &mut []).unwrap();
        assert_eq!(connection.fetch(), None);
    }

    #[test]
    fn parts_above_the_limit_are_an_error_that_persists() {
        let mut connection = Connection::new(options(0));
        let most = connection.session().limits().max_compressed();
        connection.reserve_part(most, false).unwrap();
        connection.parts().resize(most, 0);
        assert!(connection.memory() > most);
        // The last part is not limited: it is decoded at once.
        connection.reserve_part(1, true).unwrap();
        let error = connection.reserve_part(1, false).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (Kind::Limit, most as u64));
        assert!(connection.memory() < most);
        assert_eq!(connection.reserve_part(0, true), Err(error));
        connection.reset();
        connection.reserve_part(most, false).unwrap();
    }

    #[test]
    fn error_of_an_independent_message_ends_with_the_next() {
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(Options { transport: 5, ..options(0) });
        let stored = |text: &[u8]| [&[1, text.len() as u8, 0, !(text.len() as u8), 255], text].concat();
        let error = connection.message(b"?", scratch, &mut []).unwrap_err();
        assert_eq!((connection.last_error(), connection.error()), (Some(error), None));
        assert_eq!(connection.message(&stored(b"x"), scratch, &mut []).unwrap(), Some(&b"x"[..]));
        assert_eq!(connection.last_error(), None);
    }

    #[test]
    fn errors_persist_until_a_reset() {
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(options(0));
        let error = connection.no_memory();
        assert_eq!(error.kind(), Kind::Limit);
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        assert_eq!(connection.message(&wire(&mut server, b"x"), scratch, &mut []), Err(error));
        connection.set_broken();
        connection.reset();
        assert!(connection.error().is_none() && !connection.is_broken());
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        assert_eq!(connection.message(&wire(&mut server, b"x"), scratch, &mut []).unwrap(), Some(&b"x"[..]));
        let error = connection.message(&wire(&mut server, &[b'x'; 101]), scratch, &mut []).unwrap_err();
        assert_eq!((error.kind(), error.message_index), (Kind::Limit, 1));
        assert_eq!(connection.error(), Some(error));
    }
}

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
    /// is decoded.
    unfetched: Option<Vec<u8>>,
    last: LastMessage,
    /// Names of the events whose payloads are not delivered.
    dropped: Vec<Box<str>>,
    /// An error of a stream that its session does not know: the parts of a message were too long,
    /// or memory ran out. It persists until a reset.
    error: Option<SessionError>,
    /// The error of the last message, even if it affects only this message.
    last_error: Option<SessionError>,
    /// An independent message that is lost although its last part has not arrived.
    lost: Option<LostMessage>,
    /// Number of independent messages that were lost before they reached the session.
    lost_messages: u64,
    /// Number of compressed bytes of these messages.
    lost_bytes: u64,
    /// Whether a panic left the session in an unknown state.
    broken: bool,
}

/// A message whose remaining parts are dropped, each with the same error.
struct LostMessage {
    error: SessionError,
    /// Compressed bytes of the message's parts so far.
    compressed: u64,
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
            lost: None,
            lost_messages: 0,
            lost_bytes: 0,
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
            return match self.session.message_into(frame, scratch, out) {
                Ok(decoded) => Ok(decoded.map(|message| message.payload)),
                Err(error) => Err(self.of_session(error)),
            };
        }
        // Payloads that are read must be in the scratch: other threads of Java could write to
        // `out`.
        let decoded = self.session.message(frame, scratch);
        let Some(message) = decoded.map_err(|error| self.of_session(error))? else { return Ok(None) };
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

    /// Sets the dictionaries of zstd frames. Call it before the first frame.
    pub(crate) fn set_dictionaries(&mut self, dictionaries: Arc<Dictionaries>) {
        self.options.dictionaries = Some(dictionaries);
        self.renew_session();
    }

    /// Makes `recorder` record the messages. Call it before the first one. Returns the connection's
    /// number in the recorder.
    pub(crate) fn record_stats(&mut self, recorder: Arc<Recorder>) -> Option<u32> {
        let connection = self.options.recorder.insert(recorder).connection();
        self.session = self.options.session().record_stats(connection);
        self.session.stats_number()
    }

    /// Replaces the session by a new one, which keeps the number in the recorder.
    fn renew_session(&mut self) {
        let recorder = self.session.take_recorder();
        let session = self.options.session();
        self.session = match recorder {
            Some(recorder) => session.record_stats(recorder),
            None => session,
        };
    }

    /// Received parts of an incomplete websocket message.
    pub(crate) fn parts(&mut self) -> &mut Vec<u8> {
        &mut self.parts
    }

    /// Begins a part of `len` bytes. Fails if the stream has an error, or if the part belongs to a
    /// message that is already lost.
    pub(crate) fn begin_part(&mut self, len: usize, last: bool) -> Result<(), SessionError> {
        self.last_error = None;
        if let Some(error) = self.error() {
            return Err(error);
        }
        match self.lost.take() {
            Some(lost) => Err(self.lose(lost.error, lost.compressed + len as u64, last)),
            None => Ok(()),
        }
    }

    /// Reserves `len` more bytes for parts. Fails if memory runs out, or if the parts exceed the
    /// compressed bytes that a message within the limits may have. The last part is not limited,
    /// because it is decoded at once.
    pub(crate) fn reserve_part(&mut self, len: usize, last: bool) -> Result<(), SessionError> {
        if !last && self.parts.len() + len > self.session.limits().max_compressed() {
            return Err(self.fail(TOO_LONG, len, last));
        }
        if self.parts.try_reserve(len).is_err() {
            return Err(self.no_memory(len, last));
        }
        Ok(())
    }

    /// Keeps the payload of the last message until it is fetched or the next message is decoded. If
    /// memory runs out, the payload is lost, and in a stream the error persists.
    pub(crate) fn keep(&mut self, payload: &[u8]) -> Result<(), SessionError> {
        let mut kept = Vec::new();
        if kept.try_reserve_exact(payload.len()).is_err() {
            let error = Error::new(Kind::Limit, self.consumed(), NO_MEMORY);
            let error = SessionError { error, message_index: self.messages() - 1 };
            self.last_error = Some(error);
            if self.session.transport().is_stream() {
                self.error = Some(error);
            }
            return Err(error);
        }
        kept.extend_from_slice(payload);
        self.unfetched = Some(kept);
        Ok(())
    }

    /// Calls `deliver` with the payload kept by [`keep`](Self::keep), or with no bytes if there is
    /// none. Keeps the payload if `deliver` returns a negative result.
    pub(crate) fn fetch(&mut self, deliver: impl FnOnce(&[u8]) -> i64) -> i64 {
        let result = deliver(self.unfetched.as_deref().unwrap_or_default());
        if result >= 0 {
            self.unfetched = None;
        }
        result
    }

    /// Length of the kept payload; `None` if there is none.
    pub(crate) fn pending(&self) -> Option<usize> {
        self.unfetched.as_ref().map(Vec::len)
    }

    /// Reports that there is no memory for a part of `len` bytes, so that its message is lost.
    pub(crate) fn no_memory(&mut self, len: usize, last: bool) -> SessionError {
        self.fail(NO_MEMORY, len, last)
    }

    /// Drops the message of a part of `len` bytes and returns the error. In a stream the error
    /// persists until a reset, because later messages may refer to the lost one.
    fn fail(&mut self, message: &'static str, len: usize, last: bool) -> SessionError {
        let parts = std::mem::take(&mut self.parts).len() as u64;
        let error = Error::new(Kind::Limit, self.consumed() + parts, message);
        let error = SessionError { error, message_index: self.messages() };
        if self.session.transport().is_stream() {
            return *self.error.insert(error);
        }
        self.lose(error, parts + len as u64, last)
    }

    /// Drops a part of an independent message that is lost. Counts the message once its last part
    /// has arrived.
    fn lose(&mut self, error: SessionError, compressed: u64, last: bool) -> SessionError {
        if last {
            self.lost_messages += 1;
            self.lost_bytes += compressed;
        } else {
            self.lost = Some(LostMessage { error, compressed });
        }
        *self.last_error.insert(error)
    }

    /// Keeps an error of the session as the error of the last message. Adds lost messages, which
    /// the session does not know, to its offset and index.
    fn of_session(&mut self, SessionError { error, message_index }: SessionError) -> SessionError {
        let error = error.shifted(self.lost_bytes);
        let message_index = message_index + self.lost_messages;
        *self.last_error.insert(SessionError { error, message_index })
    }

    /// Number of whole messages, including independent ones that failed.
    pub(crate) fn messages(&self) -> u64 {
        self.session.messages() + self.lost_messages
    }

    /// Number of compressed bytes of the messages so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.session.consumed() + self.lost_bytes
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
            self.renew_session();
        } else {
            self.session.reset();
        }
        self.parts = Vec::new();
        (self.lost, self.lost_messages, self.lost_bytes) = (None, 0, 0);
        (self.unfetched, self.error, self.last_error, self.broken) = (None, None, None, false);
        self.last = LastMessage::default();
    }

    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    pub(crate) fn last(&self) -> &LastMessage {
        &self.last
    }

    /// Bytes that the connection holds, without the names of dropped events.
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
    use linerate_gateway::stats::StatsOptions;
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

    /// A raw deflate message: one final stored block.
    fn stored(text: &[u8]) -> Vec<u8> {
        [&[1, text.len() as u8, 0, !(text.len() as u8), 255], text].concat()
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
        connection.message(&wire(&mut server, b"two"), scratch, &mut []).unwrap();
        assert_eq!(connection.pending(), None);
    }

    #[test]
    fn kept_payload_that_is_not_delivered_is_still_kept() {
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(options(0));
        connection.message(&wire(&mut server, b"one"), scratch, &mut []).unwrap();
        connection.keep(b"one").unwrap();
        assert_eq!(connection.fetch(|_| -4), -4);
        assert_eq!(connection.pending(), Some(3));
        let fetched = connection.fetch(|payload| {
            assert_eq!(payload, b"one");
            3
        });
        assert_eq!((fetched, connection.pending()), (3, None));
    }

    #[test]
    fn parts_of_a_stream_above_the_limit_are_an_error_that_persists() {
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
        assert_eq!(connection.begin_part(0, true), Err(error));
        assert_eq!(connection.begin_part(0, true), Err(error));
        connection.reset();
        connection.begin_part(most, false).unwrap();
        connection.reserve_part(most, false).unwrap();
    }

    #[test]
    fn independent_message_whose_parts_are_above_the_limit_ends_with_its_last_part() {
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(Options { transport: 5, ..options(0) });
        connection.message(&stored(b"x"), scratch, &mut []).unwrap();
        let before = connection.consumed();
        let most = connection.session().limits().max_compressed();
        connection.begin_part(most, false).unwrap();
        connection.reserve_part(most, false).unwrap();
        connection.parts().resize(most, 0);
        connection.begin_part(1, false).unwrap();
        let error = connection.reserve_part(1, false).unwrap_err();
        let expected = (Kind::Limit, before + most as u64, 1);
        assert_eq!((error.kind(), error.offset(), error.message_index), expected);
        assert!(connection.memory() < most);
        for last in [false, true] {
            assert_eq!((connection.begin_part(1, last), connection.last_error()), (Err(error), Some(error)));
        }
        assert_eq!((connection.messages(), connection.consumed()), (2, before + most as u64 + 3));
        connection.begin_part(1, true).unwrap();
        assert_eq!((connection.error(), connection.last_error()), (None, None));
        assert_eq!(connection.message(&stored(b"y"), scratch, &mut []).unwrap(), Some(&b"y"[..]));
        let consumed = connection.consumed();
        let error = connection.message(b"?", scratch, &mut []).unwrap_err();
        assert_eq!(error.message_index, 3);
        assert!((consumed..=consumed + 1).contains(&error.offset()), "{error}");
        assert_eq!(connection.messages(), 4);
    }

    #[test]
    fn no_memory_for_an_independent_message_affects_only_that_message() {
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(Options { transport: 5, ..options(0) });
        connection.begin_part(7, true).unwrap();
        let error = connection.no_memory(7, true);
        assert_eq!((connection.last_error(), connection.error()), (Some(error), None));
        assert_eq!((connection.messages(), connection.consumed()), (1, 7));
        connection.begin_part(1, true).unwrap();
        assert_eq!(connection.message(&stored(b"x"), scratch, &mut []).unwrap(), Some(&b"x"[..]));
    }

    #[test]
    fn error_of_an_independent_message_ends_with_the_next() {
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(Options { transport: 5, ..options(0) });
        let error = connection.message(b"?", scratch, &mut []).unwrap_err();
        assert_eq!((connection.last_error(), connection.error()), (Some(error), None));
        assert_eq!(connection.message(&stored(b"x"), scratch, &mut []).unwrap(), Some(&b"x"[..]));
        assert_eq!(connection.last_error(), None);
    }

    #[test]
    fn errors_of_a_stream_persist_until_a_reset() {
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(options(0));
        let error = connection.no_memory(1, true);
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

    #[test]
    fn connection_keeps_its_number_and_statistics_in_the_recorder_after_a_panic() {
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(options(0));
        let recorder = Arc::new(Recorder::start(StatsOptions::new()).unwrap());
        let number = connection.record_stats(Arc::clone(&recorder)).unwrap();
        for _ in 0..2 {
            let mut server = Encoder::new(Transport::Zstd).unwrap();
            connection.message(&wire(&mut server, b"x"), scratch, &mut []).unwrap();
            connection.set_broken();
            connection.reset();
        }
        recorder.stop().unwrap();
        assert_eq!(connection.session().stats_number(), Some(number));
        assert_eq!(recorder.connection_stats(number).unwrap()[0], 2);
    }
}

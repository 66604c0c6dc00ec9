//! One connection, as Java holds it.

use std::sync::atomic::{AtomicI64, Ordering};

use linerate_gateway::{Error, Fault, Kind, Message, Scratch, Session};

use crate::settings::Settings;

/// Connections that were not released yet.
static LIVE: AtomicI64 = AtomicI64::new(0);

const NO_MEMORY: &str = "there is no memory for a message";
const TOO_LONG: &str = "the parts of a websocket message are longer than the limit on payloads allows";

/// A session and what Java may ask of its last message.
pub(crate) struct Connection {
    settings: Settings,
    session: Session,
    /// Parts of a websocket message whose last part is still to come.
    parts: Vec<u8>,
    /// A payload that had no room where it should go, until it is fetched.
    waiting: Option<Vec<u8>>,
    seen: Seen,
    /// What went wrong outside the session.
    fault: Option<Fault>,
    /// A panic left the session in a state that nobody knows.
    broken: bool,
}

/// What the last message said of itself.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) op: Option<u64>,
    pub(crate) sequence: Option<u64>,
    has_event: bool,
    event: String,
}

impl Connection {
    pub(crate) fn new(settings: Settings) -> Self {
        LIVE.fetch_add(1, Ordering::Relaxed);
        let session = settings.session();
        Connection {
            settings,
            session,
            parts: Vec::new(),
            waiting: None,
            seen: Seen::default(),
            fault: None,
            broken: false,
        }
    }

    /// How many there are.
    pub(crate) fn live() -> i64 {
        LIVE.load(Ordering::Relaxed)
    }

    /// Decodes a frame. The payload stands in the scratch; `None` if the message is not whole.
    pub(crate) fn message<'s>(
        &mut self,
        frame: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<Option<&'s [u8]>, Fault> {
        self.waiting = None;
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let Some(message) = self.session.message(frame, scratch)? else { return Ok(None) };
        self.seen.note(&message);
        Ok(Some(message.payload))
    }

    /// Parts of a websocket message that wait for its last one.
    pub(crate) fn parts(&mut self) -> &mut Vec<u8> {
        &mut self.parts
    }

    /// Makes room behind the parts for `len` more bytes. Of parts that wait for more there are never as
    /// many as no message within the limits has.
    pub(crate) fn reserve_part(&mut self, len: usize, last: bool) -> Result<(), Fault> {
        if let Some(fault) = self.fault() {
            return Err(fault);
        }
        if !last && self.parts.len() + len > self.session.limits().max_compressed() {
            return Err(self.lose(TOO_LONG));
        }
        if self.parts.try_reserve(len).is_err() {
            return Err(self.no_memory());
        }
        Ok(())
    }

    /// Keeps a payload until it is fetched.
    pub(crate) fn wait(&mut self, payload: &[u8]) -> Result<(), Fault> {
        let mut kept = Vec::new();
        if kept.try_reserve_exact(payload.len()).is_err() {
            return Err(self.no_memory());
        }
        kept.extend_from_slice(payload);
        self.waiting = Some(kept);
        Ok(())
    }

    /// What [`wait`](Self::wait) has kept.
    pub(crate) fn fetch(&mut self) -> Option<Vec<u8>> {
        self.waiting.take()
    }

    /// A message was lost for want of memory, and with it all that follow.
    pub(crate) fn no_memory(&mut self) -> Fault {
        self.lose(NO_MEMORY)
    }

    fn lose(&mut self, why: &'static str) -> Fault {
        let error = Error::new(Kind::Limit, self.session.consumed() + self.parts.len() as u64, why);
        self.parts = Vec::new();
        *self.fault.get_or_insert(Fault { error, message: self.session.messages() })
    }

    pub(crate) fn fault(&self) -> Option<Fault> {
        self.fault.or(self.session.fault())
    }

    /// To be called where a panic was caught.
    pub(crate) fn break_off(&mut self) {
        self.broken = true;
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn reset(&mut self) {
        if self.broken {
            self.session = self.settings.session();
        } else {
            self.session.reset();
        }
        self.parts = Vec::new();
        (self.waiting, self.fault, self.broken) = (None, None, false);
        self.seen = Seen::default();
    }

    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        let own = size_of::<Self>() - size_of::<Session>();
        let waiting = self.waiting.as_ref().map_or(0, Vec::capacity);
        own + self.session.memory() + self.parts.capacity() + waiting + self.seen.event.capacity()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Seen {
    fn note(&mut self, message: &Message<'_>) {
        let Some(envelope) = message.envelope else { return };
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

    fn settings(checks: i32) -> Settings {
        Settings { transport: 1, max_message: 100, window_log: 16, checks, keep_messages: 0, keep_bytes: 0 }
    }

    fn wire(server: &mut Encoder, text: &[u8]) -> Vec<u8> {
        let mut wire = Vec::new();
        server.message(text, &mut wire).unwrap();
        wire
    }

    #[test]
    fn a_message_says_what_it_is() {
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(settings(3));
        let text = br#"{"op":0,"s":7,"t":"READY","d":null}"#;
        assert_eq!(connection.message(&wire(&mut server, text), scratch).unwrap(), Some(&text[..]));
        let seen = connection.seen();
        assert_eq!((seen.op, seen.sequence, seen.event()), (Some(0), Some(7), Some("READY")));
        let text = br#"{"op":11,"s":null,"t":null}"#;
        assert_eq!(connection.message(&wire(&mut server, text), scratch).unwrap(), Some(&text[..]));
        let seen = connection.seen();
        assert_eq!((seen.op, seen.sequence, seen.event()), (Some(11), None, None));
    }

    #[test]
    fn a_payload_waits_until_the_next_message() {
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(settings(0));
        connection.message(&wire(&mut server, b"one"), scratch).unwrap();
        connection.wait(b"one").unwrap();
        assert_eq!(connection.fetch().as_deref(), Some(&b"one"[..]));
        connection.wait(b"one").unwrap();
        connection.message(&wire(&mut server, b"two"), scratch).unwrap();
        assert_eq!(connection.fetch(), None);
    }

    #[test]
    fn parts_that_no_message_within_the_limits_has_are_a_fault_that_stays() {
        let mut connection = Connection::new(settings(0));
        let most = connection.session().limits().max_compressed();
        connection.reserve_part(most, false).unwrap();
        connection.parts().resize(most, 0);
        assert!(connection.memory() > most);
        // What comes last waits for nothing.
        connection.reserve_part(1, true).unwrap();
        let fault = connection.reserve_part(1, false).unwrap_err();
        assert_eq!((fault.kind(), fault.error.offset), (Kind::Limit, most as u64));
        assert!(connection.memory() < most);
        assert_eq!(connection.reserve_part(0, true), Err(fault));
        connection.reset();
        connection.reserve_part(most, false).unwrap();
    }

    #[test]
    fn faults_stay_until_a_reset() {
        let scratch = &mut Scratch::new();
        let mut connection = Connection::new(settings(0));
        let fault = connection.no_memory();
        assert_eq!(fault.kind(), Kind::Limit);
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        assert_eq!(connection.message(&wire(&mut server, b"x"), scratch), Err(fault));
        connection.break_off();
        connection.reset();
        assert!(connection.fault().is_none() && !connection.is_broken());
        let mut server = Encoder::new(Transport::Zstd).unwrap();
        assert_eq!(connection.message(&wire(&mut server, b"x"), scratch).unwrap(), Some(&b"x"[..]));
        let fault = connection.message(&wire(&mut server, &[b'x'; 101]), scratch).unwrap_err();
        assert_eq!((fault.kind(), fault.message), (Kind::Limit, 1));
        assert_eq!(connection.fault(), Some(fault));
    }
}

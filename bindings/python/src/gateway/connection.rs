//! The state of a connection, including a message that was decoded but not delivered.

use std::borrow::Cow;

use linerate_gateway::{Envelope, Error, Kind, Scratch, Session, SessionError};

/// A session that keeps a decoded message which Python could not take, because memory ran out, the
/// payload is not UTF-8 or `out` is too small. A message of a stream is kept until a call repeats
/// its bytes, and a message that is compressed on its own until any message arrives.
pub(super) struct Connection {
    session: Session,
    last: Option<LastEnvelope>,
    undelivered: Option<Undelivered>,
    /// The error that `receive` returns until `reset`, after a message of a stream was lost because
    /// there was no memory to keep it.
    error: Option<SessionError>,
}

/// The envelope of the last decoded payload: its opcode, sequence number and event.
#[derive(Clone, Default)]
pub(super) struct LastEnvelope {
    pub(super) op: Option<u64>,
    pub(super) sequence: Option<u64>,
    pub(super) event: Option<String>,
}

/// A decoded message that was not delivered.
struct Undelivered {
    /// The last websocket message that was received. The next call passes the same bytes again to
    /// get the payload.
    frame: Box<[u8]>,
    payload: Vec<u8>,
}

/// The error of [`Connection::receive`].
pub(super) enum ReceiveError {
    /// The message cannot be decoded, or an earlier error has ended the stream.
    Session(SessionError),
    /// A message of a stream is undelivered, and the call does not repeat its bytes.
    OtherFrame,
}

impl Connection {
    pub(super) fn new(session: Session) -> Self {
        Connection { session, last: None, undelivered: None, error: None }
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn last(&self) -> Option<&LastEnvelope> {
        self.last.as_ref()
    }

    pub(super) fn error(&self) -> Option<SessionError> {
        self.session.error().or(self.error)
    }

    /// Number of whole messages, without an undelivered one. Messages that are compressed on their
    /// own count even if they were damaged.
    pub(super) fn messages(&self) -> u64 {
        self.session.messages() - u64::from(self.undelivered.is_some())
    }

    /// Number of compressed bytes received, including fragments of an incomplete message, without
    /// the last websocket message if its payload is undelivered.
    pub(super) fn consumed(&self) -> u64 {
        self.session.consumed() - self.undelivered.as_ref().map_or(0, |kept| kept.frame.len() as u64)
    }

    /// Bytes of memory held, including an undelivered message.
    pub(super) fn memory(&self) -> usize {
        let kept = self.undelivered.as_ref().map_or(0, |kept| kept.frame.len() + kept.payload.capacity());
        let event = self.last.as_ref().and_then(|last| last.event.as_ref()).map_or(0, String::capacity);
        size_of::<Self>() - size_of::<Session>() + self.session.memory() + kept + event
    }

    pub(super) fn reset(&mut self) {
        self.session.reset();
        (self.last, self.undelivered, self.error) = (None, None, None);
    }

    pub(super) fn resume_after(&mut self, sequence: u64) {
        self.session.resume_after(sequence);
    }

    /// Decodes `frame`, the content of a websocket message. Returns the payload, or `None` if the
    /// message is incomplete. If there is an undelivered message and `frame` repeats its bytes, its
    /// payload is returned, and it counts as delivered. In a stream no other `frame` is decoded
    /// then.
    pub(super) fn receive<'s>(
        &mut self,
        frame: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<Option<Cow<'s, [u8]>>, ReceiveError> {
        if let Some(error) = self.error {
            return Err(ReceiveError::Session(error));
        }
        if let Some(kept) = self.undelivered.take() {
            if *kept.frame == *frame {
                return Ok(Some(Cow::Owned(kept.payload)));
            }
            if self.session.transport().is_stream() {
                self.undelivered = Some(kept);
                return Err(ReceiveError::OtherFrame);
            }
        }
        let Some(message) = self.session.message(frame, scratch).map_err(ReceiveError::Session)? else {
            return Ok(None);
        };
        if let Some(envelope) = message.envelope {
            store(&mut self.last, envelope);
        }
        Ok(Some(Cow::Borrowed(message.payload)))
    }

    /// Keeps a payload that could not be delivered, which [`receive`](Self::receive) returned for
    /// `frame`. If there is no memory to keep it, the message is lost, and in a stream `receive`
    /// returns an error until `reset`.
    pub(super) fn keep(&mut self, frame: &[u8], payload: Cow<'_, [u8]>) {
        let payload = match payload {
            Cow::Owned(payload) => Ok(payload),
            Cow::Borrowed(payload) => copied(payload),
        };
        match payload.and_then(|payload| Ok(Undelivered { frame: copied(frame)?.into(), payload })) {
            Ok(kept) => self.undelivered = Some(kept),
            Err(error) if self.session.transport().is_stream() => {
                let at = self.session.consumed();
                self.error = Some(SessionError {
                    error: error.shifted(at),
                    message_index: self.session.messages() - 1,
                });
            }
            Err(_) => {}
        }
    }
}

/// Stores an envelope, and reuses the memory of the previous one.
fn store(last: &mut Option<LastEnvelope>, envelope: Envelope<'_>) {
    let last = last.get_or_insert_default();
    (last.op, last.sequence) = (envelope.op, envelope.sequence);
    match (&mut last.event, envelope.event) {
        (Some(old), Some(new)) => {
            old.clear();
            old.push_str(new);
        }
        (old, new) => *old = new.map(str::to_owned),
    }
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut copy = Vec::new();
    let no_memory = Error::new(Kind::Limit, 0, "out of memory for a message");
    copy.try_reserve_exact(bytes.len()).map_err(|_| no_memory)?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

//! One connection, and the message of it that could not be handed over yet.

use std::borrow::Cow;

use linerate_gateway::{Envelope, Error, Fault, Kind, Scratch, Session};

/// A session that loses no message: one that finds no room with the caller is kept until it does.
pub(super) struct Connection {
    session: Session,
    last: Option<Last>,
    kept: Option<Kept>,
    /// What happened if even that was not possible.
    lost: Option<Fault>,
}

/// What the last payload said of itself.
#[derive(Clone, Default)]
pub(super) struct Last {
    pub(super) op: Option<u64>,
    pub(super) sequence: Option<u64>,
    pub(super) event: Option<String>,
}

/// A message that is decoded and was not handed over.
struct Kept {
    frame: Box<[u8]>,
    payload: Vec<u8>,
}

/// Why there is no payload.
pub(super) enum Refusal {
    Fault(Fault),
    /// The bytes are not those of the message that is kept.
    NotTheSame,
}

impl Connection {
    pub(super) fn new(session: Session) -> Self {
        Connection { session, last: None, kept: None, lost: None }
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn last(&self) -> Option<&Last> {
        self.last.as_ref()
    }

    pub(super) fn fault(&self) -> Option<Fault> {
        self.session.fault().or(self.lost)
    }

    /// Messages that were handed over.
    pub(super) fn messages(&self) -> u64 {
        self.session.messages() - u64::from(self.kept.is_some())
    }

    /// Compressed bytes, without those of a message that is to be asked for again.
    pub(super) fn consumed(&self) -> u64 {
        self.session.consumed() - self.kept.as_ref().map_or(0, |kept| kept.frame.len() as u64)
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let kept = self.kept.as_ref().map_or(0, |kept| kept.frame.len() + kept.payload.capacity());
        let event = self.last.as_ref().and_then(|last| last.event.as_ref()).map_or(0, String::capacity);
        size_of::<Self>() - size_of::<Session>() + self.session.memory() + kept + event
    }

    pub(super) fn reset(&mut self) {
        self.session.reset();
        (self.last, self.kept, self.lost) = (None, None, None);
    }

    pub(super) fn resume_after(&mut self, sequence: u64) {
        self.session.resume_after(sequence);
    }

    /// The payload, if the message is whole: of `frame`, or the one that is kept if it is that of `frame`.
    pub(super) fn receive<'s>(
        &mut self,
        frame: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<Option<Cow<'s, [u8]>>, Refusal> {
        if let Some(fault) = self.lost {
            return Err(Refusal::Fault(fault));
        }
        if let Some(kept) = self.kept.take() {
            if *kept.frame == *frame {
                return Ok(Some(Cow::Owned(kept.payload)));
            }
            self.kept = Some(kept);
            return Err(Refusal::NotTheSame);
        }
        let Some(message) = self.session.message(frame, scratch).map_err(Refusal::Fault)? else {
            return Ok(None);
        };
        if let Some(envelope) = message.envelope {
            note(&mut self.last, envelope);
        }
        Ok(Some(Cow::Borrowed(message.payload)))
    }

    /// Keeps the payload that [`receive`](Self::receive) returned for `frame`.
    pub(super) fn keep(&mut self, frame: &[u8], payload: Cow<'_, [u8]>) {
        let payload = match payload {
            Cow::Owned(payload) => Ok(payload),
            Cow::Borrowed(payload) => copied(payload),
        };
        match payload {
            Ok(payload) => self.kept = Some(Kept { frame: frame.into(), payload }),
            Err(error) => {
                let at = self.session.consumed();
                self.lost = Some(Fault { error: error.shifted(at), message: self.session.messages() - 1 });
            }
        }
    }
}

/// Notes an envelope, in the memory of the one before.
fn note(last: &mut Option<Last>, envelope: Envelope<'_>) {
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
    let no_memory = Error::new(Kind::Limit, 0, "there is no memory for a message");
    copy.try_reserve_exact(bytes.len()).map_err(|_| no_memory)?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

//! [`Link`]: one connection without its socket. It takes the bytes of the peer and returns the
//! bytes for the library, and the other way round.

use linerate_core::{Error, Kind, Result};

use crate::frame::{Header, fresh_mask};
use crate::handshake::{Head, MAX_HEAD};
use crate::inbound::{Inbound, Refusal, with_buffer};
use crate::negotiation::{Agreement, agree, answer, offer};
use crate::options::{Options, Role};
use crate::outbound::Outbound;
use crate::pending::Pending;
use crate::prepared::Prepared;

/// Opcode of a close frame.
const CLOSE: u8 = 8;

/// Phase of the connection.
enum Phase {
    /// The client's request passes.
    Request(Head),
    /// The server's response passes. On the server's side the string has the client's offers.
    Response(Head, String),
    /// Messages are compressed.
    Frames(Box<(Inbound, Outbound)>),
    /// Compression was not agreed on, so frames pass unchanged. Prepared messages go between them.
    Plain(Box<Outbound>),
    /// Everything passes unchanged, since the response refuses the connection, the library
    /// negotiates an extension of its own, a head is larger than [`MAX_HEAD`], or the peer has sent
    /// more than that before the library has written its head.
    Foreign,
}

/// Bytes that the library may read, some of which it has read.
#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    given: usize,
}

impl Queue {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.given..]
    }

    /// Removes `n` bytes. An empty queue holds no memory, since connections are idle most of the
    /// time.
    fn give(&mut self, n: usize) {
        self.given += n;
        if self.given == self.bytes.len() {
            *self = Queue::default();
        }
    }
}

/// One connection without its socket.
pub(crate) struct Link {
    role: Role,
    options: Box<Options>,
    state: Phase,
    agreement: Option<Agreement>,
    /// Bytes that the peer sent and that were not yet decoded.
    unread: Vec<u8>,
    /// Bytes for the library.
    ready: Queue,
    /// Bytes for the peer.
    pending: Pending,
    failed: Option<Error>,
}

impl Link {
    /// Creates a link that begins with the handshake.
    pub(crate) fn new(role: Role, options: Options) -> Self {
        Link {
            role,
            options: Box::new(options),
            state: Phase::Request(Head::default()),
            agreement: None,
            unread: Vec::new(),
            ready: Queue::default(),
            pending: Pending::default(),
            failed: None,
        }
    }

    /// Creates a link that begins with frames, after the handshake.
    pub(crate) fn agreed(role: Role, options: Options, agreement: Option<Agreement>) -> Result<Self> {
        let mut link = Link::new(role, options);
        link.begin(agreement)?;
        Ok(link)
    }

    fn begin(&mut self, agreement: Option<Agreement>) -> Result<()> {
        self.agreement = agreement;
        let direction = agreement.map(|agreement| agreement.encoder(self.role));
        let outbound = Outbound::new(self.role, direction, &self.options)?;
        self.state = match agreement {
            Some(agreement) => Phase::Frames(Box::new((
                Inbound::new(agreement.decoder(self.role), &self.options)?,
                outbound,
            ))),
            None => Phase::Plain(Box::new(outbound)),
        };
        Ok(())
    }

    pub(crate) fn agreement(&self) -> Option<Agreement> {
        self.agreement
    }

    /// Takes all of `wire`, which the peer sent; its bytes may be changed. After an error nothing
    /// more is taken, and a close frame is pending if one can be sent ([`refuse`](Self::refuse));
    /// the error is returned once the library has read what was ready before it.
    pub(crate) fn receive(&mut self, wire: &mut [u8]) -> Result<()> {
        let waits_for_library = wire.is_empty() && !self.ready().is_empty();
        if self.failed.is_none() && !waits_for_library {
            self.decode(wire);
        }
        self.failed.filter(|_| self.ready().is_empty()).map_or(Ok(()), Err)
    }

    fn decode(&mut self, wire: &mut [u8]) {
        let mut unread = std::mem::take(&mut self.unread);
        let wire = if unread.is_empty() {
            wire
        } else {
            unread.extend_from_slice(wire);
            &mut unread
        };
        match self.take(wire) {
            Ok(read) => self.unread = wire[read..].to_vec(),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    /// Decodes `wire` and returns how many bytes were read. The rest can be read once the library
    /// has taken what is ready, or has answered the handshake.
    fn take(&mut self, wire: &mut [u8]) -> std::result::Result<usize, Refusal> {
        let mut at = 0;
        while at < wire.len() || self.has_unfinished() {
            let read = match &mut self.state {
                Phase::Request(head) if self.role == Role::Server => {
                    let (read, done) = head.read(&wire[at..]);
                    if done && head.is_whole() {
                        self.ready.bytes.extend_from_slice(&head.without_extensions());
                        self.state = Phase::Response(Head::default(), head.extensions());
                    } else if done {
                        self.ready.bytes.extend(std::mem::take(head).into_bytes());
                        self.state = Phase::Foreign;
                    }
                    read
                }
                Phase::Response(head, _) if self.role == Role::Client => {
                    let (read, done) = head.read(&wire[at..]);
                    if done && head.is_whole() {
                        let accepted = head.switches_protocols();
                        let agreement =
                            accepted.then(|| agree(&self.options, &head.extensions())).transpose()?;
                        self.ready.bytes.extend_from_slice(&head.without_extensions());
                        if accepted {
                            self.begin(agreement.flatten())?;
                        } else {
                            self.state = Phase::Foreign;
                        }
                    } else if done {
                        self.ready.bytes.extend(std::mem::take(head).into_bytes());
                        self.state = Phase::Foreign;
                    }
                    read
                }
                // The peer sends much before the library has written its part of the handshake.
                // The bytes would be held for an agreement that the peer does not wait for.
                Phase::Request(head) | Phase::Response(head, _) if wire.len() - at > MAX_HEAD => {
                    self.pending.own().extend(std::mem::take(head).into_bytes());
                    self.state = Phase::Foreign;
                    0
                }
                Phase::Frames(frames) => {
                    let ready = &mut self.ready.bytes;
                    let read = with_buffer(|buffer| frames.0.read(buffer, &mut wire[at..], ready))?;
                    return Ok(at + read);
                }
                Phase::Plain(_) | Phase::Foreign => {
                    self.ready.bytes.extend_from_slice(&wire[at..]);
                    wire.len() - at
                }
                _ => break,
            };
            at += read;
        }
        Ok(at)
    }

    /// Whether input that was read may still have output, because there was no room for it.
    fn has_unfinished(&self) -> bool {
        matches!(&self.state, Phase::Frames(frames) if frames.0.is_inside_a_message())
    }

    /// Refuses all further data. Tells the peer why by a close frame, if messages are compressed
    /// and the library is not in the middle of writing a frame.
    fn refuse(&mut self, refusal: &Refusal) {
        self.failed = Some(refusal.error);
        let Phase::Frames(frames) = &self.state else { return };
        if !frames.1.is_between_frames() {
            return;
        }
        let mask = (self.role == Role::Client).then(fresh_mask);
        let header = Header { fin: true, rsv: 0, opcode: CLOSE, mask, len: 0 };
        header.write_frame(&refusal.code.to_be_bytes(), self.pending.own());
    }

    /// The bytes that the library may read.
    pub(crate) fn ready(&self) -> &[u8] {
        self.ready.rest()
    }

    /// Removes `n` bytes of [`ready`](Self::ready), which the library has read.
    pub(crate) fn consume(&mut self, n: usize) {
        self.ready.give(n);
    }

    /// Takes all of `bytes`, which the library has written.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut at = 0;
        while at < bytes.len() {
            at += match &mut self.state {
                Phase::Request(head) if self.role == Role::Client => {
                    let (read, done) = head.read(&bytes[at..]);
                    if done {
                        self.send_request();
                    }
                    read
                }
                Phase::Response(head, _) if self.role == Role::Server => {
                    let (read, done) = head.read(&bytes[at..]);
                    if done {
                        self.send_response()?;
                    }
                    read
                }
                Phase::Frames(frames) => {
                    let pending = &mut self.pending;
                    with_buffer(|buffer| frames.1.write(&mut buffer.scratch, &bytes[at..], pending))?;
                    bytes.len() - at
                }
                Phase::Plain(outbound) => {
                    let pending = &mut self.pending;
                    with_buffer(|buffer| outbound.write(&mut buffer.scratch, &bytes[at..], pending))?;
                    bytes.len() - at
                }
                _ => {
                    self.pending.own().extend_from_slice(&bytes[at..]);
                    bytes.len() - at
                }
            };
        }
        Ok(())
    }

    /// Takes a prepared message. It is sent once the message that the library is writing is whole.
    ///
    /// # Errors
    /// Returns the error that ended the connection, and [`Kind::BadArgument`] in another phase than
    /// [`Phase::Frames`] and [`Phase::Plain`].
    pub(crate) fn queue(&mut self, message: &Prepared) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let outbound = match &mut self.state {
            Phase::Frames(frames) => &mut frames.1,
            Phase::Plain(outbound) => outbound,
            _ => {
                return Err(Error::new(
                    Kind::BadArgument,
                    0,
                    "a prepared message cannot be sent without a finished handshake",
                ));
            }
        };
        with_buffer(|buffer| outbound.queue(&mut buffer.scratch, message, &mut self.pending));
        Ok(())
    }

    /// Passes the request on, and offers compression unless the library offers an extension of its
    /// own or the request is too large.
    fn send_request(&mut self) {
        let Phase::Request(head) = std::mem::replace(&mut self.state, Phase::Foreign) else { return };
        if head.is_whole() && head.extensions().is_empty() {
            self.state = Phase::Response(Head::default(), String::new());
            self.pending.own().extend_from_slice(&head.with_extensions(&offer(&self.options)));
        } else {
            self.pending.own().extend_from_slice(&head.into_bytes());
        }
    }

    /// Passes the response on, and accepts an offer of the client unless the library has refused
    /// the connection or accepted an extension itself, or the response is too large.
    fn send_response(&mut self) -> Result<()> {
        let Phase::Response(head, offers) = std::mem::replace(&mut self.state, Phase::Foreign) else {
            return Ok(());
        };
        let may = head.is_whole() && head.switches_protocols() && head.extensions().is_empty();
        match answer(&self.options, &offers).filter(|_| may) {
            Some((agreement, header)) => {
                self.pending.own().extend_from_slice(&head.with_extensions(&header));
                self.begin(Some(agreement))
            }
            None => {
                self.pending.own().extend_from_slice(&head.into_bytes());
                if may { self.begin(None) } else { Ok(()) }
            }
        }
    }

    /// The bytes to send to the peer next.
    pub(crate) fn pending(&self) -> &[u8] {
        self.pending.next()
    }

    /// Removes `n` bytes of [`pending`](Self::pending), which were sent.
    pub(crate) fn sent(&mut self, n: usize) {
        self.pending.sent(n);
    }

    /// Number of bytes held between calls.
    pub(crate) fn memory(&self) -> usize {
        let frames = match &self.state {
            Phase::Frames(frames) => frames.0.memory() + frames.1.memory(),
            Phase::Plain(outbound) => outbound.memory(),
            _ => 0,
        };
        let queues = self.unread.capacity() + self.ready.bytes.capacity() + self.pending.memory();
        size_of::<Self>() + size_of::<Options>() + frames + queues
    }
}

//! A client of gateways: the websocket (RFC 6455) and the heartbeats that the gateway asks for.
//!
//! It leaves decompression to a [`Session`](crate::Session) and encryption to the caller. It works
//! over any stream, such as a `TcpStream` or a TLS connection.
//!
//! ```no_run
//! use linerate_gateway::client::{Address, Client, Event};
//! use linerate_gateway::{Limits, Scratch, Session};
//!
//! let address = Address::parse("ws://127.0.0.1:9000/?compress=zstd-stream", None)?;
//! let mut client = Client::handshake(&address, address.connect()?)?;
//! let (mut session, mut scratch) = (Session::new(address.transport(), Limits::new()), Scratch::new());
//! loop {
//!     match client.next_event()? {
//!         Event::Frame(frame) => {
//!             let message = session.message(&frame, &mut scratch).map_err(|e| e.error)?;
//!             if message.is_some_and(|message| client.observe(message.payload)) {
//!                 client.send(r#"{"op":2,"d":{"token":"..."}}"#)?; // IDENTIFY, after HELLO
//!             }
//!         }
//!         Event::Idle => {}
//!         Event::Closed(_) => break,
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use serde_json::Value;
use tungstenite::{Error, Message, WebSocket};

pub use self::address::Address;
use crate::{Encoding, Envelope};

const HELLO: u64 = 10;
const HEARTBEAT: u64 = 1;

/// An event on a connection to a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A binary websocket message: compressed bytes, at most one payload.
    Frame(Vec<u8>),
    /// Nothing arrived within the read timeout of the stream, a signal interrupted the read, or a
    /// text or control message arrived, which the client ignores or has answered.
    Idle,
    /// The gateway closed the connection, with this code if it gave one.
    Closed(Option<u16>),
}

/// A connection to a gateway.
pub struct Client<S> {
    socket: WebSocket<S>,
    /// Interval between heartbeats, and when the next one is due. `None` before HELLO.
    heartbeat: Option<(Duration, Instant)>,
    /// The sequence number of the last event, which heartbeats repeat.
    sequence: Option<u64>,
}

impl<S: Read + Write> Client<S> {
    /// Opens a websocket over a connected stream.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Other`] with a text if the stream fails or reaches its timeout, or if
    /// the answer does not accept the websocket.
    pub fn handshake(address: &Address, stream: S) -> io::Result<Client<S>> {
        match tungstenite::client(address.url(), stream) {
            Ok((socket, _)) => Ok(Client { socket, heartbeat: None, sequence: None }),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    /// The stream, for its timeouts. Its read timeout is the longest time for which
    /// [`next_event`](Self::next_event) waits for the next bytes, and should be well below the
    /// interval of heartbeats.
    pub fn stream(&self) -> &S {
        self.socket.get_ref()
    }

    /// Sends a heartbeat if one is due, and waits for the next event.
    ///
    /// # Errors
    /// Returns the errors of the stream, and an error if the peer violates the websocket protocol.
    /// The connection cannot be used after an error.
    pub fn next_event(&mut self) -> io::Result<Event> {
        self.send_due_heartbeat()?;
        match self.socket.read() {
            Ok(Message::Binary(frame)) => Ok(Event::Frame(frame.into())),
            Ok(Message::Close(reason)) => {
                // Sends the answer to the close frame, if the gateway still listens.
                let _ = self.socket.flush();
                Ok(Event::Closed(reason.map(|reason| reason.code.into())))
            }
            Ok(_) => Ok(Event::Idle),
            Err(Error::Io(error)) if is_timeout(&error) => Ok(Event::Idle),
            Err(Error::ConnectionClosed | Error::AlreadyClosed) => Ok(Event::Closed(None)),
            Err(error) => Err(io_error(error)),
        }
    }

    /// Reads from a JSON payload the values that heartbeats need: the interval in HELLO, and
    /// sequence numbers. Returns whether the payload is HELLO.
    pub fn observe(&mut self, payload: &[u8]) -> bool {
        let Ok(envelope) = Envelope::read(payload, Encoding::Json) else { return false };
        self.sequence = envelope.sequence.or(self.sequence);
        if envelope.op != Some(HELLO) {
            return false;
        }
        let hello: Value = serde_json::from_slice(payload).unwrap_or_default();
        if let Some(milliseconds) = hello["d"]["heartbeat_interval"].as_u64().filter(|&ms| ms > 0) {
            let interval = Duration::from_millis(milliseconds);
            self.heartbeat = Some((interval, Instant::now() + interval));
        }
        true
    }

    /// Sends a payload as a text message.
    ///
    /// # Errors
    /// Returns the errors of [`next_event`](Self::next_event).
    pub fn send(&mut self, payload: &str) -> io::Result<()> {
        self.socket.send(Message::text(payload)).map_err(io_error)
    }

    /// Closes the connection from this side, without waiting for an answer.
    pub fn close(mut self) {
        let _ = self.socket.close(None);
        let _ = self.socket.flush();
    }

    fn send_due_heartbeat(&mut self) -> io::Result<()> {
        let Some((interval, due)) = self.heartbeat.filter(|(_, due)| *due <= Instant::now()) else {
            return Ok(());
        };
        self.heartbeat = Some((interval, due + interval));
        let sequence = self.sequence.map_or_else(|| "null".into(), |s| s.to_string());
        self.send(&format!(r#"{{"op":{HEARTBEAT},"d":{sequence}}}"#))
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn io_error(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

//! [`DeflateStream`]: between a websocket library and its socket.

mod blocking;
#[cfg(feature = "tokio")]
mod by_tokio;

use linerate_core::Result;

use crate::link::Link;
use crate::negotiation::Agreement;
use crate::options::{Options, Role};
use crate::prepared::Prepared;

/// A socket whose websocket messages are compressed, for a library that knows nothing of it: wrap the socket before the
/// handshake, and give it to the library.
///
/// The handshake that passes gets the header `Sec-WebSocket-Extensions`; where both sides agree, frames of messages are
/// rewritten on their way. The library sees an ordinary connection. Its limit on the size of messages is one of decoded
/// bytes; [`Options`] has limits of its own.
///
/// What a peer sends against the agreement is an error of [`std::io::ErrorKind::InvalidData`], which carries a
/// [`linerate_core::Error`]; the peer gets a close frame with code 1002, 1007 or 1009.
pub struct DeflateStream<S> {
    stream: S,
    link: Link,
}

impl<S> DeflateStream<S> {
    /// The client's side of a connection whose handshake is to come.
    pub fn client(stream: S, options: Options) -> Self {
        DeflateStream { stream, link: Link::new(Role::Client, options) }
    }

    /// The server's side of a connection whose handshake is to come.
    pub fn server(stream: S, options: Options) -> Self {
        DeflateStream { stream, link: Link::new(Role::Server, options) }
    }

    /// A connection after its handshake, whose header [`answer`](crate::answer) or [`agree`](crate::agree) has understood;
    /// without an agreement everything passes as it is.
    ///
    /// # Errors
    /// [`Kind::BadArgument`](linerate_core::Kind::BadArgument) for window bits other than 8 to 15.
    pub fn agreed(stream: S, role: Role, options: Options, agreement: Option<Agreement>) -> Result<Self> {
        Ok(DeflateStream { stream, link: Link::agreed(role, options, agreement)? })
    }

    /// Sends a message that was prepared for many connections; it leaves when the library flushes. The peer gets it before what the
    /// library has not yet written to this stream, and after the message of which it has written a part.
    ///
    /// # Errors
    /// [`Kind::BadArgument`](linerate_core::Kind::BadArgument) before the handshake's end; the peer's error if it has broken the
    /// agreement.
    pub fn queue(&mut self, message: &Prepared) -> Result<()> {
        self.link.queue(message)
    }

    /// What both sides have agreed on; None before the handshake's end, and where messages are not compressed.
    pub fn agreement(&self) -> Option<Agreement> {
        self.link.agreement()
    }

    /// The socket. What is read from it or written to it directly is lost to this stream.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// The socket, as [`get_ref`](Self::get_ref).
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// Bytes that this stream holds for both directions, without the socket. Working memory belongs to the thread, not to the
    /// connection.
    pub fn memory(&self) -> usize {
        self.link.memory()
    }
}

/// An error of a peer's data, or of the library's.
fn invalid(error: linerate_core::Error) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, error)
}

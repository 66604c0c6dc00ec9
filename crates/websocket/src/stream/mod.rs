//! [`DeflateStream`]: a wrapper of the socket that a websocket library uses.

mod blocking;
#[cfg(feature = "tokio")]
mod by_tokio;

use linerate_core::Result;

use crate::link::Link;
use crate::negotiation::Agreement;
use crate::options::{Options, Role};
use crate::prepared::Prepared;

/// A socket whose websocket messages are compressed, for a library that does not support
/// compression. Wrap the socket before the handshake, and give the wrapper to the library.
///
/// The header `Sec-WebSocket-Extensions` is added to the handshake that passes. If both sides
/// agree, the frames of messages are rewritten as they pass. The library sees an ordinary
/// connection; its limit on the size of messages counts decoded bytes. [`Options`] has limits of
/// its own.
///
/// If the peer breaks the agreement or exceeds a limit, reading fails with
/// [`std::io::ErrorKind::InvalidData`], which carries a [`linerate_core::Error`], and the peer gets
/// a close frame with code 1002, 1007 or 1009. It gets none during the handshake, while the library
/// is in the middle of writing a frame, or if the socket cannot take it at once.
pub struct DeflateStream<S> {
    stream: S,
    link: Link,
}

impl<S> DeflateStream<S> {
    /// Creates the client's side of a connection, before its handshake.
    pub fn client(stream: S, options: Options) -> Self {
        DeflateStream { stream, link: Link::new(Role::Client, options) }
    }

    /// Creates the server's side of a connection, before its handshake.
    pub fn server(stream: S, options: Options) -> Self {
        DeflateStream { stream, link: Link::new(Role::Server, options) }
    }

    /// Creates one side of a connection after its handshake. [`answer`](crate::answer) or
    /// [`agree`](crate::agree) returns the agreement; without one frames pass unchanged.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`](linerate_core::Kind::BadArgument) for an agreement on window
    /// bits other than 8 to 15.
    pub fn agreed(stream: S, role: Role, options: Options, agreement: Option<Agreement>) -> Result<Self> {
        Ok(DeflateStream { stream, link: Link::agreed(role, options, agreement)? })
    }

    /// Queues a message that was prepared for many connections; it is sent when the library writes
    /// or flushes. The peer gets it after a message that the library has partly written to this
    /// stream, and before anything that the library has not yet written.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`](linerate_core::Kind::BadArgument) before the end of the
    /// handshake, if it failed, or if the library negotiated an extension itself; and the error
    /// that ended the connection if the peer has broken the agreement.
    pub fn queue(&mut self, message: &Prepared) -> Result<()> {
        self.link.queue(message)
    }

    /// What both sides have agreed on. `None` before the end of the handshake, and if this stream
    /// does not compress messages.
    pub fn agreement(&self) -> Option<Agreement> {
        self.link.agreement()
    }

    /// The socket. Bytes that are read from it directly are missing in this stream, and bytes
    /// written to it directly are not compressed.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// The socket, mutably; see [`get_ref`](Self::get_ref).
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// Number of bytes that this stream holds for both directions, without the socket. Working
    /// memory belongs to the thread, not to the connection.
    pub fn memory(&self) -> usize {
        self.link.memory()
    }
}

/// Converts an error in data from the peer, or from the library that writes to the stream, to one
/// of kind `InvalidData`.
fn invalid(error: linerate_core::Error) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, error)
}

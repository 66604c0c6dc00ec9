//! permessage-deflate (RFC 7692) for websocket libraries that lack it, in little memory per
//! connection.
//!
//! [`DeflateStream`] wraps the socket that a library uses, and compresses the messages that pass.
//! It serves tungstenite and, with the feature `tokio`, tokio-tungstenite. `WebSocketUpgrade`, with
//! the feature `axum`, is the extractor for axum. For libraries with an interface for extensions
//! there are [`Encoder`] and [`Decoder`], which work on payloads, and [`offer`], [`answer`] and
//! [`agree`], which negotiate by the handshake's header.
//!
//! ```
//! use linerate_websocket::{DeflateStream, Options};
//! use std::net::{TcpListener, TcpStream};
//!
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let socket = TcpStream::connect(listener.local_addr()?)?;
//! let server = std::thread::spawn(move || {
//!     let socket = DeflateStream::server(listener.accept()?.0, Options::window_bits(11));
//!     let mut socket = tungstenite::accept(socket)?;
//!     socket.send("again and again and again and again".into())?;
//!     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
//! });
//! let socket = DeflateStream::client(socket, Options::default());
//! let (mut socket, _) = tungstenite::client("ws://localhost/", socket)?;
//! assert_eq!(socket.get_ref().agreement().unwrap().server.window_bits, 11);
//! assert_eq!(socket.read()?.into_text()?, "again and again and again and again");
//! # server.join().unwrap().unwrap();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To send one message on many connections, make it [`Prepared`]: it is compressed only once.
//!
//! # Memory
//!
//! Between messages a connection holds two windows, the index of its encoder, and about 1,000
//! bytes: at levels below 4, 5.1 KiB if each window has 2^10 bytes, 73 KiB if it has 2^15. With
//! zlib the state of a connection is about 300 KB. Working memory, 0.7 MB, belongs to the threads.
//! These bounds hold whatever the peer can do: a peer that cannot limit its window is asked not to
//! keep it from one message to the next, so that nothing is held for it between messages.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `tokio` | `AsyncRead` and `AsyncWrite` for [`DeflateStream`] |
//! | `axum` | `WebSocketUpgrade` |
//! | `soketto` | `Extension` |
//!
//! # Modules
//!
//! Each row imports only from rows below it.
//!
//! | module | content |
//! |---|---|
//! | `upgrade` | feature `axum`: the extractor |
//! | `extension` | feature `soketto`: soketto's interface for extensions |
//! | `stream/` | [`DeflateStream`] with `Read` and `Write`, and with tokio's traits |
//! | `link` | a connection without its socket: the handshake, then frames |
//! | `inbound`, `outbound` | decodes the peer's frames; compresses those of the library |
//! | `pending` | the bytes to send to the peer |
//! | `handshake` | HTTP heads, with a header added or removed |
//! | `negotiation` | offers and answers |
//! | `codec` | [`Encoder`] and [`Decoder`] of payloads |
//! | `prepared` | [`Prepared`]: a message for many connections |
//! | `frame` | frame headers and masks (RFC 6455) |
//! | `options` | [`Options`], [`Direction`], [`Role`] |

mod codec;
#[cfg(feature = "soketto")]
mod extension;
mod frame;
mod handshake;
mod inbound;
mod link;
mod negotiation;
mod options;
mod outbound;
mod pending;
mod prepared;
mod stream;
#[cfg(feature = "axum")]
mod upgrade;

pub use codec::{Decoder, Encoder, Scratch, part_bound};
#[cfg(feature = "soketto")]
pub use extension::Extension;
pub use linerate_core::{Error, Kind, Result};
pub use linerate_deflate::Level;
pub use negotiation::{Agreement, agree, answer, offer};
pub use options::{Direction, Options, Role};
pub use prepared::Prepared;
pub use stream::DeflateStream;
/// The version of tungstenite that the messages of a [`Socket`] come from.
#[cfg(feature = "axum")]
pub use tokio_tungstenite::tungstenite;
#[cfg(feature = "axum")]
pub use upgrade::{Socket, WebSocketUpgrade};

//! permessage-deflate (RFC 7692) for websocket libraries that have none, in little memory per connection.
//!
//! [`DeflateStream`] stands between a library and its socket, and compresses what passes: for tungstenite, and with feature
//! `tokio` for tokio-tungstenite. `WebSocketUpgrade`, feature `axum`, is the extractor for axum. Below them are
//! [`Encoder`] and [`Decoder`] of payloads, and [`offer`], [`answer`] and [`agree`] for the handshake's header, for libraries that
//! have a place for extensions.
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
//! A message for many connections is a [`Prepared`] one: it is compressed once.
//!
//! # Memory
//!
//! A connection holds two windows, an index of its own, and some 1,000 bytes: with 2^10 bytes for each window 5.1 KiB, with
//! 2^15 73 KiB. The state of zlib is some 300 KB. Working memory, 0.7 MB, belongs to the threads. Negotiation keeps a
//! promise about memory whatever the peer can do: who cannot limit its window is asked not to use it from one message to
//! the next.
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
//! | module | contents |
//! |---|---|
//! | `upgrade` | feature `axum`: the extractor |
//! | `extension` | feature `soketto`: its interface for extensions |
//! | `stream/` | [`DeflateStream`]: `Read` and `Write`, tokio's traits |
//! | `link` | a connection without its socket: handshake, then frames |
//! | `inbound`, `outbound` | frames of the peer, decoded; frames of the library, compressed |
//! | `pending` | bytes for the peer |
//! | `handshake` | HTTP heads, with a header added or taken out |
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
/// The tungstenite whose messages a [`Socket`] has.
#[cfg(feature = "axum")]
pub use tokio_tungstenite::tungstenite;
#[cfg(feature = "axum")]
pub use upgrade::{Socket, WebSocketUpgrade};

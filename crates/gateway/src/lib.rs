//! Message streams of chat gateways: one zlib or zstd stream for as long as the connection lives,
//! flushed after each message.
//!
//! * [`Session`]: one per connection. Takes what one websocket message brought and gives back exactly
//!   one payload, or says that the rest is still to come.
//! * [`Scratch`]: one per thread, shared by all its sessions: buffers that are of no use between two
//!   messages. So a session holds little more than the history that its format demands.
//! * [`ScratchPool`]: for programs with a thread per connection.
//! * [`Limits`]: the largest payload, the largest window.
//! * [`Checks`]: what tells that a message was lost, since neither format does.
//! * [`Envelope`]: what a payload is, also without reading the rest of it.
//! * [`Encoder`]: the other end, for tests, recordings and gateways.
//! * [`Recorder`], [`Recording`], [`Replay`], [`Statistics`], [`transcode`]: connections kept in files,
//!   decoded again, counted, and compressed the other way. [`Messages`]: files of messages alone.
//! * `fake`, behind a feature of that name: a gateway on the loopback interface, for tests of clients.
//!
//! ```
//! use linerate_gateway::{Encoder, Limits, Scratch, Session, Transport};
//!
//! let mut server = Encoder::new(Transport::Zstd)?;
//! let mut scratch = Scratch::new();
//! let mut session = Session::new(Transport::Zstd, Limits::new());
//! for sent in [&br#"{"op":10,"d":{}}"#[..], br#"{"op":11,"d":null}"#] {
//!     let mut wire = Vec::new();
//!     server.message(sent, &mut wire)?;
//!     let message = session.message(&wire, &mut scratch)?.expect("a whole message");
//!     assert_eq!(message.payload, sent);
//! }
//! # Ok::<(), linerate_gateway::Fault>(())
//! ```

mod checks;
mod encoder;
mod envelope;
mod etf;
#[cfg(feature = "fake")]
pub mod fake;
mod fault;
mod inflate;
mod json;
mod kernel;
mod limits;
mod message;
mod messages;
mod nesting;
mod payload;
mod pool;
mod recent;
mod record;
mod replay;
mod scratch;
mod session;
mod transport;
mod zlib;
mod zstd;

pub use checks::{Checks, Encoding};
pub use encoder::Encoder;
pub use envelope::Envelope;
pub use fault::{Fault, Result};
pub use limits::Limits;
pub use linerate_core::{Error, Kind};
pub use message::Message;
pub use messages::{Messages, write_message};
pub use pool::{Loan, ScratchPool};
pub use recent::Recent;
pub use record::{Entry, Recorder, Recording};
pub use replay::{Replay, Statistics, Tally, transcode};
pub use scratch::Scratch;
pub use session::Session;
pub use transport::Transport;

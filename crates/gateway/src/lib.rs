//! Message streams of chat gateways: one zlib or zstd stream for as long as the connection lives,
//! flushed after each message; and of feeds, whose messages are compressed each on its own.
//!
//! * [`Session`]: one per connection. Takes the content of each websocket message and returns exactly one
//!   payload, or none if the message is not complete.
//! * [`Scratch`]: one per thread, shared by all its sessions: buffers that are needed only while a message is
//!   decoded. A session itself holds little more than the history that its format requires.
//! * [`ScratchPool`]: for programs with a thread per connection. [`release_memory`]: after many connections were closed.
//! * [`Dictionaries`]: of zstd frames, digested once for all sessions.
//! * [`Limits`]: the largest payload, the largest window.
//! * [`Checks`]: detection of lost messages, which neither format has.
//! * [`Envelope`]: opcode, sequence number and event of a payload, also without reading the rest of it.
//! * [`Encoder`]: the gateway's side, for tests, recordings and gateways.
//! * [`Recorder`], [`Recording`], [`Replay`], [`Statistics`], [`transcode`]: connections kept in files,
//!   decoded again, counted, and compressed for the other transport. [`Messages`]: files of messages alone.
//!   [`FileKind`]: which of these a file is.
//! * [`stats`]: what each message cost, recorded without what it said.
//! * `client`, behind a feature of that name: the websocket of a connection, and its heartbeats.
//!
//! The crate `linerate-gateway-sim` is a gateway for tests of clients, and has synthetic traffic.
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
//! # Ok::<(), linerate_gateway::SessionError>(())
//! ```
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `session` | one connection: counters, limits, the error that persists until a reset |
//! | `zstd`, `zlib` | where a message ends in each stream |
//! | `independent`, `dictionaries` | messages compressed each on its own; dictionaries of zstd frames by id |
//! | `scratch`, `pool`, `payload` | working memory of a thread; a pool of it; the buffer of a message |
//! | `checks`, `envelope`, `parse`, `json`, `etf` | detection of lost messages; opcode, sequence number and event of a payload |
//! | `nesting`, `kernel/nesting` | matching brackets of JSON, 64 bytes at a time |
//! | `recent`, `record`, `messages`, `replay` | compressed messages kept in memory and in files, and decoded again |
//! | `file_kind` | kinds of such files by their first bytes |
//! | `encoder` | the gateway's side, through zlib-rs and libzstd |
//! | `client/` | feature `client`: the websocket and its heartbeats; `address`, what is connected to |
//! | `stats/` | records of what messages cost: `recorder` and its `connection`s, `sample`s in a `ring` to the collecting thread, `totals`; `log`, `log_files`, `record`, `origin` on disk; `prometheus`, `metrics_facade`; `clock` |
//! | `sys/malloc` | freed memory, returned to the system |
//! | `limits`, `message`, `transport`, `error` | small types of the interface |

mod checks;
#[cfg(feature = "client")]
pub mod client;
mod dictionaries;
mod encoder;
mod envelope;
mod error;
mod etf;
mod file_kind;
mod independent;
mod json;
mod kernel;
mod limits;
mod message;
mod messages;
mod nesting;
mod parse;
mod payload;
mod pool;
mod recent;
mod record;
mod replay;
mod scratch;
mod session;
pub mod stats;
mod sys;
mod transport;
mod zlib;
mod zstd;

pub use checks::{Checks, Encoding};
pub use dictionaries::Dictionaries;
pub use encoder::Encoder;
pub use envelope::Envelope;
pub use error::{Result, SessionError};
pub use file_kind::FileKind;
pub use limits::Limits;
pub use linerate_core::{Error, Kind};
pub use message::Message;
pub use messages::{Messages, write_message};
pub use pool::{PooledScratch, ScratchPool};
pub use recent::Recent;
pub use record::{Entry, Recorder, Recording};
pub use replay::{Counters, Replay, Statistics, transcode};
pub use scratch::Scratch;
pub use session::Session;
pub use sys::malloc::release_memory;
pub use transport::Transport;

//! Decompresses the messages of chat gateways and of feeds. A gateway sends one zlib or zstd stream
//! for as long as the connection lives, flushed after each message; a feed compresses each message
//! on its own.
//!
//! * [`Session`] decodes one connection. It takes the content of each websocket message and returns
//!   exactly one payload, or none if the message is not complete.
//! * [`Scratch`] holds the buffers that are needed only while a message is decoded. Each thread has
//!   one, shared by all its sessions, so a session itself holds little more than the history that
//!   its format requires.
//! * [`ScratchPool`] is for programs with a thread per connection; [`release_memory`] is worth
//!   calling after many connections were closed.
//! * [`Dictionaries`] are the dictionaries of zstd frames, digested once for all sessions.
//! * [`Limits`] bound the payload and the window.
//! * [`Checks`] detect lost messages, which neither stream format does.
//! * [`Envelope`] has the opcode, sequence number and event of a payload, and can be read without
//!   the rest of it.
//! * [`Encoder`] is the gateway's side, for tests, recordings and gateways.
//! * [`Recorder`] and [`Recording`] keep connections in files; [`Replay`] decodes them,
//!   [`Statistics`] counts them, and [`transcode`] compresses them for any transport. [`Messages`]
//!   reads files that have messages only. [`FileKind`] tells which of these a file is.
//! * [`stats`] records what each message cost, without its content.
//! * `client`, behind a feature of that name, is the websocket of a connection with its heartbeats.
//!   The feature `metrics` publishes statistics through the `metrics` facade.
//!
//! The crate `linerate-gateway-sim` has a gateway for tests of clients, and generates traffic.
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
//! | `session` | one connection: its counters, its limits, and the error that ended its stream |
//! | `zstd`, `zlib` | the decoders of the two streams, which find where a message ends |
//! | `independent`, `dictionaries` | messages that are compressed separately; dictionaries of zstd frames by id |
//! | `scratch`, `pool`, `payload` | a thread's working memory; a pool of them; the output buffer of a message |
//! | `checks`, `envelope`, `parse`, `json`, `etf` | detection of lost messages; opcode, sequence number and event of a payload |
//! | `nesting`, `kernel/nesting` | matching brackets of JSON, 64 bytes at a time |
//! | `recent`, `record`, `messages`, `replay` | compressed messages kept in memory and in files, and decoded again |
//! | `file_kind` | the kind of such a file, by its first bytes |
//! | `encoder` | the gateway's side, through zlib-rs and libzstd |
//! | `client/` | feature `client`: the websocket and its heartbeats; `address`: the gateway's URL |
//! | `stats/` | records of what messages cost: `recorder` and its `connection`s; `sample`s in a `ring` on their way to the collecting thread; `totals`; `log`, `log_files`, `record` and `origin` on disk; `prometheus` and `metrics_facade`; `clock` |
//! | `sys/malloc` | the return of freed memory to the system |
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

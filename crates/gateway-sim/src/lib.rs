//! A chat gateway on the loopback interface, for tests of clients without a live service.
//!
//! * [`Server`] serves websockets, and the few REST endpoints that clients request first. Sessions,
//!   sequence numbers, heartbeats and close codes follow version 10 of Discord's gateway protocol,
//!   in JSON or ETF.
//! * [`Script`] has the [`Events`] to send, the faults to inject ([`InjectedFault`]), and limits.
//! * [`Report`] counts what clients did.
//! * [`Client`] is a client with heartbeats and RESUME, to start from.
//! * [`traffic`] generates the messages of a connection, the same on every machine.
//!
//! ```
//! use linerate_gateway_sim::{InjectedFault, Script, Server};
//!
//! let mut script = Script::new();
//! script.inject_fault(5, InjectedFault::Close(4000));
//! let server = Server::start(script)?;
//! println!("connect to {}", server.url());
//! // ... the client under test ...
//! let report = server.stop();
//! assert_eq!(report.connections, 0);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `server`, `state` | the listener and its threads; the state that they share |
//! | `request`, `rest` | the HTTP request that begins each connection; REST endpoints |
//! | `connection`, `payloads` | the gateway protocol with one client; HELLO, READY and control messages |
//! | `socket` | TCP streams with deadlines, and websockets |
//! | `sessions` | sessions, which outlive connections: what was sent, and which faults were injected |
//! | `members` | guild members requests and their answers |
//! | `wire_format`, `term` | encoding, compression, damage and fragments of payloads; JSON to ETF and back |
//! | `script`, `events`, `sample`, `report` | what to send and which faults to inject; counts |
//! | `client` | a client with heartbeats and RESUME |
//! | `traffic/` | HELLO, READY, guilds and live events; `feeds`: short messages of other kinds; `random`, `source` and `text` generate what they consist of |

mod client;
mod connection;
mod events;
mod members;
mod payloads;
mod report;
mod request;
mod rest;
mod sample;
mod script;
mod server;
mod sessions;
mod socket;
mod state;
mod term;
pub mod traffic;
mod wire_format;

pub use client::{Client, ClientCounts};
pub use events::Events;
pub use report::Report;
pub use script::{ClientLimits, InjectedFault, Script};
pub use server::Server;

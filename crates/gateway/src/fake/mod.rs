//! A gateway on the loopback interface, for tests of clients without a live service.
//!
//! [`Server::start`] answers websockets and the few HTTP requests that clients make before them. What it
//! sends, and what goes wrong on the way, is a [`Script`]: events in their order, and [`Trouble`] at some
//! of them. Sessions, sequence numbers, heartbeats and close codes are those of the protocol, version 10,
//! in JSON or ETF.
//!
//! ```
//! use linerate_gateway::fake::{Script, Server, Trouble};
//!
//! let mut script = Script::new();
//! script.trouble(5, Trouble::Close(4000));
//! let server = Server::start(script)?;
//! println!("connect to {}", server.url());
//! // ... the client under test ...
//! let report = server.stop();
//! assert_eq!(report.connections, 0);
//! # Ok::<(), std::io::Error>(())
//! ```

mod connection;
mod events;
mod line;
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
mod term;

pub use events::Events;
pub use report::Report;
pub use script::{Bounds, Script, Trouble};
pub use server::Server;

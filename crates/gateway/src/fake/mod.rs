//! A gateway on the loopback interface, for tests of clients without a live service, and a [`Client`].
//!
//! [`Server::start`] serves websockets and the few REST endpoints that clients request before them. A
//! [`Script`] has the events to send and the faults to inject ([`InjectedFault`]). Sessions, sequence numbers,
//! heartbeats and close codes follow version 10 of Discord's gateway protocol, in JSON or ETF.
//!
//! ```
//! use linerate_gateway::fake::{Script, Server, InjectedFault};
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
mod wire_format;

pub use client::{Client, ClientCounts};
pub use events::Events;
pub use report::Report;
pub use script::{ClientLimits, InjectedFault, Script};
pub use server::Server;

//! Counts of a server.

use std::collections::BTreeMap;

/// Counts since the server was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Websockets opened.
    pub connections: u64,
    /// HTTP requests answered, without websocket handshakes.
    pub requests: u64,
    /// Connections not answered, or answered with an HTTP error.
    pub refused: u64,
    /// Sessions begun.
    pub identifies: u64,
    /// Sessions resumed.
    pub resumes: u64,
    /// RESUME of unknown sessions.
    pub invalid: u64,
    /// Heartbeats of clients.
    pub heartbeats: u64,
    /// Other messages of clients.
    pub commands: u64,
    /// Events sent, including repeated and dropped ones.
    pub events: u64,
    /// Payloads sent, events included.
    pub messages: u64,
    /// Bytes of these payloads.
    pub bytes: u64,
    /// Compressed bytes of these payloads, without websocket framing.
    pub compressed: u64,
    /// Injected faults.
    pub faults: u64,
    /// Close codes sent by clients; 1005 for a close frame without a code.
    pub closed_by_clients: BTreeMap<u16, u64>,
    /// Close codes sent by the server.
    pub closed_by_server: BTreeMap<u16, u64>,
}

//! Counts of a server.

use std::collections::BTreeMap;

/// Counts since the server was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Websockets opened.
    pub connections: u64,
    /// HTTP requests answered, not counting websocket handshakes.
    pub requests: u64,
    /// Connections that were not answered, or only with an HTTP error.
    pub refused: u64,
    /// Sessions begun by IDENTIFY.
    pub identifies: u64,
    /// Sessions resumed.
    pub resumes: u64,
    /// RESUME messages for unknown sessions.
    pub invalid: u64,
    /// Heartbeats received.
    pub heartbeats: u64,
    /// Commands received: messages other than heartbeats, IDENTIFY and RESUME.
    pub commands: u64,
    /// Events sent, counting repeated ones again, and including those whose bytes a fault dropped.
    pub events: u64,
    /// Payloads sent, including events.
    pub messages: u64,
    /// Bytes of the payloads sent.
    pub bytes: u64,
    /// Compressed bytes of the payloads sent, without websocket framing.
    pub compressed: u64,
    /// Faults injected.
    pub faults: u64,
    /// How often clients sent each close code; 1005 stands for a close frame without a code.
    pub closed_by_clients: BTreeMap<u16, u64>,
    /// How often the server sent each close code.
    pub closed_by_server: BTreeMap<u16, u64>,
}

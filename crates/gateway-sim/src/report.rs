//! Counts of a server.

use std::collections::BTreeMap;

/// Counts since the server was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Number of websockets opened.
    pub connections: u64,
    /// Number of HTTP requests answered, even if with 404 or 405, not counting websocket
    /// handshakes.
    pub requests: u64,
    /// Number of connections that were not answered, or whose request or handshake was refused.
    pub refused: u64,
    /// Number of sessions begun by IDENTIFY.
    pub identifies: u64,
    /// Number of times that a session was resumed.
    pub resumes: u64,
    /// Number of RESUME messages for unknown sessions.
    pub invalid: u64,
    /// Number of heartbeats received.
    pub heartbeats: u64,
    /// Number of commands received on connections with a session: messages with known opcodes other
    /// than those of heartbeats, IDENTIFY and RESUME.
    pub commands: u64,
    /// Number of events sent, including READY and RESUMED. It counts repeated events again, and
    /// includes events whose bytes a fault dropped.
    pub events: u64,
    /// Number of payloads sent: events and control messages.
    pub messages: u64,
    /// Number of bytes of the payloads sent.
    pub bytes: u64,
    /// Number of compressed bytes of the payloads sent, without websocket framing.
    pub compressed: u64,
    /// Number of faults injected, including those that follow the end of the connection at the same
    /// event.
    pub faults: u64,
    /// How often clients sent each close code; 1005 stands for a close frame without a code.
    pub closed_by_clients: BTreeMap<u16, u64>,
    /// How often the server sent each close code.
    pub closed_by_server: BTreeMap<u16, u64>,
}

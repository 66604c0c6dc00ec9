//! What happened.

use std::collections::BTreeMap;

/// What happened since a server was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Websockets opened.
    pub connections: u64,
    /// HTTP requests answered, other than those for websockets.
    pub requests: u64,
    /// Connections that were not answered, or not with what they asked for.
    pub refused: u64,
    /// Sessions begun.
    pub identifies: u64,
    /// Sessions resumed.
    pub resumes: u64,
    /// Sessions that were to be resumed and are not known.
    pub invalid: u64,
    /// Heartbeats of clients.
    pub heartbeats: u64,
    /// Other messages of clients.
    pub commands: u64,
    /// Events sent, those sent again included; lost ones too.
    pub events: u64,
    /// Payloads sent, events included.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What went over the wire for them, without the frames of the websocket.
    pub compressed: u64,
    /// Troubles made.
    pub troubles: u64,
    /// Close codes of clients; 1005 for none.
    pub closed_by_clients: BTreeMap<u16, u64>,
    /// Close codes of the server.
    pub closed_by_server: BTreeMap<u16, u64>,
}

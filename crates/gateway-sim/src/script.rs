//! Script of a fake server: events, injected faults, limits on clients.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::events::Events;

/// A fault injected at one event, which is given by its sequence number (READY is 1).
///
/// Each fault is injected once per shard, so events sent again after a RESUME arrive. A fault that was
/// already sent but not received when the client disconnected is injected again, so that a client meets
/// all of them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InjectedFault {
    /// After the event the server closes the websocket with this code. After 4000 a client may resume.
    Close(u16),
    /// After the event the TCP connection ends without a close frame.
    Disconnect,
    /// After the event the server asks for a new connection (opcode 7).
    Reconnect,
    /// After the event the server invalidates the session (opcode 9); it cannot be resumed.
    Invalidate,
    /// This bit of the event's compressed bytes is flipped; bits count from the lowest of the first byte,
    /// modulo the length. Bit 1 belongs to a block type in both formats, so decoders notice it; most other
    /// flips may go undetected.
    Flip(usize),
    /// The second half of the event's compressed bytes is missing.
    Truncate,
    /// The event's compressed bytes are not sent.
    Drop,
}

/// Script of a server: what it sends, and what goes wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Script {
    /// Port on 127.0.0.1. Default: 0, any free port.
    pub port: u16,
    /// Events after READY.
    pub events: Events,
    /// Injected faults by sequence number.
    pub faults: Vec<(u64, InjectedFault)>,
    /// Largest fragment in bytes: payloads are sent as several websocket messages (zlib) or as several
    /// frames of one message (otherwise). Default: not fragmented.
    pub fragment: Option<NonZeroUsize>,
    /// Time between two events. Default: zero.
    pub pause: Duration,
    /// Number of heartbeats of each shard, from the first one on, that are not acknowledged. Default: 0.
    pub unacknowledged: u64,
    /// Heartbeat interval in HELLO. Default: 41.25 s. A client that sends nothing for three intervals, and
    /// at least [`ClientLimits::timeout`], is closed with 4009.
    pub heartbeat_interval: Duration,
    /// Whether the server stops after its first clients: once there was a session and none is left that is
    /// connected or can be resumed.
    pub once: bool,
    /// Longest run time of the server. Default: one hour.
    pub max_duration: Duration,
    /// Limits on clients.
    pub limits: ClientLimits,
}

/// Limits on the resources that clients can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientLimits {
    /// Concurrent connections; more are not answered. Each takes a thread, a file descriptor and memory:
    /// some 40 KB as text, 290 KB with zstd, 360 KB with zlib. Default: 10,000.
    pub connections: usize,
    /// Sessions kept; the oldest one without a connection is evicted. Default: 20,000.
    pub sessions: usize,
    /// Bytes of a client's message; a larger one closes the connection with 1009. Default: 64 KiB.
    pub message: usize,
    /// Messages of a client per minute; more close the connection with 4008. Default: 1,200.
    pub messages_per_minute: u32,
    /// Time for a request, for IDENTIFY, for sending a message, and for a closing handshake. Default: 10 s.
    pub timeout: Duration,
    /// How long a session without a connection can be resumed. Default: 10 s.
    pub resume_timeout: Duration,
}

impl Script {
    /// A few events of one small guild, without faults.
    pub fn new() -> Self {
        Script {
            port: 0,
            events: Events::sample(),
            faults: Vec::new(),
            fragment: None,
            pause: Duration::ZERO,
            unacknowledged: 0,
            heartbeat_interval: Duration::from_millis(41_250),
            once: false,
            max_duration: Duration::from_secs(3600),
            limits: ClientLimits::new(),
        }
    }

    /// Sets the events.
    #[must_use]
    pub fn events(self, events: Events) -> Self {
        Script { events, ..self }
    }

    /// Injects a fault at the event with this sequence number. Several at one event are injected in order,
    /// up to the first one that ends the connection.
    pub fn inject_fault(&mut self, sequence: u64, fault: InjectedFault) -> &mut Self {
        self.faults.push((sequence, fault));
        self
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl ClientLimits {
    /// The defaults.
    pub const fn new() -> Self {
        ClientLimits {
            connections: 10_000,
            sessions: 20_000,
            message: 64 << 10,
            messages_per_minute: 1200,
            timeout: Duration::from_secs(10),
            resume_timeout: Duration::from_secs(10),
        }
    }
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self::new()
    }
}

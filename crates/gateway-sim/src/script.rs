//! The script of a server: events, injected faults, and limits on clients.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::events::Events;

/// A fault to inject at one event, which is given by its sequence number (READY is 1).
///
/// Each fault is injected once per shard, so the events that are sent again after a RESUME arrive.
/// A fault that was sent but not received when the client disconnected is injected again, so that a
/// client meets all faults in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InjectedFault {
    /// After the event the server closes the websocket with this code. The codes 4004, 4007 and
    /// 4009 to 4014 end the session; after any other a client may resume.
    Close(u16),
    /// After the event the TCP connection ends without a close frame.
    Disconnect,
    /// After the event the server asks for a new connection (opcode 7).
    Reconnect,
    /// After the event the server invalidates the session (opcode 9); it cannot be resumed.
    Invalidate,
    /// This bit of the event's compressed bytes is flipped. Bits count from the lowest bit of the
    /// first byte, modulo the length. In zlib and zstd streams bit 1 belongs to a block type, so
    /// decoders usually notice its flip; most other flips may go undetected.
    Flip(usize),
    /// The second half of the event's compressed bytes is not sent.
    Truncate,
    /// None of the event's compressed bytes are sent.
    Drop,
}

/// The script of a server: what it sends, and what goes wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Script {
    /// Port on 127.0.0.1. Default: 0, which means any free port.
    pub port: u16,
    /// The events to send after READY.
    pub events: Events,
    /// The faults to inject, with the sequence numbers of their events.
    pub faults: Vec<(u64, InjectedFault)>,
    /// Largest fragment in bytes. Payloads of more compressed bytes are sent as several websocket
    /// messages over a zlib stream, and otherwise as several frames of one message. Default: not
    /// fragmented.
    pub fragment: Option<NonZeroUsize>,
    /// Time between two events. Default: zero.
    pub pause: Duration,
    /// Number of heartbeats, the first ones of each shard, that are not acknowledged. Default: 0.
    pub unacknowledged: u64,
    /// Heartbeat interval in HELLO. Default: 41.25 s. The connection of a client that sends nothing
    /// for three intervals, and for at least [`ClientLimits::timeout`], is closed with 4009.
    pub heartbeat_interval: Duration,
    /// Whether the server stops after its first clients: when there has been a session, and each
    /// was closed by its client or has had no connection for [`ClientLimits::resume_timeout`].
    /// Default: false.
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
    /// Largest number of concurrent connections; further connections are not answered. Each takes a
    /// thread, a file descriptor and memory: about 40 KB without compression, 290 KB with zstd, 360
    /// KB with zlib. Default: 10,000.
    pub connections: usize,
    /// Largest number of sessions; if there are more, the session that has been without a
    /// connection for longest is evicted. If all have connections, the connection that asks for a
    /// new session is closed with 4000. Default: 20,000.
    pub sessions: usize,
    /// Largest message of a client in bytes; a larger one closes the connection with 1009. Default:
    /// 64 KiB.
    pub message: usize,
    /// Number of messages that a client may send per minute; more messages close the connection
    /// with 4008. Default: 1,200.
    pub messages_per_minute: u32,
    /// Longest time for a request, for IDENTIFY, for a client that was asked to reconnect, for
    /// sending a message to the client, and for a closing handshake, which never gets more than a
    /// second. Then the connection is closed. Default: 10 s.
    pub timeout: Duration,
    /// How long a session without a connection can be resumed. Default: 10 s.
    pub resume_timeout: Duration,
}

impl Script {
    /// A script with a few events of one small guild and no faults.
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

    /// Injects a fault at the event with this sequence number. Several faults at one event are
    /// injected in order, up to the first one that ends the connection.
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
    /// Returns the default limits of clients.
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

//! What a server does, and what goes wrong.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::events::Events;

/// What goes wrong at one event. The event is named by its sequence number, READY being 1. Each trouble
/// comes once for each shard: what is sent again after a RESUME arrives. Trouble that was on its way when
/// the client turned away comes again, so that a client meets all of them, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// Behind the event the server closes with this code. After 4000 a client may resume.
    Close(u16),
    /// Behind the event the connection ends without a word.
    Disconnect,
    /// Behind the event the server asks for a new connection (opcode 7).
    Reconnect,
    /// Behind the event the server ends the session (opcode 9), which cannot be resumed.
    Invalidate,
    /// This bit is flipped in what goes over the wire for the event; bits are counted from the lowest of
    /// the first byte, round the end. Bit 1 belongs to the type of a block in both formats, which decoders
    /// notice; most others may go unnoticed.
    Flip(usize),
    /// The second half of what goes over the wire for the event is missing.
    Truncate,
    /// What goes over the wire for the event is lost.
    Drop,
}

/// What a server serves, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Script {
    /// The port on 127.0.0.1; 0, the default, for any that is free.
    pub port: u16,
    /// What follows READY.
    pub events: Events,
    /// What goes wrong: sequence numbers, and what happens there.
    pub troubles: Vec<(u64, Trouble)>,
    /// Payloads come in pieces of at most so many bytes: for zlib as several websocket messages, otherwise
    /// as several frames of one.
    pub fragment: Option<NonZeroUsize>,
    /// Time between two events; none by default.
    pub pause: Duration,
    /// Heartbeats of each shard that are not acknowledged, from the first one on; 0 by default.
    pub unacknowledged: u64,
    /// What HELLO asks for: 41.25 s by default. Clients that send nothing for three times as long, and for
    /// [`Bounds::patience`] at least, are closed with 4009.
    pub heartbeat_interval: Duration,
    /// Whether the server stops after its first clients: once there was a session, and there is none left
    /// that is connected or could be resumed.
    pub once: bool,
    /// How long the server runs; one hour by default.
    pub time: Duration,
    /// What clients may cost.
    pub bounds: Bounds,
}

/// What clients may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Connections at a time, 10,000; more are not answered. Each takes a thread, a file descriptor
    /// and memory: some 40 KB as text, 290 KB with zstd, 360 KB with zlib.
    pub connections: usize,
    /// Sessions that are kept, 20,000; the oldest that is not connected makes room.
    pub sessions: usize,
    /// Bytes of a client's message, 64 KiB; after a larger one the connection is closed with 1009.
    pub message: usize,
    /// Messages of a client per minute, 1,200; after more the connection is closed with 4008.
    pub messages_per_minute: u32,
    /// Time for a request, for IDENTIFY, for taking a message, and for a closing handshake: 10 s.
    pub patience: Duration,
    /// How long a session without a connection can be resumed, 10 s.
    pub resume: Duration,
}

impl Script {
    /// A few events of one small guild, without trouble.
    pub fn new() -> Self {
        Script {
            port: 0,
            events: Events::sample(),
            troubles: Vec::new(),
            fragment: None,
            pause: Duration::ZERO,
            unacknowledged: 0,
            heartbeat_interval: Duration::from_millis(41_250),
            once: false,
            time: Duration::from_secs(3600),
            bounds: Bounds::new(),
        }
    }

    /// The same with these events.
    #[must_use]
    pub fn with_events(self, events: Events) -> Self {
        Script { events, ..self }
    }

    /// Adds trouble at the event with this sequence number. Several at one event come in their order; the
    /// first that ends the connection is the last.
    pub fn trouble(&mut self, sequence: u64, trouble: Trouble) -> &mut Self {
        self.troubles.push((sequence, trouble));
        self
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Bounds {
    /// The defaults.
    pub const fn new() -> Self {
        Bounds {
            connections: 10_000,
            sessions: 20_000,
            message: 64 << 10,
            messages_per_minute: 1200,
            patience: Duration::from_secs(10),
            resume: Duration::from_secs(10),
        }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self::new()
    }
}

//! Options of one side of a connection.

use linerate_deflate::Level;

/// Which side of the connection this is: clients mask what they send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Began the handshake.
    Client,
    /// Answered it.
    Server,
}

/// How messages in one direction are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Logarithm of the window's size in bytes, 8 to 15: no match is further away.
    pub window_bits: u8,
    /// Whether messages refer to earlier ones.
    pub takeover: bool,
}

impl Direction {
    /// A window of 2^`bits` bytes, 8 to 15, with takeover.
    pub const fn window_bits(bits: u8) -> Self {
        Direction { window_bits: bits, takeover: true }
    }
}

impl Default for Direction {
    /// A window of 32 KiB with takeover, which every peer can decode.
    fn default() -> Self {
        Direction::window_bits(15)
    }
}

/// Options of one side of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most that this side's encoder may use; negotiation may make it less.
    pub encoder: Direction,
    /// The most that the peer's encoder may use, which this side has to keep for decoding.
    pub decoder: Direction,
    /// Level of compression; sessions of [`linerate_deflate`] explain them.
    pub level: Level,
    /// Messages of fewer bytes are sent as they are, 32 by default.
    pub smallest: usize,
    /// Whether later messages may refer to a [`Prepared`](crate::Prepared) one; true by default. The last few before a message are
    /// entered into the window with it, which takes a tenth of the time that compressing them would. Otherwise, a
    /// prepared message empties the window: those that follow are larger until they have filled it again.
    pub remember_prepared: bool,
    /// Most bytes of a message that is received, 64 MiB by default.
    pub message_limit: u64,
    /// Most times that a received message may be larger than what was sent, once it has 64 KiB. 1,032, which is the most that
    /// deflate can do, by default.
    pub ratio_limit: u32,
}

impl Options {
    /// The same windows in both directions, of 2^`bits` bytes.
    pub fn window_bits(bits: u8) -> Self {
        let direction = Direction::window_bits(bits);
        Options { encoder: direction, decoder: direction, ..Options::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            encoder: Direction::default(),
            decoder: Direction::default(),
            level: Level::Default,
            smallest: 32,
            remember_prepared: true,
            message_limit: 64 << 20,
            ratio_limit: 1032,
        }
    }
}

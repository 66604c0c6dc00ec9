//! Options of one side of a connection.

use linerate_deflate::Level;

/// The side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The side that begins the handshake, and masks the frames that it sends.
    Client,
    /// The side that answers the handshake.
    Server,
}

/// How messages in one direction are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Base-2 logarithm of the window size in bytes, 8 to 15. No match reaches further back.
    pub window_bits: u8,
    /// Whether messages may refer to earlier ones.
    pub takeover: bool,
}

impl Direction {
    /// A window of 2^`bits` bytes, 8 to 15, with takeover.
    pub const fn window_bits(bits: u8) -> Self {
        Direction { window_bits: bits, takeover: true }
    }

    /// The window bits that negotiation uses: the option, or the nearest number of 8 to 15.
    pub(crate) fn negotiable_bits(self) -> u8 {
        self.window_bits.clamp(8, 15)
    }
}

impl Default for Direction {
    /// A window of 32 KiB with takeover.
    fn default() -> Self {
        Direction::window_bits(15)
    }
}

/// Options of one side of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The largest window, and whether takeover is allowed, for this side's encoder. Negotiation
    /// may reduce both. Window bits below 8 count as 8, and above 15 as 15.
    pub encoder: Direction,
    /// The same for the peer's encoder. With takeover this side must keep that window to decode.
    pub decoder: Direction,
    /// Level of compression, as sessions of [`linerate_deflate`] use it. Default:
    /// [`Level::Default`].
    pub level: Level,
    /// Smallest message to compress, in bytes; shorter ones in one frame are sent as they are.
    /// Default: 32.
    pub smallest: usize,
    /// Whether later messages may refer to a [`Prepared`](crate::Prepared) one. Default: true. The
    /// last prepared messages are then entered into the window when the next ordinary message is
    /// compressed, which takes a tenth of the time that compressing them would. Otherwise a
    /// prepared message empties the window, and later messages are larger until it is full again.
    pub remember_prepared: bool,
    /// Largest compressed message that is received, in decoded bytes. Default: 64 MiB. Messages
    /// that the peer does not compress are left to the limit of the library.
    pub message_limit: u64,
    /// Largest ratio of a received message to its compressed bytes, checked once the message has 64
    /// KiB. Default: 1,032, the largest that deflate can reach.
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

//! Limits on payload and window size.

/// Largest [`Limits::window_log`].
const MAX_WINDOW_LOG: u8 = 27;

/// Limits on what an untrusted gateway can make a session allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest payload in bytes; one byte more is an error. Default: 64 MiB.
    pub max_message: usize,
    /// Base-2 logarithm of the largest window of a zstd stream; above 27 it counts as 27. Default:
    /// 16, which gateways use. A frame with a larger window is refused before anything is allocated
    /// for it.
    /// The other transports ignore it: zlib windows never exceed 32 KiB, and the window of an
    /// independent message is its payload.
    pub window_log: u8,
}

impl Limits {
    /// The defaults.
    pub const fn new() -> Self {
        Limits { max_message: 64 << 20, window_log: 16 }
    }

    /// Sets the largest payload, in bytes.
    #[must_use]
    pub const fn max_message(self, bytes: usize) -> Self {
        Limits { max_message: bytes, ..self }
    }

    /// Sets the largest zstd window to `1 << log` bytes; a `log` above 27 counts as 27.
    #[must_use]
    pub const fn window_log(self, log: u8) -> Self {
        Limits { window_log: log, ..self }
    }

    /// Largest zstd window, in bytes.
    pub(crate) fn window(&self) -> u64 {
        1 << self.window_log.min(MAX_WINDOW_LOG)
    }

    /// Most compressed bytes that a message of `max_message` bytes should take, with room to spare:
    /// stored deflate blocks add five bytes per 65,535, raw zstd blocks three per 65,536. Smaller
    /// blocks add more.
    #[must_use]
    pub const fn max_compressed(&self) -> usize {
        self.max_message.saturating_add(self.max_message / 8).saturating_add(1 << 16)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

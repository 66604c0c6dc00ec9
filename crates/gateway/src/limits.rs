//! What a session accepts.

/// What a session accepts from its gateway, which it need not trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the largest payload; 64 MiB unless told. One byte more is an error.
    pub max_message: usize,
    /// Logarithm of the largest window of a zstd frame; 16 unless told, which is what gateways use.
    /// A frame that asks for more is an error before anything is allocated for it. zlib's window is
    /// 32 KiB at most.
    pub window_log: u8,
}

impl Limits {
    /// The defaults.
    pub const fn new() -> Self {
        Limits { max_message: 64 << 20, window_log: 16 }
    }

    /// With payloads of at most `bytes`.
    #[must_use]
    pub const fn with_max_message(self, bytes: usize) -> Self {
        Limits { max_message: bytes, ..self }
    }

    /// With windows of at most `1 << log` bytes. Above 27, 27.
    #[must_use]
    pub const fn with_window_log(self, log: u8) -> Self {
        let window_log = if log > 27 { 27 } else { log };
        Limits { window_log, ..self }
    }

    /// More compressed bytes than a message of at most `max_message` bytes has: stored blocks of
    /// deflate take five bytes for each 65,535, raw blocks of zstd three for each 65,536.
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

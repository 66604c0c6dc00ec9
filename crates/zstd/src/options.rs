//! Decoder options.

use crate::frame::Format;

/// Options of all decoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether frames begin with their magic number.
    pub format: Format,
    /// Largest window of a [`StreamDecoder`](crate::StreamDecoder), in bytes. Default: 128 MiB. A
    /// [`FrameDecoder`](crate::FrameDecoder) or [`PrefixDecoder`](crate::PrefixDecoder) allocates
    /// no window and ignores it.
    pub window_limit: u64,
    /// Whether checksums are verified. Default: yes.
    pub verify_checksum: bool,
    /// Whether sequences are decoded 64 ahead of their execution, so that the dictionary lines they
    /// copy from can be prefetched. Pays when the dictionary is large and cold. Default: no.
    pub two_phase: bool,
}

impl Options {
    /// Returns the defaults.
    pub const fn new() -> Self {
        Options { format: Format::Standard, window_limit: 1 << 27, verify_checksum: true, two_phase: false }
    }

    /// Sets the frame format.
    #[must_use]
    pub const fn format(self, format: Format) -> Self {
        Options { format, ..self }
    }

    /// Sets the largest window, in bytes.
    #[must_use]
    pub const fn window_limit(self, bytes: u64) -> Self {
        Options { window_limit: bytes, ..self }
    }

    /// Sets whether checksums are verified.
    #[must_use]
    pub const fn verify_checksum(self, verify: bool) -> Self {
        Options { verify_checksum: verify, ..self }
    }

    /// Sets whether sequences are decoded ahead of their execution.
    #[must_use]
    pub const fn two_phase(self, two_phase: bool) -> Self {
        Options { two_phase, ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

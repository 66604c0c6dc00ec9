//! What a decoder may be told.

use crate::frame::Format;

/// How to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether frames begin with their magic number.
    pub format: Format,
    /// The largest window that a [`StreamDecoder`](crate::StreamDecoder) keeps, in bytes; 128 MiB
    /// unless told. A [`Decoder`](crate::Decoder) keeps none, so it has no need of a limit.
    pub window_limit: u64,
    /// Whether checksums are compared; they are unless told not to.
    pub verify_checksum: bool,
    /// Whether sequences are decoded some way ahead of their execution, so that the lines of the
    /// dictionary they copy from can be fetched meanwhile. Pays when the dictionary is large and cold;
    /// off unless told.
    pub two_phase: bool,
}

impl Options {
    /// The defaults.
    pub const fn new() -> Self {
        Options { format: Format::Standard, window_limit: 1 << 27, verify_checksum: true, two_phase: false }
    }

    /// With frames of `format`.
    #[must_use]
    pub const fn format(self, format: Format) -> Self {
        Options { format, ..self }
    }

    /// With a window of at most `bytes`.
    #[must_use]
    pub const fn window_limit(self, bytes: u64) -> Self {
        Options { window_limit: bytes, ..self }
    }

    /// Comparing checksums, or not.
    #[must_use]
    pub const fn verify_checksum(self, verify: bool) -> Self {
        Options { verify_checksum: verify, ..self }
    }

    /// Decoding sequences ahead of their execution, or not.
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

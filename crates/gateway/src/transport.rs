//! Transport compression of a gateway.

use std::fmt;
use std::str::FromStr;

use linerate_core::{Error, Kind};

/// Transport compression of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// One zlib stream (RFC 1950), flushed with an empty stored block after each message (`Z_SYNC_FLUSH`). A
    /// message may be sent in several websocket messages.
    Zlib,
    /// One endless zstd frame (RFC 8878), flushed after each message (`ZSTD_e_flush`), which is exactly one
    /// websocket message.
    Zstd,
}

impl Transport {
    /// All transports.
    pub const ALL: [Transport; 2] = [Transport::Zlib, Transport::Zstd];

    /// Its name in the `compress` parameter of a gateway's URL.
    pub const fn name(self) -> &'static str {
        match self {
            Transport::Zlib => "zlib-stream",
            Transport::Zstd => "zstd-stream",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Transport {
    type Err = Error;

    /// Reads [`name`](Self::name).
    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Transport::ALL.into_iter().find(|transport| transport.name() == name);
        known.ok_or(Error::new(Kind::BadArgument, 0, "a transport is zlib-stream or zstd-stream"))
    }
}

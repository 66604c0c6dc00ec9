//! How a gateway compresses what it sends.

use std::fmt;
use std::str::FromStr;

use linerate_core::{Error, Kind};

/// How a gateway compresses what it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// One zlib stream, brought to a byte boundary with an empty stored block after each message
    /// (`Z_SYNC_FLUSH`). A message may come in several websocket messages.
    Zlib,
    /// One zstd frame that never ends, flushed after each message (`ZSTD_e_flush`), each of which
    /// is one websocket message.
    Zstd,
}

impl Transport {
    /// All of them.
    pub const ALL: [Transport; 2] = [Transport::Zlib, Transport::Zstd];

    /// Its name in the `compress` parameter of a gateway's address.
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

//! Compression of a connection's messages.

use std::fmt;
use std::str::FromStr;

use linerate_core::{Error, Kind};

/// Compression of a connection's messages: as one stream, which gateways send, or separately, as
/// feeds do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Transport {
    /// One zlib stream (RFC 1950), flushed with an empty stored block after each message
    /// (`Z_SYNC_FLUSH`). A message may be split into several websocket messages.
    Zlib = 0,
    /// One endless zstd frame (RFC 8878), flushed after each message (`ZSTD_e_flush`). Each message
    /// is exactly one websocket message.
    Zstd = 1,
    /// Each message is one or more zstd frames, which may name a dictionary by its id, as in
    /// Bluesky's Jetstream.
    ZstdFrame = 2,
    /// Each message is a zlib stream.
    ZlibMessage = 3,
    /// Each message is a gzip file (RFC 1952) of one or several members.
    Gzip = 4,
    /// Each message is deflate data (RFC 1951) up to a final block, without a header.
    RawDeflate = 5,
}

impl Transport {
    /// All transports, in the order of their numbers in [recordings](crate::Recording).
    pub const ALL: [Transport; 6] = [
        Transport::Zlib,
        Transport::Zstd,
        Transport::ZstdFrame,
        Transport::ZlibMessage,
        Transport::Gzip,
        Transport::RawDeflate,
    ];

    /// The transports of gateways, where messages refer to earlier ones.
    pub const STREAMS: [Transport; 2] = [Transport::Zlib, Transport::Zstd];

    /// The name of the transport. For streams it is the value of `compress` in a gateway's URL.
    pub const fn name(self) -> &'static str {
        match self {
            Transport::Zlib => "zlib-stream",
            Transport::Zstd => "zstd-stream",
            Transport::ZstdFrame => "zstd-frame",
            Transport::ZlibMessage => "zlib",
            Transport::Gzip => "gzip",
            Transport::RawDeflate => "raw-deflate",
        }
    }

    /// Whether messages refer to earlier ones, and cannot be decoded without them.
    pub const fn is_stream(self) -> bool {
        matches!(self, Transport::Zlib | Transport::Zstd)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Transport {
    type Err = Error;

    /// Parses the [`name`](Self::name) of a transport. Returns [`Kind::BadArgument`] for any other
    /// text.
    fn from_str(name: &str) -> Result<Self, Error> {
        let what = "a transport is zlib-stream, zstd-stream, zstd-frame, zlib, gzip or raw-deflate";
        let known = Transport::ALL.into_iter().find(|transport| transport.name() == name);
        known.ok_or(Error::new(Kind::BadArgument, 0, what))
    }
}

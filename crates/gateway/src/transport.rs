//! Compression of a connection's messages.

use std::fmt;
use std::str::FromStr;

use linerate_core::{Error, Kind};

/// Compression of a connection's messages: one stream for all of them, as gateways have, or each on its own, as feeds have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Transport {
    /// One zlib stream (RFC 1950), flushed with an empty stored block after each message (`Z_SYNC_FLUSH`). A
    /// message may be sent in several websocket messages.
    Zlib = 0,
    /// One endless zstd frame (RFC 8878), flushed after each message (`ZSTD_e_flush`), which is exactly one
    /// websocket message.
    Zstd = 1,
    /// Each message is a zstd frame, which may name a dictionary by its id, as in Bluesky's Jetstream.
    ZstdFrame = 2,
    /// Each message is a zlib stream.
    ZlibMessage = 3,
    /// Each message is a gzip file (RFC 1952) of one or several members.
    Gzip = 4,
    /// Each message is deflate data (RFC 1951) up to a final block, without a header.
    RawDeflate = 5,
}

impl Transport {
    /// All transports, by their numbers in [recordings](crate::Recording).
    pub const ALL: [Transport; 6] = [
        Transport::Zlib,
        Transport::Zstd,
        Transport::ZstdFrame,
        Transport::ZlibMessage,
        Transport::Gzip,
        Transport::RawDeflate,
    ];

    /// Those of gateways, where messages refer to the ones before.
    pub const STREAMS: [Transport; 2] = [Transport::Zlib, Transport::Zstd];

    /// Its name: for streams that in the `compress` parameter of a gateway's URL.
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

    /// Whether messages refer to the ones before, so that none can be decoded without them.
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

    /// Reads [`name`](Self::name).
    fn from_str(name: &str) -> Result<Self, Error> {
        let what = "a transport is zlib-stream, zstd-stream, zstd-frame, zlib, gzip or raw-deflate";
        let known = Transport::ALL.into_iter().find(|transport| transport.name() == name);
        known.ok_or(Error::new(Kind::BadArgument, 0, what))
    }
}
